/** One word of a command, as far as it can be known in advance. */
export type Arg =
  /** `disguised`: written with quotes or escapes. */
  | { readonly kind: "text"; readonly value: string; readonly disguised?: boolean }
  /** A file-name pattern, where a backslash escapes the next character. `single`: one of its matches. */
  | { readonly kind: "pattern"; readonly value: string; readonly single?: boolean }
  /** Starts with `prefix`; the rest is unknown. `single`: certainly one word. `mayBe`: guesses at the whole word. */
  | { readonly kind: "unknown"; readonly prefix: string; readonly single: boolean; readonly mayBe?: readonly string[] }
  /** Paths below folders that another command prints. `asWords`: a shell or xargs splits them. */
  | { readonly kind: "input"; readonly printed: Printed; readonly asWords: boolean };

/** A variable's value, if known. */
export type Variables = (name: string) => Arg | undefined;

/** Paths below folders, one per line. `zeros`: each ends with a zero byte instead, so that no name splits into two. */
export interface Printed {
  readonly folders: readonly string[];
  readonly zeros: boolean;
  /** The working directory of the command that printed them, which they are relative to. */
  readonly from: readonly string[];
  /** They are tracked by git: never inside `.git`, but possibly missing on disk. */
  readonly isTracked?: true;
  /** Only files that pass one of these tests, written as in the lookup `repositories-below`. */
  readonly chosen?: readonly string[];
  /** They have extensions that no important file in `.git` has. */
  readonly sparesGit?: true;
}

export function text(value: string): Arg {
  return { kind: "text", value };
}

/** Represents the pipe name that a shell substitutes for a process substitution. */
export const substitutedFile = "/dev/fd/process-substitution";

export const unknownWords: Arg & { readonly kind: "unknown" } = { kind: "unknown", prefix: "", single: false };

const special = /[*?[\]\\+@!(]/;
const everySpecial = new RegExp(special, "g");

/** A pattern that matches only this text. */
export function escaped(value: string): string {
  return special.test(value) ? value.replace(everySpecial, "\\$&") : value;
}

/** The text that such a pattern matches. */
export function unescaped(pattern: string): string {
  return pattern.includes("\\") ? pattern.replace(/\\(.)/gs, "$1") : pattern;
}

/** The part at the start that is certain. */
export function knownStart(arg: Arg): string {
  if (arg.kind === "text") return arg.value;
  if (arg.kind === "unknown") return arg.prefix;
  if (arg.kind === "input") return "";
  const at = arg.value.search(special);
  return at === -1 ? arg.value : arg.value.slice(0, at);
}

/** Whether a word might be read as a flag. */
export function mayBeFlag(arg: Arg): boolean {
  if (arg.kind === "text") return arg.value.startsWith("-") && arg.value !== "-";
  // These names are checked by a lookup.
  if (arg.kind === "input") return false;
  if (arg.kind === "unknown" && !arg.single) return true;
  const start = knownStart(arg);
  return start === "" || start.startsWith("-");
}

export function textOf(arg: Arg | undefined): string | undefined {
  return arg?.kind === "text" ? arg.value : undefined;
}
