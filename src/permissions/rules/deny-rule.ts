import { folded, programKey } from "./launched-words.ts";
import type { Words } from "./started-by-options.ts";

/** A deny rule in comparison form. */
export interface DenyRule {
  readonly words: readonly string[];
  /** The `programKey`; `*` for every program. */
  readonly program: string;
  /** Whether any words may follow. */
  readonly isPrefix: boolean;
  readonly flags: readonly string[];
  /** The words after the program that are not flags. */
  readonly operands: readonly string[];
}

export function denyRule(words: readonly string[]): DenyRule {
  const isPrefix = words.at(-1) === "*";
  const [program = "*", ...rest] = isPrefix ? words.slice(0, -1) : words;
  return {
    words,
    program: program === "*" ? "*" : programKey(program),
    isPrefix,
    flags: rest.filter(isFlag),
    operands: rest.filter((word) => !isFlag(word)).map(folded),
  };
}

/**
 * Whether a rule denies a command that runs its program. The rule's operands must appear in order, with any flags and
 * their possible values between them, and its flags anywhere. Unknown words match anything.
 */
export function deniesWords(rule: DenyRule, words: Words): boolean {
  const unknown = words.indexOf(undefined, 1);
  const known = words.slice(1, unknown === -1 ? words.length : unknown).filter((word) => word !== undefined);
  const mayGoOn = unknown !== -1;
  if (!mayGoOn && !rule.flags.every((flag) => hasFlag(known, flag))) return false;
  let reached: ReadonlySet<number> = new Set([0]);
  for (const operand of rule.operands) {
    const next = new Set<number>();
    for (const at of afterFlags(known, reached)) {
      const word = known[at];
      if (word === undefined) {
        if (mayGoOn) return true;
      } else if (folded(word) === operand) next.add(at + 1);
    }
    if (next.size === 0) return false;
    reached = next;
  }
  if (rule.isPrefix) return true;
  const isNamed = (word: string): boolean => isFlag(word) && rule.flags.some((flag) => hasFlag([flag], word));
  return [...reached].some((at) => known.slice(at).every(isNamed));
}

/** Every position the next operand can have: after any number of flags, each with or without a value. */
function afterFlags(words: readonly string[], from: ReadonlySet<number>): ReadonlySet<number> {
  const places = new Set(from);
  // Iterating a set includes elements added meanwhile.
  for (const at of places) {
    const word = words[at];
    if (word === undefined || !/^[-+]/.test(word)) continue;
    places.add(at + 1);
    if (at + 2 <= words.length) places.add(at + 2);
  }
  return places;
}

function isFlag(word: string): boolean {
  return word.startsWith("-") && word.length > 1;
}

/** Whether code names a rule's program and its operands. */
export function isMentioned({ program, operands }: DenyRule, code: string): boolean {
  const text = folded(code);
  return [program, ...operands].every((word) => {
    for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
      const around = `${text[at - 1] ?? " "}${text[at + word.length] ?? " "}`;
      if (!/[\w-]/.test(around)) return true;
    }
    return false;
  });
}

const longestBundle = 4;

/**
 * Whether a flag is among the words in any spelling: `-rf` as `-fr` or `-r -f`, `--force` as `--forc`, `--a=b` as `--a
 * b`.
 */
function hasFlag(words: readonly string[], flag: string): boolean {
  if (words.includes(flag)) return true;
  if (!flag.startsWith("--")) {
    const letters = [...flag.slice(1)];
    if (letters.length > longestBundle) return false;
    const bundles = words.filter((word) => isFlag(word) && !word.startsWith("--"));
    return letters.every((letter) => bundles.some((word) => word.includes(letter)));
  }
  const [name = "", value] = halves(flag);
  return words.some((word, at) => {
    const [given = "", attached] = halves(word);
    if (given.length < 3 || !given.startsWith("--") || !name.startsWith(given)) return false;
    return value === undefined || (attached ?? words[at + 1]) === value;
  });
}

function halves(flag: string): readonly [string, string?] {
  const at = flag.indexOf("=");
  return at === -1 ? [flag] : [flag.slice(0, at), flag.slice(at + 1)];
}
