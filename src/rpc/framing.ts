/** One line of the other side, or the report of one that was too long to be kept. */
export type Frame =
  /** `isMalformed`: its bytes are not UTF-8, and the text has replacement characters. */
  | { readonly type: "line"; readonly text: string; readonly isMalformed?: true }
  | { readonly type: "too_long"; readonly bytes: number };

/**
 * Bytes to lines. A line feed alone ends a line: JSON may hold U+2028 and the like. A byte order mark before a line and a
 * carriage return after it are dropped, and blank lines are passed over. The frames do not depend on how the bytes are cut.
 */
export interface LineReader {
  /** The lines that this chunk has finished. The chunk is not kept. */
  push(chunk: Uint8Array): readonly Frame[];
  /** The last line, when no line feed came after it. */
  end(): readonly Frame[];
}

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

/** A line counts with all its bytes but the line feed. One of more than `maxLineBytes` is reported when it has ended. */
export function createLineReader({ maxLineBytes = 32 * mebibyte }: { maxLineBytes?: number } = {}): LineReader {
  const decoder = new TextDecoder();
  let kept = nothing;
  /** Of the unfinished line; of one that is too long, also what was not kept. */
  let bytesSoFar = 0;

  // The buffer doubles, so that a line of many chunks is copied about twice, however small they are.
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
    push(chunk) {
      const frames: Frame[] = [];
      let start = 0;
      for (;;) {
        // However many blank lines there are, they cost next to nothing.
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
    end() {
      const frames: Frame[] = [];
      finishKept(frames);
      return frames;
    },
  };
}
