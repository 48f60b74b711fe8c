import { mkdir, open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import { errorMessage } from "../../text/values.ts";
import { ownPath } from "./executables.ts";
import { openOutputPipe } from "./output-pipe.ts";
import { currentTicks, markerVariable, type ProcessTree } from "./process-tree.ts";
import { shellArguments } from "./shell.ts";
import { type ChildProcess, startProgram } from "./start-program.ts";

/** Why no command can start in this folder; `undefined` if one can. */
export async function folderProblem(cwd: string): Promise<string | undefined> {
  try {
    return (await stat(cwd)).isDirectory() ? undefined : `The working directory ${cwd} is not a directory.`;
  } catch (error) {
    return `The working directory ${cwd} cannot be used: ${errorMessage(error)}`;
  }
}

/**
 * Runs in the command's group and waits for descriptor 3 to close, which happens when our process ends for any reason. Then
 * it kills the group and all processes with the marker. It has no marker itself and ignores the signals that end commands.
 * Its programs never come from the repository.
 */
const watchdog = `
cd /
read -r line <&3
kill -TERM 0
for round in 1 2 3 4 5; do
  for file in $(LC_ALL=C grep -lsF "${markerVariable}=$1" /proc/[0-9]*/environ); do
    pid=\${file#/proc/}
    kill -KILL "\${pid%/environ}"
  done
  sleep 0.1 || sleep 1
done
kill -KILL 0
`;

/**
 * Starts the watchdog as an orphan, then becomes the shell, with the same process id and group and no unknown children or
 * descriptors. Arguments: the watchdog, the marker, the watchdog's PATH, the shell and its arguments. The command comes in the
 * environment, so that a search for its words (`pgrep -f`) does not match the future watchdog. The marker comes as an
 * argument, so that the watchdog never looks like part of the command. Signals are ignored before the command can send any.
 */
const starter = `
tinman_watchdog=$1 tinman_marker=$2 tinman_path=$3
shift 3
set -- "$@" "$tinman_command"
unset tinman_command
(
  trap "" HUP INT QUIT TERM PIPE
  ( PATH=$tinman_path exec /bin/sh -c "$tinman_watchdog" tinman-watchdog "$tinman_marker" >/dev/null 2>&1 ) &
)
export ${markerVariable}="$tinman_marker"
exec "$@" 2>&1 3<&-
`;

/**
 * Paths are judged from the canonical folder, so `PWD` must be that folder: the shell resolves `..` by the name in `PWD`.
 */
function startingIn(cwd: string, { OLDPWD: _, ...environment }: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { ...environment, PWD: cwd };
}

export interface StartedCommand {
  readonly tree: ProcessTree;
  /** Standard output and error, in the order of writing. */
  readonly output: Readable;
  readonly exit: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** Resolves when the watchdog has ended. */
  readonly unwatched: Promise<void>;
  /** Closes the streams. */
  release(): void;
}

function spawned(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
}

/** Rejects if the command cannot start. */
export async function startCommand(
  command: string,
  cwd: string,
  environment: Readonly<Record<string, string>>,
): Promise<StartedCommand> {
  const marker = crypto.randomUUID();
  const startTicks = currentTicks();
  const pipe = await openOutputPipe(cwd);
  let child: ChildProcess;
  try {
    child = startProgram("/bin/sh", ["-c", starter, "sh", watchdog, marker, ownPath(cwd), ...shellArguments()], {
      cwd,
      env: { ...startingIn(cwd, environment), tinman_command: command },
      detached: true,
      stdio: ["ignore", pipe?.writer ?? "pipe", "ignore", "pipe"],
    });
  } catch (error) {
    pipe?.reader.destroy();
    throw error;
  } finally {
    pipe?.closeWriter();
  }

  const started = spawned(child);
  // Awaited below. Without a handler now, a failed start would end this process.
  started.catch(() => undefined);
  let exited = false;
  const exit: StartedCommand["exit"] = new Promise((resolve) => {
    child.once("exit", (code, signal) => {
      exited = true;
      resolve({ code, signal });
    });
  });
  const output = pipe?.reader ?? child.stdout;
  // Without a free file descriptor, `stdio` is undefined despite its type.
  const lifeline = (child as Partial<ChildProcess>).stdio?.[3];
  // Both may fail at any time; the exit says what happened.
  output?.on("error", () => {});
  lifeline?.on("error", () => {});
  const unwatched = new Promise<void>((resolve) => lifeline?.once("close", () => resolve()));
  // Only a stream that is read reports its end.
  if (lifeline instanceof Readable) lifeline.resume();
  const release = () => {
    output?.destroy();
    lifeline?.destroy();
  };
  try {
    await started;
  } catch (error) {
    release();
    throw error;
  }
  if (child.pid === undefined || output === null || output === undefined) {
    release();
    throw new Error("The shell could not be started.");
  }
  return { tree: { pid: child.pid, marker, startTicks, hasExited: () => exited }, output, exit, unwatched, release };
}

/** Starts a detached command with its output in a private file. Rejects if it cannot start. */
export async function startDetached(
  command: string,
  cwd: string,
  outputPath: string,
  environment: Readonly<Record<string, string>>,
): Promise<number> {
  const [program, ...args] = shellArguments();
  await mkdir(dirname(outputPath), { recursive: true, mode: 0o700 });
  const file = await open(outputPath, "a", 0o600);
  try {
    const child = startProgram(program, [...args, command], {
      cwd,
      env: startingIn(cwd, environment),
      detached: true,
      stdio: ["ignore", file.fd, file.fd],
    });
    child.unref();
    await spawned(child);
    if (child.pid === undefined) throw new Error("The shell could not be started.");
    return child.pid;
  } finally {
    await file.close();
  }
}
