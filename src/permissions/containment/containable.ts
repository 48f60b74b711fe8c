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

/** Rules that make a part `high` only because its effect is unknown. */
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

/** Rows of programs that can do anything, but need nothing outside the workspace. */
const unknownUses =
  /^row (?:python[23]?|perl|ruby|php|lua|node|deno|bun|zsh|fish|ksh|csh|tcsh|pwsh|powershell|busybox|vim?|nvim|emacs|nano|ed|ex|gdb|strace|ltrace|alias|unalias|unset|mapfile|readarray|getopts|let|shopt|enable|hash|bind|complete|cloc|watch|script|flock|parallel|setsid|xterm)\b/;

/** Programs whose unknown calls delete files or change a repository, so walls around the workspace do not help. */
const destroysWithin = /^(?:git|rm|rmdir|unlink|shred|truncate|find|fd|xargs|rsync|rimraf)$/;

/** Whether a part is understood, but writes files whose names are unknown. Walls keep it from protected places. */
export function picksNames({ rule }: Pick<JudgedPart, "rule">): boolean {
  return rule === "any-name";
}

/**
 * Whether a part is `high` only because its effect is unknown. In the sandbox it can do no more than a build, so it counts
 * as `medium`. Parts that delete files, or must run outside, stay `high`.
 */
export function isContainable({ part, judged }: Piece): boolean {
  if (judged.protected) return false;
  if (unknownUses.test(judged.rule)) return true;
  if (judged.rule === "git-config-runs-programs") return part.class === "read";
  if (picksNames(judged)) return true;
  if (!unknownWhat.has(judged.rule)) return false;
  const program = part.words?.[0]?.split("/").at(-1) ?? "";
  return !destroysWithin.test(program) && !part.touches.some(({ use }) => use === "delete");
}
