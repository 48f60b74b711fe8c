import { type Arg, escaped, substitutedFile, unknownWords, type Variables } from "../programs/arg.ts";
import { guessesOf } from "./guesses.ts";

/** A part of a word, as parsed. */
export interface Piece {
  readonly type: string;
  readonly text: string;
  readonly value?: string;
  readonly parts?: readonly Piece[] | undefined;
  readonly parameter?: string;
  readonly prefix?: unknown;
  readonly index?: unknown;
  readonly operation?: unknown;
}

export interface WordLike {
  readonly text: string;
  readonly value: string;
  readonly parts?: readonly Piece[] | undefined;
}

interface Built {
  readonly text: string;
  readonly pattern: string;
  readonly isPattern: boolean;
  /** The rest of the word is unknown. */
  readonly isCut: boolean;
  readonly single: boolean;
}

const nothing: Built = { text: "", pattern: "", isPattern: false, isCut: false, single: true };
const mostAlternatives = 32;
/** Escapes that all parsers read the same way. */
const plainEscapes = /^\$'(?:[^\\']|\\[nt\\'])*'$/;

/** The possible expansions of a word: one word, or several if it has a brace list. */
export function evaluate(word: WordLike, variables: Variables): readonly Arg[] {
  const pieces: readonly Piece[] = word.parts ?? [{ type: "Literal", text: word.text, value: word.value }];
  if (isUnclear(word, pieces)) return [{ ...unknownWords, mayBe: guessesOf(printingNothing(pieces), variables) }];
  const listed = soleVariable(pieces, variables);
  if (listed?.kind === "input") return [listed];
  return alternatives(pieces).map((chosen) => finished(word, pieces, build(chosen, variables), variables));
}

/** A word in which every substitution that may print nothing does so. */
function printingNothing(pieces: readonly Pick<Piece, "type" | "text" | "parts">[]): string {
  const written = ({ type, text, parts }: (typeof pieces)[number]): string => {
    if (type === "DoubleQuoted" && parts !== undefined) return `"${printingNothing(parts)}"`;
    if (type !== "CommandExpansion") return text;
    if (/^(?:\$\(|`) *pwd *[)`]$/.test(text)) return "$PWD";
    return "";
  };
  return pieces.map(written).join("");
}

/**
 * Words that bash splits differently than they look: braces paired across quotes or before a variable's name, and a
 * name that continues on the next line.
 */
function isUnclear({ text }: WordLike, pieces: readonly Piece[]): boolean {
  if (text.includes("\\\n") && text.includes("$")) return true;
  if (!/[{}]/.test(text)) return false;
  const isListed = /,|\.\./.test(text);
  const hasBrace = pieces.some((piece) => piece.type === "Literal" && /[{}]/.test(piece.text));
  return (
    (hasBrace && isListed) ||
    (pieces.some(isBraces) && pieces.some((piece) => /Expansion$|Glob$/.test(piece.type) && !isBraces(piece)))
  );
}

function isBraces({ type }: Piece): boolean {
  return type === "BraceExpansion";
}

/** The value of a word that consists of a single variable, quoted or not. */
function soleVariable([only, ...more]: readonly Piece[], variables: Variables): Arg | undefined {
  if (only === undefined || more.length > 0) return undefined;
  if (only.type === "DoubleQuoted") return soleVariable(only.parts ?? [], variables);
  const isPlain = only.prefix === undefined && only.index === undefined && only.operation === undefined;
  if (only.type === "SimpleExpansion") return variables(only.text.slice(1));
  return only.type === "ParameterExpansion" && isPlain ? variables(only.parameter ?? "") : undefined;
}

/** The word that sets a variable, as an argument of `export` and the like. */
export function assigning(name: string, appends: boolean, value: Arg | undefined): Arg {
  const start = `${name}${appends ? "+" : ""}=`;
  if (value?.kind === "text") return { kind: "text", value: start + value.value };
  return { kind: "unknown", prefix: start, single: true };
}

function finished(word: WordLike, pieces: readonly Piece[], built: Built, variables: Variables): Arg {
  if (built.isCut) {
    const mayBe = guessesOf(printingNothing(pieces), variables);
    return { kind: "unknown", prefix: built.text, single: built.single, ...(mayBe.length > 0 ? { mayBe } : {}) };
  }
  if (built.isPattern) return { kind: "pattern", value: built.pattern, single: built.single };
  return { kind: "text", value: built.text, ...(word.text === built.text ? {} : { disguised: true }) };
}

/** Expands brace lists of plain words. Others are left to `add`, which treats them as unknown. */
function alternatives(pieces: readonly Piece[]): readonly (readonly Piece[])[] {
  if (!pieces.some(isBraces)) return [pieces];
  let all: readonly (readonly Piece[])[] = [[]];
  for (const piece of pieces) {
    const list = isBraces(piece) ? /^\{([\w./-]*(?:,[\w./-]*)+)\}$/.exec(piece.text)?.[1] : undefined;
    const choices =
      list === undefined ? [piece] : list.split(",").map((value) => ({ type: "Literal", text: value, value }));
    if (all.length * choices.length > mostAlternatives) return [[{ type: "BraceExpansion", text: "" }]];
    all = all.flatMap((before) => choices.map((choice) => [...before, choice]));
  }
  // A brace alternative that expands to nothing disappears.
  const isLost = all.length > 1 && all.some((chosen) => chosen.every(({ value }) => value === ""));
  return isLost ? [[{ type: "BraceExpansion", text: "" }]] : all;
}

function build(pieces: readonly Piece[], variables: Variables): Built {
  const [first] = pieces;
  if (first?.type === "Literal" && first.text.startsWith("~")) return fromHome(pieces, variables);
  return pieces.reduce((built, piece) => add(built, piece, false, variables), nothing);
}

/** `~` and `~/…`. Other users' homes are unknown. */
function fromHome([first, ...rest]: readonly Piece[], variables: Variables): Built {
  const home = variables("HOME");
  const value = first?.value ?? "";
  const isOwn = value.startsWith("~/") || (value === "~" && rest.length === 0);
  if (!isOwn || home?.kind !== "text") return { ...nothing, isCut: true, single: false };
  const start = withText(nothing, home.value + value.slice(1));
  return rest.reduce((built, piece) => add(built, piece, false, variables), start);
}

function add(built: Built, piece: Piece, quoted: boolean, variables: Variables): Built {
  switch (piece.type) {
    case "Literal":
      // After `=` and `:` a tilde may be expanded to a home.
      if (!quoted && /[=:]~/.test(piece.text)) return cut(built, true);
      return withText(built, piece.value ?? "");
    case "SingleQuoted":
      return withText(built, piece.value ?? "");
    case "AnsiCQuoted":
      return plainEscapes.test(piece.text) ? withText(built, piece.value ?? "") : cut(built, true);
    case "DoubleQuoted":
      return (piece.parts ?? []).reduce((all, part) => add(all, part, true, variables), built);
    case "Glob":
      if (built.isCut) return built;
      return { ...withRaw(built, piece.text), single: false };
    case "ProcessSubstitution":
      // The shell puts a pipe's name here. The command on the other end is judged elsewhere.
      return withText(built, substitutedFile);
    case "ArithmeticExpansion":
      return cut(built, true);
    case "SimpleExpansion":
      // One word per value, even in quotes.
      if (piece.text === "$@") return cut(built, false);
      return withVariable(built, variables(piece.text.slice(1)), quoted);
    case "ParameterExpansion": {
      if (/@/.test(piece.text)) return cut(built, false);
      const isPlain = piece.prefix === undefined && piece.index === undefined && piece.operation === undefined;
      return withVariable(built, isPlain ? variables(piece.parameter ?? "") : undefined, quoted);
    }
    default:
      return cut(built, quoted);
  }
}

function withText(built: Built, value: string): Built {
  if (built.isCut) return built;
  return { ...built, text: built.text + value, pattern: built.pattern + escaped(value) };
}

function withRaw(built: Built, pattern: string): Built {
  return { ...built, isPattern: true, text: built.text + pattern, pattern: built.pattern + pattern };
}

function cut(built: Built, single: boolean): Built {
  return { ...built, isCut: true, isPattern: false, single: built.single && single };
}

function withVariable(built: Built, value: Arg | undefined, quoted: boolean): Built {
  if (built.isCut) return cut(built, quoted);
  if (value?.kind === "text" && (quoted || /^[\w./:@%+,=-]*$/.test(value.value))) {
    // Unquoted and empty, the word disappears.
    return value.value === "" && !quoted ? cut(built, false) : withText(built, value.value);
  }
  if (value?.kind === "pattern" && quoted) {
    return withRaw(built, value.value);
  }
  return cut(built, quoted);
}
