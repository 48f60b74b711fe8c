/** A piece of an answer, as the wire has it. */
export interface Chunk {
  readonly chunk: string;
  readonly isFinal: boolean;
  /** In UTF-16 units of the answer; none is right behind the last one. */
  readonly offset?: number;
  /** It replaces everything from its offset on. */
  readonly isSnapshot: boolean;
}

/** What is to be done so that the reader has seen the answer. */
export interface Step {
  readonly print: string;
  /** What was printed is wrong, and this is the answer from its beginning. */
  readonly isAnew: boolean;
  /** Units before this text that never came. */
  readonly missing: number;
}

/**
 * One answer: what the server says that its text is, and how much of that was printed. What was printed cannot be taken
 * back, so a snapshot is held against it.
 */
export function createAnswerText(): (chunk: Chunk) => Step {
  let text = "";
  /** Where `text` begins in the answer: who comes late does not have all of it. */
  let base: number | undefined;
  /** What the reader has, when it is not `text`. */
  let printed: string | undefined;

  function compare(isFinal: boolean): Pick<Step, "print" | "isAnew"> {
    const shown = printed ?? "";
    if (text.startsWith(shown)) {
      printed = undefined;
      return { print: text.slice(shown.length), isAnew: false };
    }
    // The server has less than it had sent; it may say the same again.
    if (shown.startsWith(text) && !isFinal) return { print: "", isAnew: false };
    printed = undefined;
    return { print: text, isAnew: true };
  }

  return ({ chunk, isFinal, offset, isSnapshot }) => {
    base ??= offset ?? 0;
    let at = offset === undefined ? text.length : offset - base;
    const missing = Math.max(0, at - text.length);
    base += missing;
    at -= missing;
    if (at === text.length && printed === undefined) {
      text += chunk;
      return { print: chunk, isAnew: false, missing };
    }
    printed ??= text;
    if (at < 0) base = offset ?? 0;
    const before = text.slice(0, Math.max(0, at));
    // Without the mark a repeated piece changes nothing behind it.
    text = before + chunk + (isSnapshot ? "" : text.slice(before.length + chunk.length));
    return { ...compare(isFinal), missing };
  };
}
