import { setMaxListeners } from "node:events";
import type { HandledSignal } from "../frontends/exit-codes.ts";
import { signalCodes } from "../frontends/exit-codes.ts";
import type { Io, Output } from "../frontends/front-end.ts";

/** How long a reader that has stopped reading can hold up the exit. */
const drainMs = 3_000;

/** This process's streams and signals. A second signal, or a stalled reader, ends the wait. */
export function processIo(): Io {
  const stopping = new AbortController();
  // One listener per pending write, so thousands are normal.
  setMaxListeners(0, stopping.signal);
  return {
    stdout: output(process.stdout, stopping.signal),
    stderr: output(process.stderr, stopping.signal),
    onSignal(callback) {
      const listeners = (Object.keys(signalCodes) as HandledSignal[]).map((signal) => {
        const listener = (): void => {
          if (stopping.signal.aborted) process.exit(signalCodes[signal]);
          stopping.abort();
          callback(signal);
        };
        process.on(signal, listener);
        return { signal, listener };
      });
      return () => {
        for (const { signal, listener } of listeners) process.removeListener(signal, listener);
      };
    },
  };
}

function output(stream: NodeJS.WriteStream, stopping: AbortSignal): Output {
  const gone = new AbortController();
  stream.on("error", (error) => gone.abort(error));
  return {
    isTerminal: stream.isTTY === true,
    get columns() {
      return stream.columns ?? 80;
    },
    gone: gone.signal,
    write(text) {
      if (gone.signal.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        let timer: ReturnType<typeof setTimeout> | undefined;
        const giveUp = (): void => {
          timer = setTimeout(() => {
            gone.abort(Object.assign(new Error("the reader is gone"), { code: "EPIPE" }));
            resolve();
          }, drainMs).unref();
        };
        stream.write(text, () => {
          // The reader is still there.
          clearTimeout(timer);
          stopping.removeEventListener("abort", giveUp);
          resolve();
        });
        if (stopping.aborted) giveUp();
        else stopping.addEventListener("abort", giveUp, { once: true });
      });
    },
  };
}
