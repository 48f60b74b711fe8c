import type { Contained } from "../containment.ts";

/** How a server's program is started. */
export interface ServerProgramSpec {
  /** A name to look up in `PATH`, outside `cwd`; or a path, which can be relative to `cwd`. */
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the environment of commands. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** A program that cannot be contained like this does not start. */
  readonly contained?: Contained;
}

/** A running program that talks over its standard input and output. It never outlives this process. */
export interface ServerProgram {
  /** Its standard output. Can be read once; a slow reader slows the program. */
  readonly output: AsyncIterable<Uint8Array>;
  /** Resolves when the system has taken the text. Rejects if the program no longer reads. */
  write(text: string): Promise<void>;
  /** The end of its standard error: untrusted text of limited length. */
  errorTail(): string;
  /** Resolves when it has exited, after its last output was read or has stopped coming. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** Ends it and all that it started: closes its input, then SIGTERM, then SIGKILL. Idempotent; never rejects. */
  end(): Promise<void>;
}

/** Rejects with a sentence if the program cannot start. */
export type StartServerProgram = (spec: ServerProgramSpec) => Promise<ServerProgram>;
