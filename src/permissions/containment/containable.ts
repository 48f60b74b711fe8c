import type { CommandPart, JudgedPart } from "../../engine/permission.ts";

/** A part of a command with its judgement. */
export interface Piece {
  readonly part: CommandPart;
  readonly judged: JudgedPart;
}

export function piecesOf(part: CommandPart, judged: JudgedPart): readonly Piece[] {
  const inner = part.parts.flatMap((one, at) => {
    const its = judged.parts[at];
    return its === undefined ? [] : piecesOf(one, its);
  });
  return [{ part, judged }, ...inner];
}

/** Why a part is `high`, where that is only because what it does is unknown. */
const unknownWhat: ReadonlySet<string> = new Set([
  "unknown-program",
  "unknown-use",
  "unknown-script",
  "unknown-wrapper",
  "unknown-variable",
  "unknown-path",
  "unknown-node",
  "unknown-test",
  "unreadable",
  "other-shell",
  "function",
  "evaluates",
  "evaluation",
  "sets-variable",
  "dangerous-variable",
  "moved-path",
  "program-in-workspace",
  "project-outside",
]);

/** Rows of known programs that can do anything, but need nothing beyond the workspace for it. */
const unknownUses =
  /^row (?:python[23]?|perl|ruby|php|lua|node|deno|bun|zsh|fish|ksh|csh|tcsh|pwsh|powershell|busybox|vim?|nvim|emacs|nano|ed|ex|gdb|strace|ltrace|alias|unalias|unset|mapfile|readarray|getopts|let|shopt|enable|hash|bind|complete|cloc|watch|script|flock|parallel|setsid|xterm)\b/;

/** Programs whose unknown calls delete, or change a repository, so that the walls around the workspace do not help. */
const destroysWithin = /^(?:git|rm|rmdir|unlink|shred|truncate|find|fd|xargs|rsync|rimraf)$/;

/**
 * Whether a part is `high` only because what it does is unknown. Behind walls it can then do no more than a build can: so
 * it is `medium`. What deletes files, or needs to leave, stays `high`.
 */
export function isContainable({ part, judged }: Piece): boolean {
  if (judged.protected) return false;
  if (unknownUses.test(judged.rule)) return true;
  if (judged.rule === "git-config-runs-programs") return part.class === "read";
  if (!unknownWhat.has(judged.rule)) return false;
  const program = part.words?.[0]?.split("/").at(-1) ?? "";
  return !destroysWithin.test(program) && !part.touches.some(({ use }) => use === "delete");
}
