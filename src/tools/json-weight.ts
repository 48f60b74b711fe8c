const quote = 0x22;
const backslash = 0x5c;
/** `{`, `[` and `:`. What is only separated by commas takes little beyond its own text. */
const openers: ReadonlySet<number> = new Set([0x7b, 0x5b, 0x3a]);

/**
 * Whether a JSON text has more lists, objects and fields than `most`. Parsing takes time and memory for each of them, up to
 * fifty times that of the text, and cannot be stopped; this only looks at each byte once.
 */
export function hasMoreParts(json: Uint8Array, most: number): boolean {
  let parts = 0;
  let inText = false;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (inText && byte === backslash) at += 1;
    else if (byte === quote) inText = !inText;
    else if (!inText && byte !== undefined && openers.has(byte)) parts += 1;
    if (parts > most) return true;
  }
  return false;
}
