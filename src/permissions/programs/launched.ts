import { type Arg, text, textOf } from "./arg.ts";

export interface Launched {
  readonly program: string;
  readonly args: readonly Arg[];
}

/** Programs whose words belong to another machine, or whose sub-commands have such names. */
const others = /^(?:git|ssh|kubectl|oc|adb|vagrant|cargo|gh|svn|hg|echo|printf)$/;
/** Rules about how a known program is used, whose words are not commands. */
const ownUse = /^(?:unknown-use|unknown-path|delete|unknown-variable)$/;
const mostParts = 40;

/**
 * The calls of some programs among the words of a call that is not understood, as in `flock lock rm -rf *` or
 * `script -c "rm -rf *"`.
 */
export function launchedBy(
  { program, args, rule }: Launched & { readonly rule: string },
  isWanted: (program: string) => boolean,
): readonly Launched[] {
  const isRunner = program === "npx" || program === "bunx" || /^(?:exec|run|x|dlx)$/.test(textOf(args[0]) ?? "");
  if (others.test(program) || (ownUse.test(rule) && !isRunner)) return [];
  const found: Launched[] = [];
  const add = (words: readonly Arg[]): void => {
    const at = words.findIndex((word) => isWanted(nameOf(word)));
    const start = words[at];
    if (start !== undefined) found.push({ program: nameOf(start), args: words.slice(at + 1) });
  };
  add(args);
  for (const arg of args) {
    const script = textOf(arg) ?? "";
    if (!/\s/.test(script)) continue;
    for (const part of script.split(/[;&|\n(){}"'`]/).slice(0, mostParts)) {
      add(part.split(/\s+/).flatMap((word) => (word === "" ? [] : [plainWord(word)])));
    }
  }
  return found;
}

function nameOf(word: Arg): string {
  return textOf(word)?.split("/").at(-1) ?? "";
}

function plainWord(value: string): Arg {
  if (value.includes("$")) return { kind: "unknown", prefix: "", single: false };
  return /[*?[]/.test(value) ? { kind: "pattern", value } : text(value);
}
