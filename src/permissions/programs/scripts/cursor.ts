/** A position in a script that only moves forward. */
export interface Cursor {
  readonly isDone: () => boolean;
  /** Consumes the match of a sticky pattern at this position. Without a match it does not move. */
  readonly take: (pattern: RegExp) => string | undefined;
  /** Whether a sticky pattern matches at this position. */
  readonly sees: (pattern: RegExp) => boolean;
  /** Moves past a regular expression that ends with this character. Without a clear end it does not move. */
  readonly passRegex: (delimiter: string) => boolean;
}

/*
 * Programs differ: some end a regular expression at a delimiter inside a bracket, some do not, and in some a backslash
 * keeps the bracket open. This matches only brackets that end at the same place for all.
 */
const bracket =
  /\[(?:\^|(?!\^))(?:\]|(?!\]))(?:[^\][\\\n]|\[:[a-z]+:\]|\\(?:[^\][\\\n]|\\(?!\])|\[(?![.:=])))*(?:\\\])?\]/y;

export function cursor(text: string): Cursor {
  let at = 0;

  function found(pattern: RegExp, from: number): string | undefined {
    pattern.lastIndex = from;
    return pattern.exec(text)?.[0];
  }

  function regexEnd(delimiter: string): number | undefined {
    let end = at;
    while (end < text.length) {
      const here = text.charAt(end);
      if (here === delimiter) return end + 1;
      const part = here === "[" ? found(bracket, end) : found(/[^\\\n]|\\[^\n]/y, end);
      if (part === undefined || part.replace(/\\./gs, "").includes(delimiter)) return undefined;
      end += part.length;
    }
    return undefined;
  }

  return {
    isDone: () => at >= text.length,
    take(pattern) {
      const taken = found(pattern, at);
      at += taken?.length ?? 0;
      return taken;
    },
    sees: (pattern) => found(pattern, at) !== undefined,
    passRegex(delimiter) {
      const end = regexEnd(delimiter);
      at = end ?? at;
      return end !== undefined;
    },
  };
}

/**
 * Whether every program reads the same characters in this text. Control characters may count as blanks or not, and in
 * some encodings a byte above 127 swallows the next byte, such as a backslash.
 */
export function isPlainText(text: string): boolean {
  return !/[^\P{Cc}\t\n]|\P{ASCII}[@[\\\]^_`{|}~]/u.test(text);
}
