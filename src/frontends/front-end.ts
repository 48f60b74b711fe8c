import type { Identity } from "../access/identity.ts";
import { deferred } from "../async/promises.ts";
import type { Engine } from "../engine/engine.ts";
import type { ServedSocket } from "../rpc/web-socket.ts";
import { type ExitCode, exitCodes, type HandledSignal, signalCodes } from "./exit-codes.ts";

/** A text stream of the process. */
export interface Output {
  readonly isTerminal: boolean;
  readonly columns: number;
  /** Resolves when the text has left this process; if the reader is gone, at once and without effect. */
  write(text: string): Promise<void>;
  /** Aborted when writing is no longer possible, with the error as its reason. `EPIPE`: the reader is gone. */
  readonly gone: AbortSignal;
}

/** A front end's view of its process. stdout belongs to the protocol. */
export interface Io {
  readonly stdout: Output;
  readonly stderr: Output;
  /** Calls back on every signal that asks the process to end. Returns an unsubscribe function. */
  onSignal(callback: (signal: HandledSignal) => void): () => void;
}

/** Serves one client that a server has admitted. Can throw, which closes the client's socket. */
export type ConnectionHandler = (socket: ServedSocket, identity: Identity) => ServedConnection;

/** A connection's handler, as the server sees it. */
export interface ServedConnection {
  /** The server is about to stop; the handler sends that to the client. */
  drain(): void;
  /** The client is gone, or is being disconnected. Called once. Resolves when everything is cleaned up. */
  closed(): Promise<void> | void;
}

/** A process's front end: returns the exit code and never exits the process itself. */
export type FrontEnd<Options> = (engine: Engine, io: Io, options: Options) => Promise<number>;

/**
 * Runs work until it ends or `stopped` asks it to. Resolves with the exit code; the first reason wins, so a reader that
 * leaves after a signal doesn't count as a broken pipe.
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

/**
 * Calls back with the exit code when a signal asks the process to end, or the reader is gone. Returns an unsubscribe
 * function.
 */
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
