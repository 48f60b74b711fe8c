/** A piece of an answer, as sent on the wire. */
export interface Chunk {
  readonly chunk: string;
  readonly isFinal: boolean;
  /** In UTF-16 units of the answer; absent means right after the previous chunk. */
  readonly offset?: number;
  /** Replaces everything from its offset on. */
  readonly isSnapshot: boolean;
}

/** The next output. */
export interface Step {
  readonly print: string;
  /** The printed text was wrong; this is the answer from its start. */
  readonly startsOver: boolean;
  /** Units missing before this text. */
  readonly missing: number;
}

/**
 * One answer: the server's text, and how much of it was printed. Printed text cannot be taken back, so snapshots are
 * compared with it.
 */
export function createAnswerText(): (chunk: Chunk) => Step {
  let text = "";
  /** Offset of `text` in the answer; a client that joins late misses the beginning. */
  let base: number | undefined;
  /** The printed text, if it differs from `text`. */
  let printed: string | undefined;

  function compare(isFinal: boolean): Pick<Step, "print" | "startsOver"> {
    const shown = printed ?? "";
    if (text.startsWith(shown)) {
      printed = undefined;
      return { print: text.slice(shown.length), startsOver: false };
    }
    // The server has less than it had sent, and may send the same again.
    if (shown.startsWith(text) && !isFinal) return { print: "", startsOver: false };
    printed = undefined;
    return { print: text, startsOver: true };
  }

  return ({ chunk, isFinal, offset, isSnapshot }) => {
    base ??= offset ?? 0;
    let at = offset === undefined ? text.length : offset - base;
    const missing = Math.max(0, at - text.length);
    base += missing;
    at -= missing;
    if (at === text.length && printed === undefined) {
      text += chunk;
      return { print: chunk, startsOver: false, missing };
    }
    printed ??= text;
    if (at < 0) base = offset ?? 0;
    const before = text.slice(0, Math.max(0, at));
    // A repeated chunk without a snapshot leaves later text unchanged.
    text = before + chunk + (isSnapshot ? "" : text.slice(before.length + chunk.length));
    return { ...compare(isFinal), missing };
  };
}
