import type { CommandResult } from "../../engine/ports.ts";
import { createSpoolFile, type SpoolFile } from "./spool-file.ts";

/** Keeps endless output from filling the disk. */
const spoolCapBytes = 256 * 1024 * 1024;
const newline = 0x0a;

export type KeptOutput = Omit<CommandResult, "end">;

export interface CommandOutput {
  /** Takes the next bytes. Await it, so that the command does not outrun the disk. */
  push(bytes: Uint8Array): Promise<void>;
  totalBytes(): number;
  /** The last `maxBytes` so far. */
  latest(maxBytes: number): string;
  finish(): Promise<KeptOutput>;
}

interface OutputLimits {
  readonly keepBytes: number;
  readonly spoolPath: string;
  readonly spoolCapBytes?: number;
}

function countNewlines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < bytes.length; at += 1) if (bytes[at] === newline) count += 1;
  return count;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** The length without an incomplete UTF-8 character at the end. */
function wholeCharactersEnd(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(4, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

function wholeCharactersStart(bytes: Uint8Array): number {
  let start = 0;
  while (start < Math.min(3, bytes.length) && isContinuation(bytes[start])) start += 1;
  return start;
}

function decode(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

/** Grows up to a limit, so that short output needs little memory. */
function createHead(limit: number) {
  let buffer = Buffer.allocUnsafe(Math.min(limit, 4096));
  let length = 0;
  return {
    /** Returns how many bytes fit. */
    add(bytes: Uint8Array): number {
      const taken = Math.min(limit - length, bytes.length);
      if (length + taken > buffer.length) {
        const larger = Buffer.allocUnsafe(Math.min(limit, Math.max(buffer.length * 2, length + taken)));
        buffer.copy(larger, 0, 0, length);
        buffer = larger;
      }
      buffer.set(bytes.subarray(0, taken), length);
      length += taken;
      return taken;
    },
    isFull: () => length === limit,
    bytes: () => buffer.subarray(0, length),
  };
}

/** The last `limit` bytes, in a ring buffer. */
function createTail(limit: number) {
  let ring: Buffer | undefined;
  let end = 0;
  let length = 0;
  return {
    add(bytes: Uint8Array): void {
      if (limit === 0 || bytes.length === 0) return;
      ring ??= Buffer.allocUnsafe(limit);
      const kept = bytes.length > limit ? bytes.subarray(bytes.length - limit) : bytes;
      const first = Math.min(kept.length, limit - end);
      ring.set(kept.subarray(0, first), end);
      ring.set(kept.subarray(first), 0);
      end = (end + kept.length) % limit;
      length = Math.min(limit, length + kept.length);
    },
    last(count: number): Buffer {
      const wanted = Math.min(count, length);
      if (ring === undefined || wanted === 0) return Buffer.alloc(0);
      const start = (end - wanted + limit) % limit;
      if (start + wanted <= limit) return Buffer.from(ring.subarray(start, start + wanted));
      return Buffer.concat([ring.subarray(start), ring.subarray(0, start + wanted - limit)]);
    },
    length: () => length,
  };
}

/**
 * Keeps the head and the tail of a command's output in memory, `keepBytes` each, and all of it in a file once the head is
 * full.
 */
export function createCommandOutput(limits: OutputLimits): CommandOutput {
  const head = createHead(limits.keepBytes);
  const tail = createTail(limits.keepBytes);
  let spool: SpoolFile | undefined;
  let totalBytes = 0;
  let totalNewlines = 0;

  return {
    async push(bytes) {
      totalBytes += bytes.length;
      totalNewlines += countNewlines(bytes);
      const rest = bytes.subarray(head.add(bytes));
      if (rest.length === 0) return;
      tail.add(rest);
      if (spool === undefined) {
        spool = createSpoolFile(limits.spoolPath, limits.spoolCapBytes ?? spoolCapBytes);
        await spool.write(head.bytes());
      }
      await spool.write(rest);
    },

    totalBytes: () => totalBytes,

    latest(maxBytes) {
      const fromTail = tail.last(maxBytes);
      const fromHead = head.bytes();
      const missing = head.isFull() && tail.length() === limits.keepBytes ? 0 : maxBytes - fromTail.length;
      const bytes = missing === 0 ? fromTail : Buffer.concat([fromHead.subarray(-missing), fromTail]);
      return decode(bytes.subarray(wholeCharactersStart(bytes), wholeCharactersEnd(bytes)));
    },

    async finish() {
      const spooled = (await spool?.finish()) ?? false;
      const kept = spooled ? { fullTextPath: limits.spoolPath } : {};
      const end = tail.last(limits.keepBytes);
      if (totalBytes === head.bytes().length + end.length) {
        const whole = decode(Buffer.concat([head.bytes(), end]));
        return { head: whole, tail: "", skippedBytes: 0, skippedLines: 0, totalBytes, ...kept };
      }
      const headBytes = head.bytes().subarray(0, wholeCharactersEnd(head.bytes()));
      const tailBytes = end.subarray(wholeCharactersStart(end));
      return {
        head: decode(headBytes),
        tail: decode(tailBytes),
        skippedBytes: totalBytes - headBytes.length - tailBytes.length,
        skippedLines: totalNewlines - countNewlines(headBytes) - countNewlines(tailBytes),
        totalBytes,
        ...kept,
      };
    },
  };
}
