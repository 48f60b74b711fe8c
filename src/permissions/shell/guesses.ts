import type { Variables } from "../programs/arg.ts";

const mostGuesses = 32;
const longestWord = 4_096;
const named: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  a: "\x07",
  b: "\b",
  f: "\f",
  v: "\v",
  e: "\x1b",
  E: "\x1b",
};

/**
 * Possible expansions of an uncertain word: brace lists expanded, quotes and escapes removed, variables replaced by
 * their values, which may be patterns, or defaults. Only for raising suspicion, never for clearing a command.
 */
export function guessesOf(written: string, variables: Variables): readonly string[] {
  if (written.length > longestWord) return [];
  const words = listed(written).map((word) => unquoted(word, variables));
  return [...new Set(words.filter((word) => word !== undefined && word !== ""))] as readonly string[];
}

/** `a{b,c}d` as `abd` and `acd`, innermost braces first. */
function listed(text: string): readonly string[] {
  let words = [text];
  for (let round = 0; round < mostGuesses; round += 1) {
    const next = words.flatMap((word) => {
      const found = /(?<!\$)\{([^{}]*,[^{}]*)\}/.exec(word);
      if (found?.[1] === undefined) return [word];
      const [before, after] = [word.slice(0, found.index), word.slice(found.index + found[0].length)];
      return found[1].split(",").map((choice) => before + choice + after);
    });
    if (next.length === words.length) return words;
    words = next.slice(0, mostGuesses);
  }
  return words;
}

const pieces =
  /'([^']*)'|\$'((?:[^'\\]|\\.)*)'|\\(.)|\$\{(\w+)(?::?[-=+]([^}]*))?[^}]*\}|\$(\w+)|(\$\(|`)|["$]|[^'"\\$`]+/gs;

function unquoted(text: string, variables: Variables): string | undefined {
  let word = "";
  const value = (name: string): string | undefined => {
    const known = variables(name);
    return known?.kind === "text" || known?.kind === "pattern" ? known.value : undefined;
  };
  const home = /^~(\+)?(?=\/|$)/.exec(text);
  if (home !== null) word = value(home[1] === undefined ? "HOME" : "PWD") ?? home[0];
  for (const [found, single, ansi, escaped, braced, instead, variable, substitution] of text
    .slice(home?.[0].length ?? 0)
    .matchAll(pieces)) {
    if (substitution !== undefined) return undefined;
    if (single !== undefined) word += single;
    else if (ansi !== undefined) word += decoded(ansi);
    else if (escaped !== undefined) word += escaped;
    else if (braced !== undefined) word += value(braced) ?? unquoted(instead ?? "", variables) ?? "";
    else if (variable !== undefined) word += value(variable) ?? "";
    else if (found !== '"' && found !== "$") word += found;
  }
  return word;
}

function decoded(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|(.))/gs,
    (_, hex?: string, short?: string, long?: string, octal?: string, other = "") => {
      const code = hex ?? short ?? long;
      if (code === undefined && octal === undefined) return named[other] ?? other;
      const point = code === undefined ? Number.parseInt(octal ?? "0", 8) : Number.parseInt(code, 16);
      return point <= 0x10_ff_ff ? String.fromCodePoint(point) : "";
    },
  );
}
