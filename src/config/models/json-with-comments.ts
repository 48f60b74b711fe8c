/**
 * JSON with comments and trailing commas. `undefined` if malformed, without the parser's message, which quotes the text and so
 * possibly a key.
 */
export function parseJsonWithComments(text: string): unknown {
  try {
    return JSON.parse(plainJson(text.replace(/^\uFEFF/, ""))) as unknown;
  } catch {
    return undefined;
  }
}

/** A single pass, because the file may be very long. */
function plainJson(text: string): string {
  const parts: string[] = [];
  /** The position of a comma that may be trailing. */
  let comma = -1;
  for (let at = 0; at < text.length; ) {
    const end = pieceEnd(text, at);
    const first = text[at] ?? "";
    const isComment = end > at + 1 && first === "/";
    if ((first === "}" || first === "]") && comma >= 0) parts[comma] = " ";
    if (first === ",") comma = parts.length;
    else if (!isComment && !/\s/.test(first)) comma = -1;
    parts.push(isComment ? " " : text.slice(at, end));
    at = end;
  }
  return parts.join("");
}

/** The end of the string, comment or character that starts here. */
function pieceEnd(text: string, at: number): number {
  const behind = (mark: string, from: number): number => {
    const found = text.indexOf(mark, from);
    return found < 0 ? text.length : found + mark.length;
  };
  if (text.startsWith("//", at)) return behind("\n", at) - (text.indexOf("\n", at) < 0 ? 0 : 1);
  if (text.startsWith("/*", at)) return behind("*/", at + 2);
  if (text[at] !== '"') return at + 1;
  for (let next = at + 1; next < text.length; next += 1) {
    if (text[next] === "\\") next += 1;
    else if (text[next] === '"') return next + 1;
  }
  return text.length;
}
