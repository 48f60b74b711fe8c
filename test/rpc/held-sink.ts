import type { TextSink } from "../../src/rpc/line-writer.ts";

export interface HeldSink extends TextSink {
  /** All writes so far. */
  readonly written: readonly string[];
  /** Completes or fails the oldest pending write. */
  release(error?: Error): void;
  /** The maximum number of concurrent writes. */
  mostAtOnce(): number;
  lose(reason: Error): void;
}

/** A sink whose writes complete on demand. */
export function createHeldSink(): HeldSink {
  const gone = new AbortController();
  const written: string[] = [];
  const open: { resolve(): void; reject(error: Error): void }[] = [];
  let most = 0;
  return {
    written,
    gone: gone.signal,
    write(text) {
      written.push(text);
      return new Promise((resolve, reject) => {
        open.push({ resolve, reject });
        most = Math.max(most, open.length);
      });
    },
    release(error) {
      const write = open.shift();
      if (error === undefined) write?.resolve();
      else write?.reject(error);
    },
    mostAtOnce: () => most,
    lose: (reason) => gone.abort(reason),
  };
}

/** Resolves when all pending microtasks have run. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Whether a promise is fulfilled. */
export async function isDone(promise: Promise<unknown> | undefined): Promise<boolean> {
  let done = false;
  void promise?.then(() => {
    done = true;
  });
  await settled();
  return done;
}
