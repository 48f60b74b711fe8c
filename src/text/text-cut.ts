/* Cuts that never leave half of a character: a lone surrogate is not valid Unicode, and strict JSON readers reject it. */

/** The first `most` UTF-16 units of a text, one less to keep a surrogate pair whole. */
export function textStart(text: string, most: number): string {
  if (text.length <= most) return text;
  return text.slice(0, endsInHalf(text, most) ? most - 1 : most);
}

/** The last `most` UTF-16 units of a text, one less to keep a surrogate pair whole. */
export function textEnd(text: string, most: number): string {
  const start = text.length - most;
  if (start <= 0) return text;
  return text.slice(endsInHalf(text, start) ? start + 1 : start);
}

/** Whether `end` would split a surrogate pair. */
export function endsInHalf(text: string, end = text.length): boolean {
  const code = text.charCodeAt(end - 1);
  return code >= 0xd800 && code <= 0xdbff;
}

/**
 * A text without these characters at its end, in linear time. A pattern such as `/\/+$/` is quadratic in runs of slashes.
 */
export function withoutTrailing(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** A path without trailing slashes, even the root's. */
export function withoutTrailingSlashes(path: string): string {
  return withoutTrailing(path, "/");
}

/**
 * Compacts a text that was built piece by piece. V8 keeps such a text as a tree with 32 bytes per piece until a character is
 * read.
 */
export function compact(text: string): void {
  text.charCodeAt(0);
}
