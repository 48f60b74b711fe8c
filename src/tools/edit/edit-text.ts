import { looseMatch } from "./loose-match.ts";

/** Larger results are not built, because replacing a short text everywhere can grow without limit. */
const mostCharacters = 20 * 1024 * 1024;
/** In larger texts, only exact matches are searched, because similarity takes seconds. */
const mostSearched = 512 * 1024;

export type Replacement =
  | {
      readonly ok: true;
      readonly text: string;
      /** How it was found, if not exactly. */
      readonly note?: string;
    }
  | { readonly ok: false; readonly message: string; readonly isMissing?: true };

/**
 * Replaces `oldText`, once or everywhere. If it is not found exactly, replaces a single match with Read's line numbers
 * or different white space. Keeps a file's CRLF line ends.
 */
export function replaceText(text: string, oldText: string, newText: string, everywhere: boolean): Replacement {
  const exact = isCrlf(text) ? 0 : count(text, oldText);
  const [wanted, substitute] = exact > 0 ? [oldText, newText] : [toCrlf(oldText), toCrlf(newText)];
  const places = exact > 0 ? exact : count(text, wanted);
  if (places === 0) return withoutNumbers(text, oldText, newText, everywhere) ?? replaceLoosely(text, oldText, newText);
  if (places > 1 && !everywhere) {
    const remedy = "Give more of the lines around it so that it is unique, or set change_all to replace every one.";
    return { ok: false, message: `The text to replace occurs ${places} times in the file. ${remedy}` };
  }
  if (text.length + places * (substitute.length - wanted.length) > mostCharacters)
    return { ok: false, message: "The edited file would be too large. Use Execute for such a change." };
  return { ok: true, text: text.split(wanted).join(substitute) };
}

function isCrlf(text: string): boolean {
  return text.includes("\r\n") && !/[^\r]\n|^\n/.test(text);
}

function toCrlf(text: string): string {
  return text.replace(/\r?\n/g, "\r\n");
}

/** Positions of its matches. Overlapping matches count separately, so that neither looks unique. */
function count(text: string, wanted: string): number {
  let places = 0;
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) places += 1;
  return places === 1 && text.indexOf(wanted, text.indexOf(wanted) + 1) !== -1 ? 2 : places;
}

const missing: Replacement = {
  ok: false,
  isMissing: true,
  message:
    "The text to replace was not found in the file. It must match exactly, with every space and line break. Read the file again and copy it from there.",
};

const numbered = /^ *\d+→/;

/** For text copied from Read with line numbers. */
function withoutNumbers(text: string, oldText: string, newText: string, everywhere: boolean): Replacement | undefined {
  const lines = oldText.split("\n");
  if (!lines.every((line, index) => numbered.test(line) || (line === "" && index === lines.length - 1)))
    return undefined;
  const bare = (from: string): string =>
    from
      .split("\n")
      .map((line) => line.replace(numbered, ""))
      .join("\n");
  const [wanted, substitute] = [bare(oldText), bare(newText)];
  if (wanted === "" || wanted === substitute) return undefined;
  const result = replaceText(text, wanted, substitute, everywhere);
  return result.ok ? { note: "Line numbers in old_str and new_str were ignored.", ...result } : undefined;
}

function replaceLoosely(text: string, oldText: string, newText: string): Replacement {
  if (text.length > mostSearched) return missing;
  const lineEndOf = (found: string): string => (isCrlf(text) || found.includes("\r\n") ? "\r\n" : "\n");
  const match = looseMatch(text, oldText, newText, lineEndOf);
  if (match === undefined || text.length + match.substitute.length > mostCharacters) return missing;
  const { from, to, substitute, line } = match;
  const note = `old_str was found at line ${line} with different white space. new_str was indented to match.`;
  return { ok: true, text: text.slice(0, from) + substitute + text.slice(to), note };
}
