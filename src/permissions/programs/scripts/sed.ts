import { type Cursor, cursor, isPlainText } from "./cursor.ts";

const notUnderstood = "is not understood";
const runs = "runs a command";
const writes = "writes a file";
const reads = "reads a file";

const blanks = /[ \t]*/y;
const commandEnd = /[ \t]*(?:[;\n]|$|(?=[}#]))/y;
/** Some seds read a brace or a comment as part of the label, so only what ends it in all of them is accepted. */
const labelEnd = /[ \t]*\}*[ \t]*(?:[;\n]|$)/y;
const delimiters = /[/|,#:!@%_~;+="'<>-]/y;
const addressDelimiters = /\/|\\[/|,#:!@%_~;+="'<>-]/y;

/** Reads the rest of a command and returns why it is not harmless. */
type Rest = (script: Cursor) => string | undefined;

const rests: Readonly<Record<string, Rest>> = {
  "=dDFgGhHnNpPxz}": (script) => mustTake(script, commandEnd),
  lqQ: (script) => mustTake(script, /[ \t]*\d*/y, commandEnd),
  btT: (script) => mustTake(script, /[ \t]*[\w.-]*/y, labelEnd),
  ":": (script) => mustTake(script, /[ \t]*[\w.-]+/y, labelEnd),
  "{": () => undefined,
  // A backslash at the end of a comment hides the next line from some seds.
  "#": (script) => mustTake(script, /(?:[^\n]*[^\n\\])?(?:\n|$)/y),
  aic: addedText,
  s: substitution,
  y: transliteration,
  e: () => runs,
  wW: () => writes,
  rR: () => reads,
};

const commands = new Map(Object.entries(rests).flatMap(([names, rest]) => [...names].map((name) => [name, rest])));

/**
 * Why a sed script is not harmless; `undefined` if it only prints its input in every sed. Several `-e` scripts are
 * harmless if each is, because an unfinished script is not.
 */
export function sedScript(text: string): string | undefined {
  if (!isPlainText(text)) return notUnderstood;
  const script = cursor(text);
  for (;;) {
    script.take(/[;\s]*/y);
    if (script.isDone()) return undefined;
    if (!passAddresses(script)) return notUnderstood;
    const rest = commands.get(script.take(/./sy) ?? "");
    const reason = rest === undefined ? notUnderstood : rest(script);
    if (reason !== undefined) return reason;
  }
}

/** False if an address is not understood. */
function passAddresses(script: Cursor): boolean {
  if (script.sees(/[\d$/\\]/y)) {
    if (!passAddress(script)) return false;
    script.take(blanks);
    const hasSecond = script.take(/,[ \t]*/y) !== undefined;
    if (hasSecond && script.take(/[+~]\d+/y) === undefined && !passAddress(script)) return false;
    script.take(blanks);
  }
  script.take(/![ \t]*/y);
  return true;
}

function passAddress(script: Cursor): boolean {
  if (script.take(/\d+(?:~\d+)?|\$/y) !== undefined) return true;
  const delimiter = script.take(addressDelimiters)?.slice(-1);
  return delimiter !== undefined && script.passRegex(delimiter) && script.take(/[IM]*/y) !== undefined;
}

function substitution(script: Cursor): string | undefined {
  const delimiter = script.take(delimiters);
  if (delimiter === undefined || !script.passRegex(delimiter)) return notUnderstood;
  const replacement = new RegExp(`(?:[^\\\\\\n${delimiter}]|\\\\.)*[${delimiter}]`, "sy");
  const unclear = mustTake(script, replacement, /[gpiImM\d]*/y);
  if (unclear !== undefined) return unclear;
  if (script.sees(/[ \t]*e/y)) return runs;
  return script.sees(/[ \t]*w/y) ? writes : mustTake(script, commandEnd);
}

function transliteration(script: Cursor): string | undefined {
  const delimiter = script.take(delimiters);
  const isClear = delimiter !== undefined && script.passRegex(delimiter) && script.passRegex(delimiter);
  return isClear ? mustTake(script, commandEnd) : notUnderstood;
}

/**
 * The text of `a`, `i` and `c`: on the following lines as far as backslashes continue them, or on this line alone. Seds
 * disagree on whether this line can be continued, and whether two backslashes continue a line.
 */
function addedText(script: Cursor): string | undefined {
  const isBelow = script.take(/[ \t]*\\\n[ \t]*(?=[^\\\n]|\\[ \t])/y) !== undefined;
  if (!isBelow && script.take(/[ \t]*(?:\\[ \t]*)?(?=[^\\\s])/y) === undefined) return notUnderstood;
  const text = script.take(/(?:[^\\\n]|\\.)+/sy) ?? "";
  const isUnclear = /\\\\(?:\n|$)/.test(text) || (!isBelow && text.includes("\n"));
  return isUnclear ? notUnderstood : mustTake(script, /\n|$/y);
}

function mustTake(script: Cursor, ...parts: readonly RegExp[]): string | undefined {
  return parts.every((part) => script.take(part) !== undefined) ? undefined : notUnderstood;
}
