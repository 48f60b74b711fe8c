/*
 * Work on texts of many megabytes, in steps of a few milliseconds instead of hundreds at once.
 */

/** Awaited between two steps: yields to other work, see `createPace`. */
export type Rest = () => Promise<void> | undefined;

const stepLength = 256 * 1024;
/** Texts joined at once. */
const mostJoined = 8192;

export async function encodeText(text: string, rest: Rest): Promise<Buffer> {
  if (text.length <= stepLength) return Buffer.from(text);
  const parts: Buffer[] = [];
  for (let from = 0; from < text.length; ) {
    const to = wholeCharacters(text, from + stepLength);
    parts.push(Buffer.from(text.slice(from, to)));
    from = to;
    await rest();
  }
  return Buffer.concat(parts);
}

/** The end of a step at `place` or just after it, without dividing a surrogate pair. */
function wholeCharacters(text: string, place: number): number {
  const code = text.charCodeAt(place - 1);
  return code >= 0xd800 && code <= 0xdbff ? place + 1 : place;
}

/** The text of UTF-8 bytes, with its byte order mark; `undefined` if they are not UTF-8. */
export async function decodeText(bytes: Uint8Array, rest: Rest): Promise<string | undefined> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const parts: string[] = [];
  try {
    for (let from = 0; from < bytes.length; from += stepLength) {
      parts.push(decoder.decode(bytes.subarray(from, from + stepLength), { stream: true }));
      await rest();
    }
    return parts.join("") + decoder.decode();
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Like `text.split("\n")`. */
export async function splitLines(text: string, rest: Rest): Promise<string[]> {
  const lines: string[] = [];
  for (let from = 0; ; ) {
    const end = text.indexOf("\n", from + stepLength / 4);
    for (const line of text.slice(from, end === -1 ? text.length : end).split("\n")) lines.push(line);
    if (end === -1) return lines;
    from = end + 1;
    await rest();
  }
}

/** Like `texts.join(separator)`. */
export async function joinTexts(texts: readonly string[], separator: string, rest: Rest): Promise<string> {
  const parts: string[] = [];
  for (let from = 0; from < texts.length; from += mostJoined) {
    parts.push(texts.slice(from, from + mostJoined).join(separator));
    await rest();
  }
  return parts.join(separator);
}

/** Whether all lines end with CRLF. */
export async function isCrlf(text: string, rest: Rest): Promise<boolean> {
  if (!text.includes("\r\n")) return false;
  for (let from = 0; from < text.length; from += stepLength) {
    const part = text.slice(Math.max(0, from - 1), from + stepLength);
    if (/[^\r]\n|^\n/.test(from === 0 ? part : part.replace(/^\n/, ""))) return false;
    await rest();
  }
  return true;
}

/** The text with CRLF line ends. */
export async function toCrlf(text: string, rest: Rest): Promise<string> {
  const parts: string[] = [];
  for (let from = 0; from < text.length; ) {
    const end = from + stepLength / 4;
    let to = end;
    while (text[to - 1] === "\r") to += 1;
    parts.push(text.slice(from, to).replace(/\r?\n/g, "\r\n"));
    from = to;
    await rest();
  }
  return parts.join("");
}
