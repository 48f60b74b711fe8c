import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { isAbsolute } from "node:path";

export type { ChildProcess, ChildProcessByStdio, ChildProcessWithoutNullStreams } from "node:child_process";

/** `env` is all that the program gets of the environment. */
export type ProgramStart = Omit<SpawnOptions, "env" | "shell" | "argv0"> & {
  readonly env: Readonly<Record<string, string | undefined>>;
};

/**
 * The only place where this program starts another one. It must be named by its absolute path, and gets the environment
 * that was chosen for it: a bare name is looked up on a PATH that may hold programs of the repository, and the environment
 * of this process holds keys. Throws, or emits `error`, as `spawn` does.
 */
export function startProgram<Started extends ChildProcess = ChildProcess>(
  file: string,
  args: readonly string[],
  options: ProgramStart,
): Started {
  if (!isAbsolute(file)) throw new Error(`A program must be started by its absolute path, not as ${file}.`);
  return spawn(file, [...args], { ...options, env: { ...options.env } }) as Started;
}
