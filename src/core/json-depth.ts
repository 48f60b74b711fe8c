const codes = { backslash: 0x5c, quote: 0x22, openList: 0x5b, closeList: 0x5d, open: 0x7b, close: 0x7d };

/** Whether a JSON text nests deeper than so many levels: whoever walks through it would exhaust the stack. */
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
