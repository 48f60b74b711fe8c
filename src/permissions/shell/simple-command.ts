import type { DecisionContext } from "../../engine/permission.ts";
import type { Inner, Surroundings } from "../judgement.ts";
import { group, unreadable } from "../parts.ts";
import type { MovedPaths } from "../places/moved-paths.ts";
import { type Arg, textOf } from "../programs/arg.ts";
import { nameOf } from "../programs/program-names.ts";
import { judgeProgram } from "../programs/program-risk.ts";
import { type Flow, same, type Walked } from "./flow.ts";
import { enter } from "./folders.ts";

const deepest = 8;
/** Builtins that run a command in the shell itself, so that its `cd` changes the shell's folder. */
const runInShell = new Set(["eval", "command", "builtin"]);

export interface SimpleCommandParts {
  readonly places: Pick<DecisionContext, "cwd" | "home">;
  readonly moved: MovedPaths;
  /** Called with every program. */
  onProgram(name: string): void;
  /** Called with every exported variable, which all later commands see. */
  onExport(name: string): void;
  /** Parses and judges a text as a shell script. */
  text(command: string, around: Surroundings, depth: number): Walked;
}

/** Judges a simple command and the commands it runs in turn. */
export function walkWords(
  args: readonly Arg[],
  source: string,
  where: Surroundings,
  depth: number,
  parts: SimpleCommandParts,
): Walked {
  const judgement = judgeProgram(args, where);
  const { class: accessClass, rule, why, touches, runs, prints, makesLinks = false, keepsNames = false } = judgement;
  judgement.exports?.forEach((name) => void parts.onExport(name));
  const name = nameOf(args);
  // A shell with a script is shown as the script's programs.
  const isShell = runs.some(({ kind }) => kind === "shell") && /^(ba|da)?sh$/.test(name ?? "");
  if (name !== undefined && !isShell) parts.onProgram(name);
  const inner = runs.map((run) => unwrapped(run, source, depth + 1, parts));
  const { cwd } = parts.places;
  return {
    part: parts.moved.guard(
      {
        kind: "command",
        source,
        class: accessClass,
        rule,
        why,
        touches,
        words: args.map(textOf),
        inWorkspaceRoot: where.folders?.length === 1 && where.folders[0] === cwd,
        parts: inner.map(({ part }) => group("unwrapped", part.source, [part])),
      },
      { makesLinks, keepsNames },
    ),
    flow: runInShell.has(textOf(args[0]) ?? "") ? (inner[0]?.flow ?? same(where.folders)) : movesTo(args, where, parts),
    prints,
  };
}

function unwrapped(inner: Inner, source: string, depth: number, parts: SimpleCommandParts): Walked {
  if (depth > deepest) return { part: unreadable(source, "is nested too deeply"), flow: same(undefined) };
  if (inner.kind === "shell") return parts.text(inner.text, inner.in, depth);
  return walkWords(inner.args, inner.args.map((arg) => textOf(arg) ?? "…").join(" "), inner.in, depth, parts);
}

/** `cd` and `pushd` move the shell to their argument, `popd` to an unknown folder. */
function movesTo(args: readonly Arg[], { folders }: Surroundings, { places }: SimpleCommandParts): Flow {
  const name = textOf(args[0]);
  if (name === "popd") return same(undefined);
  if (name !== "cd" && name !== "pushd") return same(folders);
  const named = args.slice(1).filter((arg) => !/^-[LP]$|^--$/.test(textOf(arg) ?? ""));
  const home: Arg = { kind: "text", value: places.home };
  const target = name === "cd" ? (named[0] ?? home) : named[0];
  const isNumbered = name === "pushd" && /^[-+]/.test(textOf(target) ?? "");
  return { ok: named.length > 1 || isNumbered ? undefined : enter(folders, target), failed: folders };
}
