import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { isAbsolute } from "node:path";

export type { ChildProcess, ChildProcessByStdio, ChildProcessWithoutNullStreams } from "node:child_process";

/** `env` is the program's whole environment. */
type ProgramStart = Omit<SpawnOptions, "env" | "shell" | "argv0"> & {
  readonly env: Readonly<Record<string, string | undefined>>;
};

/**
 * The only place that starts a program. It requires an absolute path, because PATH may contain the repository's programs,
 * and an explicit environment, because ours contains credentials. Throws, or emits `error`, as `spawn` does.
 */
export function startProgram<Started extends ChildProcess = ChildProcess>(
  file: string,
  args: readonly string[],
  options: ProgramStart,
): Started {
  if (!isAbsolute(file)) throw new Error(`A program must be started by its absolute path, not as ${file}.`);
  return spawn(file, [...args], { ...options, env: { ...options.env } }) as Started;
}
