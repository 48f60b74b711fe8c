import type { Identity } from "../access/identity.ts";
import { deferred } from "../async/promises.ts";
import type { Engine } from "../engine/engine.ts";
import type { ServedSocket } from "../rpc/web-socket.ts";
import { type ExitCode, exitCodes, type HandledSignal, signalCodes } from "./exit-codes.ts";

/** A text stream of the process. */
export interface Output {
  readonly isTerminal: boolean;
  readonly columns: number;
  /** Resolves when the text has left this process; at once, and without effect, when the other end is gone. */
  write(text: string): Promise<void>;
  /** Aborted when nothing more can be written, with the error as its reason. `EPIPE`: the other end is gone. */
  readonly gone: AbortSignal;
}

/** What a front end sees of its process. stdout belongs to the protocol. */
export interface Io {
  readonly stdout: Output;
  readonly stderr: Output;
  /** Calls back on every signal that asks the process to end; the returned function stops that. */
  onSignal(callback: (signal: HandledSignal) => void): () => void;
}

/** Serves one client that a server has let in. May throw, which closes the client's socket. */
export type ConnectionHandler = (socket: ServedSocket, identity: Identity) => ServedConnection;

/** What serves one connection, as the server sees it. */
export interface ServedConnection {
  /** The server is about to stop: the client is told. */
  drain(): void;
  /** The other side is gone, or is being closed. Called once. Resolves when nothing of it is left. */
  closed(): Promise<void> | void;
}

/** A process's front end: returns the exit code and never ends the process itself. */
export type FrontEnd<Options> = (engine: Engine, io: Io, options: Options) => Promise<number>;

/**
 * Work that ends by itself, or when `stopped` says that it is to end. Resolves with the exit code: the first reason is the
 * one, because a reader that is given up after a signal is no broken pipe.
 */
export async function runStoppable(io: Io, work: (stopped: Promise<void>) => Promise<void>): Promise<ExitCode> {
  let code: ExitCode = exitCodes.success;
  const stopped = deferred();
  const stopListening = onStop(io, (because) => {
    if (code === exitCodes.success) code = because;
    stopped.resolve();
  });
  try {
    await work(stopped.promise);
    return code;
  } finally {
    stopListening();
  }
}

/** Calls back with the exit code when a signal asks the process to end, or nobody reads any more. The returned function stops that. */
export function onStop(io: Io, stop: (code: ExitCode) => void): () => void {
  const { gone } = io.stdout;
  const ignoreSignals = io.onSignal((signal) => stop(signalCodes[signal]));
  const leave = (): void => {
    const isClosed = (gone.reason as NodeJS.ErrnoException).code === "EPIPE";
    stop(isClosed ? exitCodes.brokenPipe : exitCodes.failed);
  };
  gone.addEventListener("abort", leave, { once: true });
  return () => {
    ignoreSignals();
    gone.removeEventListener("abort", leave);
  };
}
