import type { ChildProcessWithoutNullStreams } from "node:child_process";
import type { Stream } from "node:stream";
import { settlesWithin } from "../../async/promises.ts";
import { createStdioTransport } from "../../rpc/stdio.ts";
import type { Connection, ConnectionEnd } from "../api.ts";
import { watchIncoming } from "../connection/watched-incoming.ts";
import { keepTail, pullOutput } from "./child-output.ts";

export interface ChildConnectionOptions {
  /** The program's name in messages. */
  readonly name: string;
  /** Bytes kept of the end of stderr. */
  readonly stderrBytes: number;
  /** Longer lines are reported, not kept. */
  readonly maxLineBytes: number;
  /** How long it has to exit after its input has ended, and again after SIGTERM. */
  readonly patienceMs: number;
  /** How long other processes can keep its streams open after its exit. */
  readonly stragglersMs: number;
  /** Whether everything that it started ends with it. */
  readonly leavesNothing: boolean;
  /** Signals the process, or its whole group if it leads one. */
  kill(signal: NodeJS.Signals): void;
}

/**
 * Lines to and from a running process. It has ended once the process is gone and the reader has taken all output. Its
 * streams are closed then.
 */
export function childConnection(child: ChildProcessWithoutNullStreams, options: ChildConnectionOptions): Connection {
  const { name, maxLineBytes, patienceMs, stragglersMs } = options;
  const { stdin, stdout, stderr } = child;
  const stdinGone = new AbortController();
  const output = pullOutput(stdout, stragglersMs);
  const tail = keepTail(stderr, options.stderrBytes);
  let hasExited = false;
  let isClosed = false;
  let closing: Promise<void> | undefined;

  const exit = new Promise<Pick<ConnectionEnd, "exitCode" | "signal">>((resolve) => {
    child.once("exit", (exitCode, signal) => {
      hasExited = true;
      output.writerGone();
      resolve({ exitCode, signal });
    });
  });
  // For example, a signal could not be sent.
  child.on("error", () => {});

  stdin.on("error", (error) => stdinGone.abort(error));
  stdin.once("close", () => stdinGone.abort(Object.assign(new Error("the process is gone"), { code: "EPIPE" })));
  const transport = createStdioTransport(
    output,
    {
      gone: stdinGone.signal,
      write: (text) =>
        new Promise((resolve, reject) => {
          stdin.write(text, (error) => (error ? reject(error) : resolve()));
        }),
    },
    { maxLineBytes },
  );
  const { incoming, over, giveUp } = watchIncoming(transport.incoming);

  async function end(): Promise<ConnectionEnd> {
    const how = await exit;
    await Promise.all([over, settlesWithin(stragglersMs, tail.closed)]);
    if (options.leavesNothing) options.kill("SIGKILL");
    await Promise.all([stdin, stdout, stderr].map(destroyed));
    return { reason: isClosed ? `The connection to ${name} was closed.` : reasonOf(how), ...how, stderr: tail.text() };
  }

  function reasonOf({ exitCode, signal }: Pick<ConnectionEnd, "exitCode" | "signal">): string {
    return signal ? `${name} was ended by ${signal}.` : `${name} ended with exit code ${exitCode}.`;
  }

  const ended = end();

  async function closeNow(): Promise<void> {
    let isForced = false;
    isClosed = !hasExited;
    transport.close();
    giveUp();
    // Lines sent before must arrive.
    void transport.drained().then(() => stdin.end());
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      if (await settlesWithin(patienceMs, exit)) break;
      options.kill(signal);
      isForced = true;
    }
    // It may have exited while others in its group ignore the signal.
    if (isForced) options.kill("SIGKILL");
    await ended;
  }

  return {
    incoming,
    ended,
    gone: transport.gone,
    room: transport.room,
    drained: transport.drained,
    send(line) {
      if (closing === undefined) transport.send(line);
    },
    close() {
      closing ??= closeNow();
      return closing;
    },
  };
}

/** Resolves when the stream is closed. */
function destroyed(stream: Stream & { destroy(): unknown; readonly closed: boolean }): Promise<void> {
  return new Promise((resolve) => {
    if (stream.closed) return resolve();
    stream.once("close", resolve);
    stream.destroy();
  });
}
