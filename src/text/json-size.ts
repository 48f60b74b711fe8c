const codes = { backslash: 0x5c, quote: 0x22, openList: 0x5b, closeList: 0x5d, open: 0x7b, close: 0x7d };

/** Whether a JSON text nests deeper than a limit, so that walking it could exhaust the stack. */
export function isNestedDeeper(json: string, than: number): boolean {
  if (json.length <= than) return false;
  let depth = 0;
  let inText = false;
  for (let index = 0; index < json.length; index += 1) {
    const code = json.charCodeAt(index);
    if (code === codes.backslash) index += 1;
    else if (code === codes.quote) inText = !inText;
    else if (inText) continue;
    else if (code === codes.openList || code === codes.open) depth += 1;
    else if (code === codes.closeList || code === codes.close) depth -= 1;
    if (depth > than) return true;
  }
  return false;
}

/**
 * Whether a JSON text has more of these characters than `most`, outside its strings. Parsing can take fifty times the text's
 * memory and cannot be stopped; this reads each character once.
 */
export function hasMoreOf(signs: string, json: string, most: number): boolean {
  if (json.length <= most) return false;
  const counted = new Set(Array.from(signs, (sign) => sign.charCodeAt(0)));
  let found = 0;
  for (let at = 0; at < json.length; at += 1) {
    const sign = json.charCodeAt(at);
    if (sign === codes.quote) at = endOfString(json, at);
    else if (counted.has(sign)) found += 1;
    if (found > most) return true;
  }
  return false;
}

function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end >= 0; end = json.indexOf('"', end + 1)) {
    let escapes = 0;
    while (json.charCodeAt(end - 1 - escapes) === codes.backslash) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return json.length;
}
