/* Cuts that never leave half of a character: a lone surrogate is not valid Unicode, and strict JSON readers reject it. */

/** The first `most` UTF-16 units of a text, one less where that would split a pair. */
export function textStart(text: string, most: number): string {
  if (text.length <= most) return text;
  return text.slice(0, endsInHalf(text, most) ? most - 1 : most);
}

/** The last `most` UTF-16 units of a text, one less where that would split a pair. */
export function textEnd(text: string, most: number): string {
  const start = text.length - most;
  if (start <= 0) return text;
  return text.slice(endsInHalf(text, start) ? start + 1 : start);
}

/** Whether the first unit of a pair is right before `end`. */
export function endsInHalf(text: string, end = text.length): boolean {
  const code = text.charCodeAt(end - 1);
  return code >= 0xd800 && code <= 0xdbff;
}

/**
 * A text without any of these characters at its end. In linear time: a pattern such as `/\/+$/` looks at every run of
 * slashes again from each of them.
 */
export function withoutTrailing(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** A path without the slashes at its end, the root's included. */
export function withoutTrailingSlashes(path: string): string {
  return withoutTrailing(path, "/");
}

/**
 * Has a text that grew piece by piece take no more memory than its characters. Until it is read, V8 keeps such a text as a
 * tree with a node of 32 bytes for each piece; to read one character makes it one string.
 */
export function compact(text: string): void {
  text.charCodeAt(0);
}
