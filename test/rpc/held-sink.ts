import type { TextSink } from "../../src/rpc/line-writer.ts";

export interface HeldSink extends TextSink {
  /** Every write so far. */
  readonly written: readonly string[];
  /** Ends the write that is under way, with an error if one is given. */
  release(error?: Error): void;
  /** How many writes were under way together, at most. */
  mostAtOnce(): number;
  lose(reason: Error): void;
}

/** A sink whose writes end when the test says so. */
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

/** Until all that can go on without the test has gone on. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Whether a promise is fulfilled already. */
export async function isDone(promise: Promise<unknown> | undefined): Promise<boolean> {
  let done = false;
  void promise?.then(() => {
    done = true;
  });
  await settled();
  return done;
}
