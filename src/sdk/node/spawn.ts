import { accessSync, constants, existsSync, statSync } from "node:fs";
import { basename, isAbsolute, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { Connect, Connection } from "../api.ts";
import { aListOfStrings, aNumberFrom, anObject, aString, type Checks, checkEach } from "../checks.ts";
import { defaultMaxLineBytes } from "../connection/limits.ts";
import { SdkError } from "../errors.ts";
import { type ChildConnectionOptions, childConnection } from "./child-connection.ts";

export interface SpawnOptions {
  /**
   * `tinman`, the default, is the program of this package. A path that ends in .js, .mjs or .cjs is run by this Node; any
   * other path, and a name that is looked for on PATH such as `droid`, is a program.
   */
  readonly executable?: "tinman" | "droid" | (string & {});
  /** Behind those that choose the protocol. */
  readonly args?: readonly string[];
  /** A whole command line instead, which the shell runs as it is written; what it starts is ended with it. */
  readonly command?: string;
  /** The folder it is started in; else that of this process. */
  readonly cwd?: string;
  /** Added to the environment of this process; `undefined` takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** How much of the end of its stderr is kept; 16 KiB. */
  readonly stderrBytes?: number;
  /** A line of its output with more is passed over, and told to `onWarning`; 512 MiB. */
  readonly maxLineBytes?: number;
}

export const spawnChecks: Checks<keyof SpawnOptions> = {
  executable: ["the name or the path of a program", (value) => typeof value === "string" && value !== ""],
  args: aListOfStrings,
  command: aString,
  cwd: aString,
  env: anObject,
  stderrBytes: aNumberFrom(0),
  maxLineBytes: aNumberFrom(1),
};

export type SpawnBounds = Pick<ChildConnectionOptions, "patienceMs" | "stragglersMs">;

const protocolArgs = ["exec", "--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"];

/** Starts a backend for each connection. The signal given to `connect` ends the start alone. */
export function spawnBackend(
  options: SpawnOptions = {},
  { patienceMs = 2_000, stragglersMs = 1_000 }: Partial<SpawnBounds> = {},
): Connect {
  checkEach("spawnBackend", options, spawnChecks);
  const { executable = "tinman", args = [], command, cwd, env = {} } = options;
  const { stderrBytes = 16 * 1024, maxLineBytes = defaultMaxLineBytes } = options;
  return async (signal) => {
    signal?.throwIfAborted();
    const program = command === undefined ? findProgram(executable) : { name: command, file: command };
    if (program.script !== undefined && !existsSync(program.script)) throw new SdkError(missing(program));
    const before = program.script === undefined ? [] : [program.script];
    const isShell = command !== undefined;
    // A group of its own: what a terminal sends to this program's, as with Ctrl-C, is for this program to decide on. And
    // a shell may stay, or start several: they are ended as one.
    const isGroup = process.platform !== "win32";
    // Whoever only reads, or speaks over a socket, does not wait for it.
    const { spawn } = await import("node:child_process");
    const connection = await start();
    if (signal?.aborted !== true) return connection;
    await connection.close();
    throw signal.reason;

    function start(): Promise<Connection> {
      return new Promise((resolve, reject) => {
        const refuse = (error: Error): void =>
          reject(new SdkError(whyNotStarted(error, program, cwd), { cause: error }));
        try {
          const child = spawn(program.file, isShell ? [] : [...before, ...protocolArgs, ...args], {
            cwd,
            env: { ...process.env, ...program.env, ...env },
            stdio: "pipe",
            windowsHide: true,
            shell: isShell,
            detached: isGroup,
          });
          const kill = (how: NodeJS.Signals): void => {
            if (isGroup && child.pid !== undefined) killGroup(child.pid, how);
            else child.kill(how);
          };
          child.once("error", refuse);
          child.once("spawn", () => {
            child.off("error", refuse);
            // One that is not wanted any more gets no time to say goodbye.
            if (signal?.aborted) kill("SIGKILL");
            const { name } = program;
            const bounds = { stderrBytes, maxLineBytes, patienceMs, stragglersMs };
            resolve(childConnection(child, { name, ...bounds, leavesNothing: isShell, kill }));
          });
        } catch (error) {
          refuse(error instanceof Error ? error : new Error(String(error)));
        }
      });
    }
  };
}

function killGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal);
  } catch {
    // Nobody is left of it.
  }
}

interface Program {
  /** In sentences. */
  readonly name: string;
  /** What is started. */
  readonly file: string;
  /** What Node is to run, if it is Node that is started. */
  readonly script?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** The program, from the source of this file, and from the copy of it that the program has. The built SDK is below it. */
const mainFiles: Readonly<Record<string, string>> = { ts: "../../../dist/main.cjs", cjs: "./main.cjs" };

function findProgram(executable: string): Program {
  if (executable === "tinman") {
    const [, extension = ""] = /\.(\w+)$/.exec(import.meta.url) ?? [];
    return script("tinman", fileURLToPath(new URL(mainFiles[extension] ?? "../main.cjs", import.meta.url)));
  }
  // A path is meant from here, and not from the folder that the program is started in.
  if (/\.[cm]?js$/i.test(executable)) return script(basename(executable), resolve(executable));
  return isPath(executable)
    ? { name: basename(executable), file: resolve(executable) }
    : { name: executable, file: executable };
}

function script(name: string, path: string): Program {
  // The program of an Electron app is the app, unless it is told to be Node.
  const env = process.versions.electron === undefined ? {} : { ELECTRON_RUN_AS_NODE: "1" };
  return { name, file: process.execPath, script: path, env };
}

function isPath(executable: string): boolean {
  return isAbsolute(executable) || executable.includes("/") || executable.includes(sep);
}

function missing({ name, file, script }: Program): string {
  if (script !== undefined) return `There is no program ${script}.`;
  return isPath(file) ? `There is no program ${file}.` : `There is no program ${name} on PATH.`;
}

/** The system says the same of a folder that is missing or barred and of such a program. */
function whyNotStarted(error: NodeJS.ErrnoException, program: Program, cwd: string | undefined): string {
  const { name, file } = program;
  const folderFault = cwd === undefined ? undefined : faultOfFolder(cwd);
  if (folderFault !== undefined) return `${name} cannot be started in ${cwd}: ${folderFault}.`;
  if (error.code === "ENOENT") {
    return isPath(file) && existsSync(file)
      ? `${file} cannot be started: the program that its first line names is missing.`
      : missing(program);
  }
  if (error.code === "EACCES") return `${isPath(file) ? file : `The program ${name} on PATH`} may not be executed.`;
  return `${name} cannot be started: ${error.message}.`;
}

function faultOfFolder(folder: string): string | undefined {
  try {
    if (!statSync(folder).isDirectory()) return "it is not a folder";
  } catch {
    return "there is no such folder";
  }
  try {
    accessSync(folder, constants.X_OK);
  } catch {
    return "that folder may not be entered";
  }
  return undefined;
}
