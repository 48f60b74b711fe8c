import { isUtf8 } from "node:buffer";
import type { Files } from "../../engine/files.ts";
import { jsonBytes } from "../../text/output.ts";
import { textStart } from "../../text/text-cut.ts";

const chunkBytes = 256 * 1024;
const lineCharacters = 2000;
/** Enough for `lineCharacters` in any script, plus a malformed last character. */
const keptLineBytes = lineCharacters * 4;

export interface LineWindow {
  readonly lines: readonly string[];
  /** The text continues after the last of `lines`. */
  readonly more: boolean;
  /** The last line read ended with a line feed. */
  readonly finalNewline: boolean;
  /** Lines up to where reading stopped, including skipped ones. */
  readonly passed: number;
  /** Some bytes were not UTF-8. */
  readonly invalid: boolean;
}

interface WindowRequest {
  readonly skip: number;
  readonly limit: number;
  /** Limit for the lines' text, in bytes of its JSON form. One line always fits. */
  readonly maxJsonBytes: number;
}

/** A file's bytes in pieces. */
export async function* piecesOf(files: Files, path: string): AsyncGenerator<Uint8Array> {
  for (let from = 0; ; ) {
    const piece = await files.read(path, { from, maxBytes: chunkBytes });
    if (piece.length === 0) return;
    from += piece.length;
    yield piece;
  }
}

/**
 * Takes some lines of a UTF-8 text of any size, reading no more than needed. Cuts long lines. Rejects if `signal`
 * aborts, and as `pieces` does.
 */
export async function readLineWindow(
  pieces: AsyncIterable<Uint8Array>,
  request: WindowRequest,
  signal: AbortSignal,
): Promise<LineWindow> {
  const lines: string[] = [];
  let passed = 0;
  let used = 0;
  let invalid = false;
  let line: Buffer[] = [];
  let keptBytes = 0;
  let lineBytes = 0;

  function extendLine(part: Buffer): void {
    lineBytes += part.length;
    if (passed < request.skip || keptBytes >= keptLineBytes) return;
    const kept = part.subarray(0, keptLineBytes - keptBytes);
    keptBytes += kept.length;
    line.push(kept);
  }

  /** False if the line no longer fits. */
  function closeLine(): boolean {
    if (passed >= request.skip) {
      const bytes = Buffer.concat(line, keptBytes);
      const text = shorten(bytes, lineBytes, passed === 0);
      const cost = jsonBytes(text) + 2;
      if (lines.length > 0 && used + cost > request.maxJsonBytes) return false;
      used += cost;
      lines.push(text);
      if (lineBytes === keptBytes && !isUtf8(bytes)) invalid = true;
    }
    passed += 1;
    line = [];
    keptBytes = 0;
    lineBytes = 0;
    return true;
  }

  let finalNewline = false;
  signal.throwIfAborted();
  for await (const piece of pieces) {
    signal.throwIfAborted();
    const chunk = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    for (let at = 0; at < chunk.length; ) {
      if (lines.length >= request.limit) return { lines, more: true, finalNewline, passed, invalid };
      const feed = chunk.indexOf(0x0a, at);
      extendLine(chunk.subarray(at, feed === -1 ? chunk.length : feed));
      finalNewline = feed !== -1;
      if (feed === -1) break;
      if (!closeLine()) return { lines, more: true, finalNewline, passed, invalid };
      at = feed + 1;
    }
  }
  const more = !finalNewline && lineBytes > 0 && !closeLine();
  return { lines, more, finalNewline, passed, invalid };
}

function shorten(bytes: Buffer, lineBytes: number, first: boolean): string {
  const decoded = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  const text = first && decoded.startsWith("\uFEFF") ? decoded.slice(1) : decoded;
  if (text.length <= lineCharacters && bytes.length === lineBytes) return text;
  const kept = textStart(text, lineCharacters);
  return `${kept}… [line cut: ${lineBytes - Buffer.byteLength(kept)} more bytes]`;
}
