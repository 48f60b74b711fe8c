import { spawn } from "node:child_process";
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { basename, isAbsolute, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { Connection } from "../api.ts";
import { defaultMaxLineBytes } from "../connection/limits.ts";
import { SdkError } from "../errors.ts";
import { type ChildConnectionOptions, childConnection } from "./child-connection.ts";

export interface SpawnOptions {
  /**
   * The program. `tinman`, the default, is this package's. A path that ends in .js, .mjs or .cjs is run by this Node.
   * Anything else is a path, or a name on PATH such as `droid`.
   */
  readonly executable?: "tinman" | "droid" | (string & {});
  /** Added after the arguments that choose the protocol. */
  readonly args?: readonly string[];
  /** A shell command line instead. When it ends, everything it started is ended. */
  readonly command?: string;
  /** The folder to start it in. Default: that of this process. */
  readonly cwd?: string;
  /** Added to this process's environment; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Bytes kept of the end of stderr. Default: 16 KiB. */
  readonly stderrBytes?: number;
  /** Longer lines of output are skipped and reported to `onWarning`. Default: 512 MiB. */
  readonly maxLineBytes?: number;
}

export type SpawnBounds = Pick<ChildConnectionOptions, "patienceMs" | "stragglersMs">;

const protocolArgs = ["exec", "--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"];

/** The signal only affects the start. */
export async function startBackend(
  options: SpawnOptions,
  { patienceMs = 2_000, stragglersMs = 1_000 }: Partial<SpawnBounds>,
  signal: AbortSignal | undefined,
): Promise<Connection> {
  const { executable = "tinman", args = [], command, cwd, env = {} } = options;
  const { stderrBytes = 16 * 1024, maxLineBytes = defaultMaxLineBytes } = options;
  const program = command === undefined ? findProgram(executable) : { name: command, file: command };
  if (program.script !== undefined && !existsSync(program.script)) throw new SdkError(missing(program));
  const before = program.script === undefined ? [] : [program.script];
  const isShell = command !== undefined;
  // A separate process group, so that Ctrl-C in a terminal reaches only this process, and a shell's processes can be
  // ended together.
  const isGroup = process.platform !== "win32";
  const connection = await start();
  if (signal?.aborted !== true) return connection;
  await connection.close();
  throw signal.reason;

  function start(): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const refuse = (error: Error): void => reject(new SdkError(whyNotStarted(error, program, cwd), { cause: error }));
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
          // An unwanted process gets no time to exit.
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
}

function killGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal);
  } catch {
    // The whole group has ended.
  }
}

interface Program {
  /** The name in messages. */
  readonly name: string;
  /** The file to start. */
  readonly file: string;
  /** The script, if Node is started. */
  readonly script?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** The path to the program, from this source file and from the program's own bundle. The built SDK is one folder below. */
const mainFiles: Readonly<Record<string, string>> = { ts: "../../../dist/main.cjs", cjs: "./main.cjs" };

function findProgram(executable: string): Program {
  if (executable === "tinman") {
    const [, extension = ""] = /\.(\w+)$/.exec(import.meta.url) ?? [];
    return script("tinman", fileURLToPath(new URL(mainFiles[extension] ?? "../main.cjs", import.meta.url)));
  }
  // Paths are relative to this process's folder, not to `cwd`.
  if (/\.[cm]?js$/i.test(executable)) return script(basename(executable), resolve(executable));
  return isPath(executable)
    ? { name: basename(executable), file: resolve(executable) }
    : { name: executable, file: executable };
}

function script(name: string, path: string): Program {
  // Electron's executable must be told to run as Node.
  const env = process.versions.electron === undefined ? {} : { ELECTRON_RUN_AS_NODE: "1" };
  return { name, file: process.execPath, script: path, env };
}

function isPath(executable: string): boolean {
  return isAbsolute(executable) || executable.includes("/") || executable.includes(sep);
}

function missing({ name, file, script }: Program): string {
  if (script !== undefined) return `The program ${script} does not exist.`;
  return isPath(file) ? `The program ${file} does not exist.` : `No program ${name} on PATH.`;
}

/** The system reports the same error for the folder and for the program. */
function whyNotStarted(error: NodeJS.ErrnoException, program: Program, cwd: string | undefined): string {
  const { name, file } = program;
  const folderFault = cwd === undefined ? undefined : faultOfFolder(cwd);
  if (folderFault !== undefined) return `${name} cannot be started in ${cwd}: ${folderFault}.`;
  if (error.code === "ENOENT") {
    return isPath(file) && existsSync(file)
      ? `${file} cannot be started: the program that its first line names is missing.`
      : missing(program);
  }
  if (error.code === "EACCES") return `${isPath(file) ? file : `The program ${name} on PATH`} is not executable.`;
  return `${name} cannot be started: ${error.message}.`;
}

function faultOfFolder(folder: string): string | undefined {
  try {
    if (!statSync(folder).isDirectory()) return "it is not a folder";
  } catch {
    return "the folder does not exist";
  }
  try {
    accessSync(folder, constants.X_OK);
  } catch {
    return "the folder cannot be entered";
  }
  return undefined;
}
