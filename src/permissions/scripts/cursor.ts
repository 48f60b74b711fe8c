/** Reads a script from its start to its end. */
export interface Cursor {
  readonly isDone: () => boolean;
  /** Takes what the pattern, which must be sticky, matches here; without a match nothing is taken. */
  readonly take: (pattern: RegExp) => string | undefined;
  /** Whether the pattern, which must be sticky, matches here. */
  readonly sees: (pattern: RegExp) => boolean;
  /** Goes behind a regular expression that ends with this character; without a clear end it stays where it is. */
  readonly passRegex: (delimiter: string) => boolean;
}

/*
 * Programs differ in what a bracket hides: some end a regular expression at a delimiter inside it, some do not, and some let
 * a backslash keep it open. These are the brackets whose end is the same for all.
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
 * Whether every program reads the same characters in this text. Control characters may be blanks or not; and in some
 * encodings a byte above 127 takes the byte behind it with it, which may be a backslash.
 */
export function isPlainText(text: string): boolean {
  return !/[^\P{Cc}\t\n]|\P{ASCII}[@[\\\]^_`{|}~]/u.test(text);
}
