import { setMaxListeners } from "node:events";
import type { HandledSignal } from "../frontends/exit-codes.ts";
import { signalCodes } from "../frontends/exit-codes.ts";
import type { Io, Output } from "../frontends/front-end.ts";

/** How long a reader that has stopped reading may hold up a process that was told to end. */
const drainMs = 3_000;

/** This process's streams and signals. A second signal, or a reader that never reads again, does not wait any longer. */
export function processIo(): Io {
  const stopping = new AbortController();
  // One for every line that waits to be read: there may be thousands, and that is no leak.
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
            gone.abort(Object.assign(new Error("nobody reads any more"), { code: "EPIPE" }));
            resolve();
          }, drainMs).unref();
        };
        stream.write(text, () => {
          // It was read: whoever reads is still there, however long the end takes.
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
