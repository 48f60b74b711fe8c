/** Larger results are not built: replacing a short text everywhere can grow without bound. */
const mostCharacters = 20 * 1024 * 1024;
/** In a larger text nothing is looked for that only resembles: it takes seconds. */
const mostSearched = 1024 * 1024;

export type Replacement =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly message: string };

/** Replaces exactly what `oldText` says, once or everywhere. A file whose lines all end in CRLF keeps them so. */
export function replaceText(text: string, oldText: string, newText: string, everywhere: boolean): Replacement {
  const exact = isCrlf(text) ? 0 : count(text, oldText);
  const [wanted, substitute] = exact > 0 ? [oldText, newText] : [toCrlf(oldText), toCrlf(newText)];
  const places = exact > 0 ? exact : count(text, wanted);
  if (places === 0)
    return { ok: false, message: `The text to replace was not found in the file. ${hint(text, oldText)}` };
  if (places > 1 && !everywhere) {
    const remedy = "Give more of the lines around it so that it is unique, or set change_all to replace every one.";
    return { ok: false, message: `The text to replace is in the file ${places} times. ${remedy}` };
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

/** Places where it stands. Two that overlap are two, so that neither is taken for the only one. */
function count(text: string, wanted: string): number {
  let places = 0;
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) places += 1;
  return places === 1 && text.indexOf(wanted, text.indexOf(wanted) + 1) !== -1 ? 2 : places;
}

const exactly = "It must match exactly, with every space and line break. Read the file again and copy it from there.";

function hint(text: string, wanted: string): string {
  if (text.length > mostSearched) return exactly;
  const unbroken = wanted.replaceAll("\r\n", "\n");
  const at = text.replaceAll("\r\n", "\n").indexOf(unbroken);
  if (at !== -1) return "Only its line endings differ (LF or CRLF): give it in the file's own.";
  const line = lineIgnoringSpace(text, wanted);
  if (line !== undefined)
    return `It is there with other spaces, tabs or line breaks, at line ${line}: copy it exactly from Read.`;
  return exactly;
}

function lineIgnoringSpace(text: string, wanted: string): number | undefined {
  const dense = wanted.replace(/\s+/g, "");
  if (dense === "") return undefined;
  let remaining = text.replace(/\s+/g, "").indexOf(dense);
  if (remaining === -1) return undefined;
  let line = 1;
  for (const character of text.matchAll(/\S|\n/g)) {
    if (character[0] === "\n") line += 1;
    else if (remaining === 0) return line;
    else remaining -= 1;
  }
  return undefined;
}
