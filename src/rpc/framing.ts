/** A line from the peer, or a notice that one was too long and was dropped. */
export type Frame =
  /** `isMalformed`: not UTF-8, so the text has replacement characters. */
  | { readonly type: "line"; readonly text: string; readonly isMalformed?: true }
  | { readonly type: "too_long"; readonly bytes: number };

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const mebibyte = 1024 * 1024;
const smallBuffer = 64 * 1024;
const nothing = new Uint8Array(0);

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/**
 * Splits bytes into lines, independent of chunk boundaries. Only LF ends a line, because JSON can contain U+2028. Drops
 * byte order marks, carriage returns and blank lines. Longer lines than `maxLineBytes` are reported.
 */
export function createLineReader({ maxLineBytes = 32 * mebibyte }: { maxLineBytes?: number } = {}) {
  const decoder = new TextDecoder();
  let kept = nothing;
  /** Length of the unfinished line, including dropped bytes of one that is too long. */
  let bytesSoFar = 0;

  // The buffer doubles, so copying stays linear for any chunk size.
  function keep(bytes: Uint8Array): void {
    const start = bytesSoFar;
    bytesSoFar += bytes.length;
    if (bytesSoFar > maxLineBytes) {
      kept = nothing;
      return;
    }
    if (bytesSoFar > kept.length) {
      const larger = new Uint8Array(Math.min(maxLineBytes, Math.max(bytesSoFar, 2 * kept.length, smallBuffer)));
      larger.set(kept.subarray(0, start));
      kept = larger;
    }
    kept.set(bytes, start);
  }

  function finishKept(frames: Frame[]): void {
    if (bytesSoFar > maxLineBytes) frames.push({ type: "too_long", bytes: bytesSoFar });
    else addLine(frames, kept.subarray(0, bytesSoFar));
    bytesSoFar = 0;
    if (kept.length > smallBuffer) kept = nothing;
  }

  function addLine(frames: Frame[], bytes: Uint8Array): void {
    const end = bytes[bytes.length - 1] === carriageReturn ? bytes.length - 1 : bytes.length;
    const text = decoder.decode(bytes.subarray(0, end));
    if (text.trim() === "") return;
    const isMalformed = text.includes("\ufffd") && !isUtf8(bytes.subarray(0, end));
    frames.push(isMalformed ? { type: "line", text, isMalformed } : { type: "line", text });
  }

  return {
    /** Returns the lines completed by this chunk. Copies what it keeps. */
    push(chunk: Uint8Array): readonly Frame[] {
      const frames: Frame[] = [];
      let start = 0;
      for (;;) {
        // Fast path for blank lines.
        while (bytesSoFar === 0 && chunk[start] === lineFeed) start++;
        const end = chunk.indexOf(lineFeed, start);
        if (end === -1) break;
        const bytes = chunk.subarray(start, end);
        if (bytesSoFar === 0 && bytes.length <= maxLineBytes) {
          addLine(frames, bytes);
        } else {
          keep(bytes);
          finishKept(frames);
        }
        start = end + 1;
      }
      if (start < chunk.length) keep(chunk.subarray(start));
      return frames;
    },
    /** Returns the last line if it has no line feed. */
    end(): readonly Frame[] {
      const frames: Frame[] = [];
      finishKept(frames);
      return frames;
    },
  };
}
