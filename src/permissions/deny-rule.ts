import { folded, programKey, type Words } from "./launched-words.ts";

/** A rule, prepared for comparing. */
export interface DenyRule {
  readonly words: readonly string[];
  /** As `programKey` gives it; `*` for every program. */
  readonly program: string;
  /** Whether any words may follow. */
  readonly isPrefix: boolean;
  readonly flags: readonly string[];
  /** The words that are no flags, behind the program. */
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
 * Whether a command, known to run the rule's program, is what the rule denies. Rather too much is caught than too little: the
 * rule's operands must follow in their order, but flags between them, each with one word that may be its value, do not
 * matter; the rule's flags may stand anywhere. From the first word that is not known on, everything fits.
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

/** Every place at which the next operand may stand: behind any number of flags, each with or without a value of its own. */
function afterFlags(words: readonly string[], from: ReadonlySet<number>): ReadonlySet<number> {
  const places = new Set(from);
  // A set goes on with what is added to it meanwhile.
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

const longestBundle = 4;

/** Whether a flag is among words in any of its spellings: `-rf` is also `-fr` and `-r -f`; `--force` also `--forc`; `--a=b` also `--a b`. */
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
