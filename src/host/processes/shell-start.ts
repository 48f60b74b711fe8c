import { mkdir, open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import { ownPath } from "./executables.ts";
import { openOutputPipe } from "./output-pipe.ts";
import { currentTicks, markerVariable, type ProcessTree } from "./process-tree.ts";
import { shellArguments } from "./shell.ts";
import { type ChildProcess, startProgram } from "./start-program.ts";

/** Why nothing can be started in this folder, in words; `undefined` when it can. */
export async function folderProblem(cwd: string): Promise<string | undefined> {
  try {
    return (await stat(cwd)).isDirectory() ? undefined : `The working directory ${cwd} is not a directory.`;
  } catch (error) {
    return `The working directory ${cwd} cannot be used: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/**
 * Sits in the command's group and waits for the other end of descriptor 3 to close, which is when our process is gone,
 * however it went. Then it ends the group and all that carries the marker. It is itself without the marker, and deaf to the
 * signals with which a command may be asked to end. Its programs are not looked for in the repository.
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
 * Starts the watchdog as nobody's child, then becomes the shell: it keeps the process id and the group, and has neither a
 * child nor a descriptor that it does not know of. Arguments: the watchdog, the marker, the PATH on which
 * the watchdog finds its programs, the shell and its arguments. The command comes in the environment: until it has become
 * the watchdog, the process has our arguments, and who searches for a word of the command must not find it there.
 * The marker comes as an argument so that the watchdog is at no moment taken for a part of the command; and it ignores
 * signals before the command can send any.
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
 * Paths are judged from the canonical folder, so the shell must not go by another name of it: it takes `..` for the parent
 * in the name that `PWD` gives.
 */
function startingIn(cwd: string, { OLDPWD: _, ...environment }: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { ...environment, PWD: cwd };
}

export interface StartedCommand {
  readonly tree: ProcessTree;
  /** Standard output and error, in the order in which they were written. */
  readonly output: Readable;
  readonly exit: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** Settles when the watchdog is gone. */
  readonly unwatched: Promise<void>;
  /** Lets go of everything. */
  release(): void;
}

function spawned(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
}

/** Rejects when the command cannot be started. */
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
  // Awaited below; without a listener at once, a failed start would end this process.
  started.catch(() => undefined);
  let exited = false;
  const exit: StartedCommand["exit"] = new Promise((resolve) => {
    child.once("exit", (code, signal) => {
      exited = true;
      resolve({ code, signal });
    });
  });
  const output = pipe?.reader ?? child.stdout;
  // Without a free file descriptor there are no streams, whatever the types say.
  const lifeline = (child as Partial<ChildProcess>).stdio?.[3];
  // Both ends may vanish at any time; what there is to know about it comes with the exit.
  output?.on("error", () => {});
  lifeline?.on("error", () => {});
  const unwatched = new Promise<void>((resolve) => lifeline?.once("close", () => resolve()));
  // Nothing is ever said on it, but only a stream that is read notices its end.
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

/** Starts a command in a session of its own, with its output in a private file, and lets it go. Rejects when it cannot. */
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
