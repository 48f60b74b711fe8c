const verbose = /\(\?[a-z]*x/i;
const dotStaysInLine = /\(\?[a-z]*-[a-z]*s/i;

/** Whether a pattern mentions carriage returns; it is then used unchanged. */
export function namesCarriageReturns(pattern: string): boolean {
  return /\r|(?<!\\)(?:\\\\)*\\(?:r|x0d|x\{0*d\}|u000d)/i.test(pattern);
}

/** A ripgrep expression for plain text in which each line feed may follow a carriage return. */
export function textAcrossLineEnds(text: string): string {
  return text.replace(/[\\.+*?()|[\]{}^$#&~-]/g, "\\$&").replace(/\n/g, "\\r?\\n");
}

/**
 * The expression for CRLF files too, as in Edit: a line feed matches either line end, and a single `.` a whole one. For
 * multi-line expressions in which `.` matches every character.
 */
export function acrossLineEnds(pattern: string): string {
  if (verbose.test(pattern)) return pattern;
  const wholeDots = !dotStaysInLine.test(pattern);
  let result = "";
  let depth = 0;
  for (let at = 0; at < pattern.length; at += 1) {
    const isEscape = pattern[at] === "\\";
    const piece = isEscape ? pattern.slice(at, at + 2) : (pattern[at] ?? "");
    const next = pattern[at + piece.length];
    at += piece.length - 1;
    const isFeed = piece === "\\n" || piece === "\n";
    if (piece === "[") {
      depth += 1;
      // Right at the start, `]` is a member.
      const [start = ""] = /^\^?\]?/.exec(pattern.slice(at + 1, at + 3)) ?? [];
      result += `[${start}`;
      at += start.length;
      continue;
    }
    if (piece === "]" && depth > 0) {
      depth -= 1;
      result += piece;
    } else if (depth > 0) result += isFeed && next !== "-" ? `\\r${piece}` : piece;
    else if (isFeed) result += "(?:\\r?\\n)";
    else if (piece === "." && wholeDots && next !== "*" && next !== "+") result += "(?:\\r\\n|.)";
    else result += piece;
  }
  return result;
}
