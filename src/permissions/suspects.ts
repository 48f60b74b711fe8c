import type { AccessClass, Touch } from "../core/permission.ts";
import { type Arg, text, textOf } from "./arg.ts";
import type { Surroundings } from "./judgement.ts";
import { touchesOf } from "./touches.ts";

const mostSuspects = 100;

/**
 * Words that may be paths, for all that is known: a protected place among them needs a yes. Programs also take paths behind
 * a flag, an equals sign, a colon or a comma (`-k~/.ssh/id_rsa`, `--key=…`, `-v ~/.ssh:/x`).
 */
export function suspects(
  args: readonly Arg[],
  around: Surroundings,
  use: "read" | "write" = "read",
  accessClass: AccessClass = "read",
): readonly Touch[] {
  return args.slice(0, mostSuspects).flatMap((arg) => {
    const word = textOf(arg) ?? (arg.kind === "unknown" ? arg.mayBe : undefined);
    if (word === undefined) return touchesOf(arg, use, accessClass, around) ?? [];
    return pathsIn(word, around.home).flatMap((path) => touchesOf(text(path), use, accessClass, around) ?? []);
  });
}

/** Every path that a word may hold: the word itself, and each piece after a separator that looks like a path. */
function pathsIn(word: string, home: string): readonly string[] {
  if (word === "" || /\s/.test(word)) return [];
  const bare = word.replace(/^-[A-Za-z](?=[~/.])/, "").replace(/^@/, "");
  const pieces = bare.split(/[=:,;]/).slice(bare.startsWith("-") ? 1 : 0);
  const all = bare.startsWith("-") ? pieces : [bare, ...pieces.filter((piece) => /^[~/.]|\//.test(piece))];
  const expanded = all.map((piece) => piece.replace(/^@/, "").replace(/^~(?=\/|$)/, home));
  return [...new Set(expanded)].filter((piece) => piece !== "" && !piece.startsWith("-"));
}
