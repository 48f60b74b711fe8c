import type { WordLike } from "./shell-words.ts";

/** More than any real command needs. A shell expands all of them before it runs anything. */
const mostWords = 10_000;

const quoted = /^(SingleQuoted|DoubleQuoted|AnsiCQuoted|LocaleString)$/;

/** Whether a word's braces expand to so many words that the expansion itself is harmful. Ignores quoted braces. */
export function hasTooManyWords({ text, parts }: WordLike): boolean {
  if (!text.includes("{")) return false;
  const bare = parts?.map((piece) => (quoted.test(piece.type) ? "" : piece.text)).join("") ?? text;
  return countSequence(bare, 0, false).count > mostWords;
}

interface Counted {
  readonly count: number;
  /** Position after its last character. */
  readonly end: number;
}

/** Counts of consecutive groups multiply. With `inBraces` the sequence ends at a comma or a brace. */
function countSequence(text: string, from: number, inBraces: boolean): Counted {
  let count = 1;
  let at = from;
  while (at < text.length && !(inBraces && /[,}]/.test(text[at] ?? ""))) {
    if (text[at] === "{") {
      const group = countGroup(text, at + 1);
      count *= group.count;
      at = group.end;
    } else at += text[at] === "\\" ? 2 : 1;
  }
  return { count, end: at };
}

/** Counts of alternatives add up. A range counts its elements. */
function countGroup(text: string, from: number): Counted {
  const range = /^(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.(-?\d+))?\}/.exec(text.slice(from, from + 100));
  if (range !== null) {
    const [whole, first = "", last = "", step = "1"] = range;
    const width = Math.abs(endOf(last) - endOf(first)) / Math.max(1, Math.abs(Number(step)));
    return { count: Math.floor(width) + 1, end: from + whole.length };
  }
  let count = 0;
  let at = from;
  for (;;) {
    const alternative = countSequence(text, at, true);
    count += alternative.count;
    at = alternative.end + 1;
    if (text[alternative.end] !== ",") return { count, end: at };
  }
}

function endOf(text: string): number {
  return /\d/.test(text) ? Number(text) : (text.codePointAt(0) ?? 0);
}
