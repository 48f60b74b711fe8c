/** Limit for a tool's output in the log and on the wires, in bytes of its JSON text. */
export const outputLimit = 40_000;

/** Limit for text that only the model reads: `outputLimit` plus line numbers. */
export const modelOutputLimit = 64_000;

/** Limit for one text in a log record, whose total is 16 MiB. */
export const recordTextLimit = 8 * 1024 * 1024;

/**
 * Cuts a text to its head and tail so that its JSON form has at most `limit` bytes, never through a character.
 * Returns the text itself when it is short enough.
 */
export function headAndTail(text: string, limit: number, note: (skipped: number) => string): string {
  if (text.length * 6 <= limit || jsonBytes(text) <= limit) return text;
  const budget = limit - 256;
  const head = takeHead(text, budget / 2);
  const tail = takeTail(text, budget / 2, head);
  return `${text.slice(0, head)}\n${note(tail - head)}\n${text.slice(tail)}`;
}

/** Bytes of the text in a JSON line, without its quotes. */
export function jsonBytes(text: string): number {
  let bytes = 0;
  for (let index = 0; index < text.length; index += 1) bytes += unitBytes(text, index);
  return bytes;
}

/** Bytes of one UTF-16 unit in UTF-8 JSON. A pair is four bytes, so each half counts two; a lone half is escaped. */
function unitBytes(text: string, index: number): number {
  const code = text.charCodeAt(index);
  if (code < 0x20) return code === 0x0a || code === 0x0d || code === 0x09 || code === 0x08 || code === 0x0c ? 2 : 6;
  if (code < 0x80) return code === 0x22 || code === 0x5c ? 2 : 1;
  if (code < 0x800) return 2;
  if (code < 0xd800 || code > 0xdfff) return 3;
  return isPaired(text, index) ? 2 : 6;
}

function isPaired(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  if (code < 0xdc00) return isLow(text.charCodeAt(index + 1));
  const before = text.charCodeAt(index - 1);
  return before >= 0xd800 && before < 0xdc00;
}

function isLow(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

function takeHead(text: string, budget: number): number {
  let bytes = 0;
  let end = 0;
  while (end < text.length) {
    bytes += unitBytes(text, end);
    if (bytes > budget) break;
    end += 1;
  }
  return isLow(text.charCodeAt(end)) ? end - 1 : end;
}

function takeTail(text: string, budget: number, from: number): number {
  let bytes = 0;
  let start = text.length;
  while (start > from) {
    bytes += unitBytes(text, start - 1);
    if (bytes > budget) break;
    start -= 1;
  }
  return isLow(text.charCodeAt(start)) ? start + 1 : start;
}
