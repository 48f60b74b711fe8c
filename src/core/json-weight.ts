const quote = 0x22;
const backslash = 0x5c;

/**
 * Whether a JSON text has more of these signs than `most`, not counting those in its strings. Parsing takes time and memory
 * for each value, up to fifty times that of the text, and cannot be stopped; this only looks at each character once.
 */
export function hasMoreOf(signs: string, json: string, most: number): boolean {
  if (json.length <= most) return false;
  const counted = new Set(Array.from(signs, (sign) => sign.charCodeAt(0)));
  let found = 0;
  for (let at = 0; at < json.length; at += 1) {
    const sign = json.charCodeAt(at);
    if (sign === quote) at = endOfString(json, at);
    else if (counted.has(sign)) found += 1;
    if (found > most) return true;
  }
  return false;
}

function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end >= 0; end = json.indexOf('"', end + 1)) {
    let escapes = 0;
    while (json.charCodeAt(end - 1 - escapes) === backslash) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return json.length;
}
