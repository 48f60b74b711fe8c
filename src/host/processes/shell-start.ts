import { type FileHandle, mkdir, open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { Duplex, Readable } from "node:stream";
import { errorMessage } from "../../text/values.ts";
import type { ContainedStart } from "../sandbox/contained-start.ts";
import { followLauncher, type LauncherStatus, lastReports } from "../sandbox/launcher-status.ts";
import { ownPath } from "./executables.ts";
import { openOutputPipe } from "./output-pipe.ts";
import { initBelow, type Started } from "./process-status.ts";
import { currentTicks, type ProcessTree } from "./process-tree.ts";
import { shellArguments } from "./shell.ts";
import { type ChildProcess, startProgram } from "./start-program.ts";
import { starterArguments } from "./starter.ts";

/** Why no command can start in this folder; `undefined` if one can. */
export async function folderProblem(cwd: string): Promise<string | undefined> {
  try {
    return (await stat(cwd)).isDirectory() ? undefined : `The working directory ${cwd} is not a directory.`;
  } catch (error) {
    return `The working directory ${cwd} cannot be used: ${errorMessage(error)}`;
  }
}

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
  /** Of a contained command. */
  readonly launcher: LauncherStatus | undefined;
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

type WatchedCommand = Omit<StartedCommand, "output"> & { readonly child: ChildProcess };

interface Spawning {
  /** A text for the shell; or a server's program and its arguments, whose streams are all pipes. */
  readonly command: string | readonly [string, ...string[]];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly contained?: ContainedStart | undefined;
  /** The descriptor for the output. Default: a socket. */
  readonly output?: number | undefined;
}

/** Starts a command with its watchdog. Rejects if it cannot start. */
export async function startWatched(spawning: Spawning): Promise<WatchedCommand> {
  const { command, cwd, environment, contained, output } = spawning;
  const marker = crypto.randomUUID();
  const startTicks = currentTicks();
  const path = ownPath(cwd);
  const isServer = typeof command !== "string";
  const program = isServer ? command : shellArguments();
  const starting = { marker, path, program, isServer, ...(contained === undefined ? {} : { contained }) };
  const own = isServer ? {} : { tinman_command: command };
  const child = startProgram("/bin/sh", starterArguments(starting), {
    cwd,
    env: { ...startingIn(cwd, environment), ...contained?.environment, ...own },
    detached: true,
    stdio: [
      isServer ? "pipe" : "ignore",
      output ?? "pipe",
      isServer ? "pipe" : "ignore",
      "pipe",
      ...(contained === undefined ? [] : (["pipe"] as const)),
    ],
  });
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
  // Without a free file descriptor, `stdio` is undefined despite its type.
  const [, , , lifeline, reports] = (child as Partial<ChildProcess>).stdio ?? [];
  // All may fail at any time; the exit says what happened.
  for (const stream of [child.stdin, child.stdout, child.stderr, lifeline, reports]) stream?.on("error", () => {});
  const unwatched = new Promise<void>((resolve) => lifeline?.once("close", () => resolve()));
  // Only a stream that is read reports its end.
  if (lifeline instanceof Readable) lifeline.resume();
  const finder =
    contained === undefined || contained.ownProcesses === false
      ? undefined
      : {
          findInit: async (reported: number) =>
            contained.ownProcesses === "here" ? reported : initBelow(child.pid ?? 0),
          onInit({ pid, startTicks }: Started) {
            if (lifeline instanceof Duplex) lifeline.write(`${pid} ${startTicks}\n`);
          },
        };
  const launcher =
    contained !== undefined && reports instanceof Duplex
      ? followLauncher(reports, contained.options, finder)
      : undefined;
  const release = () => {
    lifeline?.destroy();
    reports?.destroy();
  };
  try {
    await started;
    if (child.pid === undefined) throw new Error("The shell could not be started.");
  } catch (error) {
    release();
    throw error;
  }
  const tree = { pid: child.pid, marker, startTicks, hasExited: () => exited, init: () => launcher?.init() };
  const reported = launcher === undefined ? exit : exit.then((end) => lastReports(launcher).then(() => end));
  return { child, tree, exit: reported, launcher, unwatched, release };
}

/** Rejects if the command cannot start. */
export async function startCommand(
  command: string,
  cwd: string,
  environment: Readonly<Record<string, string>>,
  contained?: ContainedStart,
): Promise<StartedCommand> {
  const pipe = await openOutputPipe(cwd);
  let started: WatchedCommand;
  try {
    started = await startWatched({ command, cwd, environment, contained, output: pipe?.writer });
  } catch (error) {
    pipe?.reader.destroy();
    throw error;
  } finally {
    pipe?.closeWriter();
  }
  const output = pipe?.reader ?? started.child.stdout;
  output?.on("error", () => {});
  const release = () => {
    output?.destroy();
    started.release();
  };
  if (output === null) {
    release();
    throw new Error("The shell could not be started.");
  }
  const { tree, exit, launcher, unwatched } = started;
  return { tree, output, exit, launcher, unwatched, release };
}

/** Private, and continued if it exists. */
export async function openOutputFile(path: string): Promise<FileHandle> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  return open(path, "a", 0o600);
}

/** Starts a detached command with its output in a private file. Rejects if it cannot start. */
export async function startDetached(
  command: string,
  cwd: string,
  outputPath: string,
  environment: Readonly<Record<string, string>>,
): Promise<number> {
  const [program, ...args] = shellArguments();
  const file = await openOutputFile(outputPath);
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
