import { createMatcher, oneOf, type PatternPart } from "../../text/pattern-matcher.ts";

/** One step of a file-name pattern. */
type Item =
  | { readonly type: "string" }
  | { readonly type: "one" }
  | { readonly type: "character"; readonly is: string };

/** A part of a pattern between slashes: a plain name, or a test for names. */
export type PatternSegment =
  | { readonly type: "name"; readonly name: string }
  | { readonly type: "test"; matches(name: string): boolean };

interface NamePattern {
  readonly segments: readonly PatternSegment[];
  /** It ends in a slash, so it matches only folders. */
  readonly foldersOnly: boolean;
  /** The literal text, used if nothing matches: without its backslashes. */
  readonly literal: string;
  /** Some tests match too much, so the shell may find no match where we do. */
  readonly isLoose: boolean;
}

interface Character {
  readonly text: string;
  readonly escaped: boolean;
}

function charactersOf(pattern: string): readonly Character[] {
  return Array.from(pattern.matchAll(/\\(.)|./gsu), ([whole, escaped]) => ({
    text: escaped ?? whole,
    escaped: escaped !== undefined,
  }));
}

function splitAtSlashes(characters: readonly Character[]): readonly (readonly Character[])[] {
  const parts: Character[][] = [[]];
  for (const character of characters) {
    if (character.text === "/") parts.push([]);
    else parts.at(-1)?.push(character);
  }
  return parts;
}

function isActive(character: Character | undefined, text: string): boolean {
  return character !== undefined && !character.escaped && character.text === text;
}

/**
 * The end of a bracket expression: the first `]` if it is simple; otherwise it is ambiguous, and the last `]` counts.
 * `undefined` if it is not one.
 */
function setEnd(
  part: readonly Character[],
  from: number,
): { readonly end: number; readonly plain: boolean } | undefined {
  const last = part.findLastIndex((character) => character.text === "]");
  if (last <= from) return undefined;
  const first = part.findIndex((character, index) => index > from && character.text === "]");
  const inside = part.slice(from + 1, first);
  const members = inside[0]?.text === "!" || inside[0]?.text === "^" ? inside.slice(1) : inside;
  const unclear = part.slice(from + 1, first + 1).some((character) => character.escaped || character.text === "[");
  const plain = members.length > 0 && !unclear;
  return { end: plain ? first : last, plain };
}

function itemsOf(part: readonly Character[]): { readonly items: readonly Item[]; readonly hasSet: boolean } {
  const items: Item[] = [];
  let hasSet = false;
  for (let at = 0; at < part.length; at += 1) {
    const character = part[at];
    const set = isActive(character, "[") ? setEnd(part, at) : undefined;
    if (set !== undefined) {
      hasSet = true;
      items.push({ type: set.plain ? "one" : "string" });
      at = set.end;
    } else if (isActive(character, "*")) items.push({ type: "string" });
    else if (isActive(character, "?")) items.push({ type: "one" });
    else if (character !== undefined) items.push({ type: "character", is: character.text });
  }
  return { items, hasSet };
}

function partOf(item: Item): PatternPart {
  if (item.type === "character") return oneOf(item.is);
  return { type: item.type === "one" ? "one" : "many", test: () => true };
}

function bytes(text: string): readonly string[] {
  return Array.from(Buffer.from(text).toString("latin1"));
}

/** In some locales a character is a byte, so check both readings. */
function testOf(items: readonly Item[], first: Character | undefined): (name: string) => boolean {
  const byteItems = items.flatMap((item): readonly Item[] =>
    item.type === "character" ? bytes(item.is).map((is) => ({ type: "character", is })) : [item],
  );
  const meansHidden = first?.text === "." || isActive(first, "[");
  const fits = createMatcher(items.map(partOf));
  const fitsBytes = createMatcher(byteItems.map(partOf));
  return (name) => (meansHidden || !name.startsWith(".")) && (fits(name) || fitsBytes(bytes(name).join("")));
}

/**
 * A pattern as bash reads it by default: no `**`, no extended patterns, and only a dot matches a leading dot. A bracket
 * expression matches any character, so the tests may match too much, but never too little.
 */
export function parseNamePattern(pattern: string): NamePattern {
  const characters = charactersOf(pattern);
  const parts = splitAtSlashes(characters);
  let isLoose = false;
  const segments = parts
    .filter((part) => part.length > 0)
    .map((part): PatternSegment => {
      const { items, hasSet } = itemsOf(part);
      if (items.every((item) => item.type === "character")) {
        return { type: "name", name: part.map(({ text }) => text).join("") };
      }
      const matches = testOf(items, part[0]);
      // Whether `.` and `..` match depends on the version of bash.
      isLoose ||= hasSet || matches(".") || matches("..");
      return { type: "test", matches };
    });
  return {
    segments,
    foldersOnly: parts.at(-1)?.length === 0,
    literal: characters.map(({ text }) => text).join(""),
    isLoose,
  };
}
