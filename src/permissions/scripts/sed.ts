import { type Cursor, cursor, isPlainText } from "./cursor.ts";

const notUnderstood = "has a script that is not understood";
const runs = "runs a command that its script makes";
const writes = "writes a file that its script names";
const reads = "reads a file that its script names";

const blanks = /[ \t]*/y;
const commandEnd = /[ \t]*(?:[;\n]|$|(?=[}#]))/y;
/** Some programs take a brace or a comment for a part of the label, so only what ends it for all of them may follow. */
const labelEnd = /[ \t]*\}*[ \t]*(?:[;\n]|$)/y;
const delimiters = /[/|,#:!@%_~;+="'<>-]/y;
const addressDelimiters = /\/|\\[/|,#:!@%_~;+="'<>-]/y;

/** Reads the rest of a command and says why that is not harmless. */
type Rest = (script: Cursor) => string | undefined;

const rests: Readonly<Record<string, Rest>> = {
  "=dDFgGhHnNpPxz}": (script) => mustTake(script, commandEnd),
  lqQ: (script) => mustTake(script, /[ \t]*\d*/y, commandEnd),
  btT: (script) => mustTake(script, /[ \t]*[\w.-]*/y, labelEnd),
  ":": (script) => mustTake(script, /[ \t]*[\w.-]+/y, labelEnd),
  "{": () => undefined,
  // A backslash at the end of a comment hides the next line from some programs.
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
 * Why a script of sed is not harmless; `undefined` when it only prints what it reads, whichever sed runs it. The scripts of
 * several `-e` together are harmless when each of them is, because a script that leaves something unfinished is not.
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

/** False when there is an address that is not understood. */
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
 * What `a`, `i` and `c` add: from the next line to the first line whose end no backslash keeps open, or on this line alone.
 * Programs do not agree on whether this line can be kept open, and whether two backslashes keep a line open.
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
