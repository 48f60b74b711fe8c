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
