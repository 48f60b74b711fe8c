/** One word of a command, as far as it is known before the command runs. */
export type Arg =
  /** `disguised`: it is written with quotes or escapes. */
  | { readonly kind: "text"; readonly value: string; readonly disguised?: boolean }
  /** File names by a pattern, in which a backslash takes the meaning from the character behind it. `single`: one of them. */
  | { readonly kind: "pattern"; readonly value: string; readonly single?: boolean }
  /** Begins with `prefix`; what follows is not known. `single`: it is surely one word. `mayBe`: ways to read all of it. */
  | { readonly kind: "unknown"; readonly prefix: string; readonly single: boolean; readonly mayBe?: readonly string[] }
  /** Paths below folders, as another command prints them. `asWords`: a shell or xargs takes them apart. */
  | { readonly kind: "input"; readonly printed: Printed; readonly asWords: boolean };

/** The value of a variable, where it is known. */
export type Variables = (name: string) => Arg | undefined;

/** Paths below folders, a line each; `zeros`: ended by a zero byte, so that no name can be taken for two. */
export interface Printed {
  readonly folders: readonly string[];
  readonly zeros: boolean;
  /** The working directory of whoever printed them, for which they are meant. */
  readonly from: readonly string[];
  /** They are what git keeps, which is nothing of `.git`, but perhaps not on the disk. */
  readonly isTracked?: true;
  /** Not all that is there, but what has certain names. */
  readonly isChosen?: true;
  /** Their endings are such as nothing in `.git` has that matters. */
  readonly sparesGit?: true;
}

export function text(value: string): Arg {
  return { kind: "text", value };
}

/** Stands for the name that a shell gives to a pipe in the place of a process substitution. */
export const substitutedFile = "/dev/fd/process-substitution";

export const unknownWords: Arg & { readonly kind: "unknown" } = { kind: "unknown", prefix: "", single: false };

const special = /[*?[\]\\+@!(]/;
const everySpecial = new RegExp(special, "g");

/** A text as a pattern that stands for nothing but itself. */
export function escaped(value: string): string {
  return special.test(value) ? value.replace(everySpecial, "\\$&") : value;
}

/** The text that such a pattern stands for. */
export function unescaped(pattern: string): string {
  return pattern.includes("\\") ? pattern.replace(/\\(.)/gs, "$1") : pattern;
}

/** What surely stands at the beginning. */
export function knownStart(arg: Arg): string {
  if (arg.kind === "text") return arg.value;
  if (arg.kind === "unknown") return arg.prefix;
  if (arg.kind === "input") return "";
  const at = arg.value.search(special);
  return at === -1 ? arg.value : arg.value.slice(0, at);
}

/** Whether a word that is not known might be taken for a flag. */
export function mayBeFlag(arg: Arg): boolean {
  if (arg.kind === "text") return arg.value.startsWith("-") && arg.value !== "-";
  // Their names were looked through.
  if (arg.kind === "input") return false;
  if (arg.kind === "unknown" && !arg.single) return true;
  const start = knownStart(arg);
  return start === "" || start.startsWith("-");
}

export function textOf(arg: Arg | undefined): string | undefined {
  return arg?.kind === "text" ? arg.value : undefined;
}
