import type { Engine } from "../core/engine.ts";
import type { HandledSignal } from "./exit-codes.ts";

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

/** A process's front end: returns the exit code and never ends the process itself. */
export type FrontEnd<Options> = (engine: Engine, io: Io, options: Options) => Promise<number>;
