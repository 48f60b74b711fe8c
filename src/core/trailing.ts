/*
 * What a pattern such as `/\/+$/` does, in linear time: that one looks at every run of slashes again from each of them.
 */

/** A text without any of these characters at its end. */
export function withoutTrailing(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** A path without the slashes at its end, the root's included. */
export function withoutTrailingSlashes(path: string): string {
  return withoutTrailing(path, "/");
}
