import { createMatcher, oneOf, type PatternPart } from "./pattern-matcher.ts";
import { shownName } from "./shown-name.ts";

/** Longer patterns are rejected, because match time grows with length. */
export const longestPattern = 400;

export interface Glob {
  /** Expects relative paths without `./`. */
  matches(path: string): boolean;
  /** Why the pattern is invalid. It then matches only its literal text. */
  readonly problem?: string;
}

/**
 * A pattern as in `.gitignore`: without a slash it matches at any depth, with a slash from the folder; `*` and `?` match within
 * a name, `**` across names; also `[a-z]`, `{a,b}` and `\` before a character.
 */
export function compileGlob(pattern: string): Glob {
  return compile(pattern, false);
}

/**
 * A pattern as people write it: `./src` equals `src`, and a folder means its content. The literal text matches too, including
 * a literal `[name]`.
 */
export function compileWrittenGlob(pattern: string): Glob {
  if (pattern.length > longestPattern) return tooLong;
  const relative = pattern.replace(/^(?:\.\/)+/, "");
  const isNamed = namedLike(relative);
  const { matches, problem } = compile(relative.endsWith("/") ? `${relative}**` : relative, true);
  return { matches: (path) => isNamed(path) || matches(path), ...(problem === undefined ? {} : { problem }) };
}

/** Whether a path, or a folder around it, has exactly this name. A plain name matches at any depth. */
function namedLike(pattern: string): (path: string) => boolean {
  const letters = pattern.replace(/^\/|\/+$/g, "");
  if (letters === "") return () => false;
  const atAnyDepth = !pattern.includes("/");
  const isNamed = (path: string): boolean =>
    path === letters || path.startsWith(`${letters}/`) || (atAnyDepth && path.endsWith(`/${letters}`));
  return letters.includes("\\x") ? (path) => isNamed(path) || isNamed(shownName(path)) : isNamed;
}

const tooLong: Glob = { matches: () => false, problem: `A pattern has more than ${longestPattern} characters.` };

function compile(pattern: string, setsAreNames: boolean): Glob {
  if (pattern.length > longestPattern) return tooLong;
  try {
    const matches = createMatcher(parse(pattern.replace(/^\//, ""), setsAreNames));
    const isAnchored = pattern.slice(0, -1).includes("/");
    return { matches: isAnchored ? matches : (path) => matches(path.slice(path.lastIndexOf("/") + 1)) };
  } catch (error) {
    return { matches: () => false, problem: `Invalid pattern ${pattern}${(error as Error).message}.` };
  }
}

const withinName = (character: string): boolean => character !== "/";
const anything = (): boolean => true;

function unclosed(bracket: string): Error {
  return new Error(`: its "${bracket}" is not closed`);
}

/** Throws the fault, as the end of the message. */
function parse(pattern: string, setsAreNames: boolean): readonly PatternPart[] {
  const characters = Array.from(pattern);
  let at = 0;

  /** Stars. Two of them, alone between slashes, match any number of folders. */
  function stars(): PatternPart {
    const before = characters[at - 1];
    const start = at;
    while (characters[at] === "*") at += 1;
    const alone = at - start > 1 && (before === undefined || "/{,".includes(before));
    if (alone && characters[at] === "/") {
      at += 1;
      return { type: "either", choices: [[], [{ type: "many", test: anything }, oneOf("/")]] };
    }
    return { type: "many", test: alone && at === characters.length ? anything : withinName };
  }

  function set(): PatternPart {
    const start = at;
    const { test, end } = readSet(characters, at + 1);
    at = end + 1;
    const one: PatternPart = { type: "one", test };
    if (!setsAreNames) return one;
    return { type: "either", choices: [[one], characters.slice(start, at).map(oneOf)] };
  }

  function choices(): PatternPart {
    const found: (readonly PatternPart[])[] = [];
    do {
      at += 1;
      found.push(sequence(true));
    } while (characters[at] === ",");
    if (characters[at] !== "}") throw unclosed("{");
    at += 1;
    return { type: "either", choices: found };
  }

  function sequence(inBraces: boolean): readonly PatternPart[] {
    const parts: PatternPart[] = [];
    for (let now = characters[at]; now !== undefined; now = characters[at]) {
      if (inBraces && (now === "," || now === "}")) break;
      if (now === "*") parts.push(stars());
      else if (now === "[") parts.push(set());
      else if (now === "{") parts.push(choices());
      else {
        const escaped = now === "\\" ? characters[at + 1] : undefined;
        parts.push(now === "?" ? { type: "one", test: withinName } : oneOf(escaped ?? now));
        at += escaped === undefined ? 1 : 2;
      }
    }
    return parts;
  }

  return sequence(false);
}

/** The set after a bracket, and its end. A `]` at its start is a member. It never contains a slash. */
function readSet(characters: readonly string[], start: number) {
  const negated = characters[start] === "!" || characters[start] === "^";
  const first = start + (negated ? 1 : 0);
  const members: { readonly low: number; readonly high: number }[] = [];
  let at = first;
  const next = (): number => {
    if (characters[at] === "\\") at += 1;
    const code = characters[at]?.codePointAt(0);
    if (code === undefined) throw unclosed("[");
    at += 1;
    return code;
  };
  while (characters[at] !== "]" || at === first) {
    const low = next();
    const isRange = characters[at] === "-" && characters[at + 1] !== "]" && characters[at + 1] !== undefined;
    if (isRange) at += 1;
    const high = isRange ? next() : low;
    if (high < low) throw new Error("");
    members.push({ low, high });
  }
  const test = (character: string): boolean => {
    const code = character.codePointAt(0) ?? 0;
    return withinName(character) && members.some(({ low, high }) => code >= low && code <= high) !== negated;
  };
  return { test, end: at };
}
