import type { WordLike } from "./shell-words.ts";

/** More words than anybody writes braces for; a shell makes all of them before anything runs. */
const mostWords = 10_000;

const quoted = /^(SingleQuoted|DoubleQuoted|AnsiCQuoted|LocaleString)$/;

/** Whether the braces of a word stand for so many words that making them would be the problem. Quoted ones are plain text. */
export function hasTooManyWords({ text, parts }: WordLike): boolean {
  if (!text.includes("{")) return false;
  const bare = parts?.map((piece) => (quoted.test(piece.type) ? "" : piece.text)).join("") ?? text;
  return countSequence(bare, 0, false).count > mostWords;
}

interface Counted {
  readonly count: number;
  /** Where it ends. */
  readonly end: number;
}

/** What follows each other multiplies. With `inBraces` it ends at a comma or a brace. */
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

/** Alternatives add up; a range has as many words as it counts. */
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
