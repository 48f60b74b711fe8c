import { closeSync, openSync, readSync } from "node:fs";
import type { Clock, Ids } from "../engine/ports.ts";

/** `performance.now()` loads a dozen of Node's modules at start-up; this loads none. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1_000_000;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: monotonicMs,
  after: (ms, callback, { background = false } = {}) => {
    const timer = setTimeout(callback, ms);
    if (background) timer.unref();
    return () => clearTimeout(timer);
  },
};

const idBytes = 16;
const idsAtOnce = 32;

/** Random UUIDs from the system's source, for the same reason. Falls back to Node's crypto. */
export function createIds(source = "/dev/urandom"): Ids {
  let bytes: Buffer = Buffer.alloc(0);
  let from = 0;
  return {
    next: () => {
      if (from + idBytes > bytes.length) {
        const fresh = randomBytes(source);
        if (fresh === undefined) return crypto.randomUUID();
        bytes = fresh;
        from = 0;
      }
      from += idBytes;
      return uuid(bytes.subarray(from - idBytes, from));
    },
  };
}

function randomBytes(source: string): Buffer | undefined {
  try {
    const file = openSync(source, "r");
    try {
      const bytes = Buffer.alloc(idBytes * idsAtOnce);
      return readSync(file, bytes) === bytes.length ? bytes : undefined;
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}

/** Version 4. */
function uuid(bytes: Buffer): string {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
