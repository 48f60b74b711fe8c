type Utf16 = "utf-16le" | "utf-16be";

/** The encoding of a file's byte order mark, if the text after it matches. */
export function utf16Of(start: Uint8Array): Utf16 | undefined {
  const [first, second] = start;
  const encoding = first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "";
  if (encoding === "") return undefined;
  try {
    // The bytes read can end within a character, hence `stream`.
    const text = new TextDecoder(encoding, { fatal: true }).decode(start, { stream: true });
    return text.includes("\0") ? undefined : encoding;
  } catch {
    return undefined;
  }
}

/** Converts to UTF-8. Invalid sequences become U+FFFD. */
export async function* fromUtf16(pieces: AsyncIterable<Uint8Array>, encoding: Utf16): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder(encoding);
  for await (const piece of pieces) yield Buffer.from(decoder.decode(piece, { stream: true }));
  yield Buffer.from(decoder.decode());
}
