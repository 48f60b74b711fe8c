import { eachMatch, replaceEach } from "../../async/find-text.ts";
import { isCrlf, joinTexts, splitLines, toCrlf } from "../../async/long-texts.ts";
import type { Breathe } from "../pace.ts";
import { looseMatch } from "./loose-match.ts";

/** Larger results are not built, because replacing a short text everywhere can grow without limit. */
const mostCharacters = 20 * 1024 * 1024;
/** In larger texts, only exact matches are searched, because similarity takes seconds. */
const mostSearched = 512 * 1024;
/** Lines handled before yielding. */
const mostAtOnce = 8192;

type Replacement =
  | {
      readonly ok: true;
      readonly text: string;
      /** How it was found, if not exactly. */
      readonly note?: string;
    }
  | { readonly ok: false; readonly message: string; readonly isMissing?: true };

export interface Replacing {
  readonly text: string;
  readonly oldText: string;
  readonly newText: string;
  readonly everywhere: boolean;
}

/**
 * Replaces `oldText`, once or everywhere. If it is not found exactly, replaces a single match with Read's line numbers
 * or different white space. Keeps a file's CRLF line ends.
 */
export async function replaceText(replacing: Replacing, breathe: Breathe): Promise<Replacement> {
  const { text, oldText, newText, everywhere } = replacing;
  const isReturned = await isCrlf(text, breathe);
  const exact = isReturned ? 0 : await count(text, oldText, breathe);
  const [wanted, substitute] =
    exact > 0 ? [oldText, newText] : [await toCrlf(oldText, breathe), await toCrlf(newText, breathe)];
  const places = exact > 0 ? exact : await count(text, wanted, breathe);
  if (places === 0) {
    const own = isReturned ? { wanted, substitute } : { wanted: oldText, substitute: newText };
    const atEnd = replaceAtEnd(text, own.wanted, own.substitute);
    if (atEnd !== undefined) return { ok: true, text: atEnd };
    return (await withoutNumbers(replacing, breathe)) ?? replaceLoosely(replacing, isReturned ? "\r\n" : "\n", breathe);
  }
  if (places > 1 && !everywhere) {
    const remedy = "Give more of the lines around it so that it is unique, or set change_all to replace every one.";
    return { ok: false, message: `The text to replace occurs ${places} times in the file. ${remedy}` };
  }
  if (text.length + places * (substitute.length - wanted.length) > mostCharacters)
    return { ok: false, message: "The edited file would be too large. Use Execute for such a change." };
  return { ok: true, text: await replaceEach(text, wanted, substitute, breathe) };
}

/** Replaces the last lines of a file without a final line end by a text that has one; `undefined` if they differ. */
function replaceAtEnd(text: string, wanted: string, substitute: string): string | undefined {
  const last = withoutLineEnd(wanted);
  const at = text.length - last.length;
  if (last === "" || last === wanted || !text.endsWith(last)) return undefined;
  return at === 0 || text[at - 1] === "\n" ? text.slice(0, at) + withoutLineEnd(substitute) : undefined;
}

function withoutLineEnd(text: string): string {
  return text.replace(/\r?\n$/, "");
}

/** Number of its matches. If the only one overlaps another, it is 2, because neither is unique. */
async function count(text: string, wanted: string, breathe: Breathe): Promise<number> {
  let places = 0;
  let first = 0;
  const note = (place: number): boolean => {
    if (places === 0) first = place;
    places += 1;
    return true;
  };
  await eachMatch(text, { wanted }, note, breathe);
  if (places !== 1) return places;
  await eachMatch(text, { wanted, from: first + 1 }, () => ++places < 2, breathe);
  return places;
}

const missing: Replacement = {
  ok: false,
  isMissing: true,
  message:
    "The text to replace was not found in the file. It must match exactly, with every space and line break. Read the file again and copy it from there.",
};

const numbered = /^ *\d+→/;

/** For text copied from Read with line numbers. */
async function withoutNumbers(replacing: Replacing, breathe: Breathe): Promise<Replacement | undefined> {
  const { oldText, newText } = replacing;
  if (!numbered.test(oldText)) return undefined;
  const lines = await splitLines(oldText, breathe);
  if (!lines.every((line, index) => numbered.test(line) || (line === "" && index === lines.length - 1)))
    return undefined;
  const bare = async (from: readonly string[]): Promise<string> => {
    const withoutNumber: string[] = [];
    for (const [index, line] of from.entries()) {
      withoutNumber.push(line.replace(numbered, ""));
      if (index % mostAtOnce === 0) await breathe();
    }
    return joinTexts(withoutNumber, "\n", breathe);
  };
  const [wanted, substitute] = [await bare(lines), await bare(await splitLines(newText, breathe))];
  if (wanted === "" || wanted === substitute) return undefined;
  const result = await replaceText({ ...replacing, oldText: wanted, newText: substitute }, breathe);
  return result.ok ? { note: "Line numbers in old_str and new_str were ignored.", ...result } : undefined;
}

async function replaceLoosely(
  { text, oldText, newText }: Replacing,
  lineEnd: string,
  breathe: Breathe,
): Promise<Replacement> {
  if ([text, oldText, newText].some(({ length }) => length > mostSearched)) return missing;
  const lineEndOf = (found: string): string => (found.includes("\r\n") ? "\r\n" : lineEnd);
  const match = await looseMatch({ text, wanted: oldText, newText, lineEndOf }, breathe);
  if (match === undefined) return missing;
  const { from, to, substitute, line } = match;
  const note = `old_str was found at line ${line} with different white space. new_str was indented to match.`;
  return { ok: true, text: text.slice(0, from) + substitute + text.slice(to), note };
}
