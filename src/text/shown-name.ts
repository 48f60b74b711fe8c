/*
 * File names are bytes: they can contain line feeds and bytes that are not UTF-8. The model reads and writes these as
 * `\x0a`. In our paths a byte that is not UTF-8 is a private-use character, because lone surrogates break strict JSON readers.
 */

const firstByteCharacter = 0x10fe00;

/** The character that represents a byte that is not UTF-8. */
function characterOfByte(byte: number): string {
  return String.fromCodePoint(firstByteCharacter + byte);
}

/** The byte that a character represents, if any. */
export function byteOfCharacter(character: string): number | undefined {
  const byte = (character.codePointAt(0) ?? 0) - firstByteCharacter;
  return byte >= 0 && byte <= 0xff ? byte : undefined;
}

/** Characters that end a line or are not text, and a backslash that would start an escape. */
const unshowable = /[\p{Cc}\p{Zl}\p{Zp}\u{10fe00}-\u{10feff}]|\\(?=x[0-9a-f]{2})/giu;

function bytesOf(character: string): Iterable<number> {
  const byte = byteOfCharacter(character);
  return byte === undefined ? new TextEncoder().encode(character) : [byte];
}

/** A name or path on one line. `meantName` reverses it. */
export function shownName(name: string): string {
  return name.replace(unshowable, (character) =>
    Array.from(bytesOf(character), (byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join(""),
  );
}

/** A path as the model wrote it, on one line. Its escapes stay as they are, so that it means the same in the next call. */
export function shownWritten(path: string): string {
  return path.replace(unshowable, (character) => (character === "\\" ? character : shownName(character)));
}

/** The name that is shown this way; `undefined` if none is. */
export function meantName(shown: string): string | undefined {
  if (!/\\x[0-9a-f]{2}/i.test(shown)) return undefined;
  const meant = shown.replace(/(?:\\x[0-9a-f]{2})+/gi, (escapes) => {
    const bytes = Uint8Array.from(escapes.matchAll(/[0-9a-f]{2}/gi), ([digits]) => Number.parseInt(digits, 16));
    return nameOfBytes(bytes);
  });
  return shownName(meant).toLowerCase() === shown.toLowerCase() && !/[/\0]/.test(meant) ? meant : undefined;
}

/** The name for these bytes. */
export function nameOfBytes(bytes: Uint8Array): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    if (!/[\u{10fe00}-\u{10feff}]/u.test(text)) return text;
  } catch {
    // Decode the valid parts below.
  }
  return partlyText(bytes);
}

/** Decodes valid UTF-8 characters, and represents every other byte separately. */
function partlyText(bytes: Uint8Array): string {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let name = "";
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at] ?? 0;
    const length = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    let character: string | undefined;
    try {
      character = decoder.decode(bytes.subarray(at, at + length));
    } catch {
      // Not a valid character.
    }
    const isText = character !== undefined && character !== "" && byteOfCharacter(character) === undefined;
    name += isText ? character : characterOfByte(first);
    at += isText ? length : 1;
  }
  return name;
}
