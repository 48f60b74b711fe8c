import { realpathSync } from "node:fs";
import { delimiter, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ServerProgram, ServerProgramSpec, StartServerProgram } from "../../engine/servers/server-program.ts";
import { shownName } from "../../text/shown-name.ts";
import { commandEnvironment } from "../environment/command-environment.ts";
import type { ContainedStart } from "../sandbox/contained-start.ts";
import { couldNotContain } from "../sandbox/launcher-words.ts";
import type { HostSandbox } from "../sandbox/sandbox.ts";
import { findOnPath, isProgram, pathFolders } from "./executables.ts";
import { endTree } from "./process-tree.ts";
import { folderProblem, startWatched } from "./shell-start.ts";

/** How long a program has to exit after its input was closed. */
const farewellMs = 500;
/** Stop waiting for a process that SIGKILL did not end. */
const exitLimitMs = 2000;
/** After the exit, stop reading a pipe that a surviving process keeps open. */
const drainMs = 200;
/** How much of standard error is kept. */
const mostErrorBytes = 4096;

export interface ServerProcessOptions {
  /** Variables passed to programs although they look like credentials. */
  readonly passEnvironment?: readonly string[];
  /** Variables withheld unless `passEnvironment` names them. */
  readonly hideEnvironment?: readonly string[];
  sandbox(): Promise<HostSandbox>;
}

type Environment = Readonly<Record<string, string>>;

/** Starts the programs of servers, each with a watchdog that ends it with us, even after SIGKILL. */
export function createServerStarter(options: ServerProcessOptions): StartServerProgram {
  return async (spec) => {
    const problem = await folderProblem(spec.cwd);
    if (problem !== undefined) throw new Error(problem);
    const passed = commandEnvironment(process.env, options.passEnvironment ?? [], options.hideEnvironment);
    const environment = { ...passed, PATH: safePath(spec.cwd, passed.PATH), ...spec.env };
    const program = programOf(spec, environment);
    if (spec.contained === undefined) return start(program, spec, environment);
    const contained = await (await options.sandbox()).contain(spec.contained, spec.cwd, environment);
    try {
      return await start(program, spec, environment, contained);
    } catch (error) {
      await contained.finish();
      throw error;
    }
  };
}

/** A repository's programs must not replace the user's. An entry's own `PATH` is the user's choice. */
function safePath(cwd: string, path: string | undefined): string {
  return pathFolders(cwd, path).join(delimiter);
}

function programOf({ command, cwd }: ServerProgramSpec, { PATH }: Environment): string {
  if (command.includes("/")) {
    const path = resolve(cwd, command);
    if (isProgram(path)) return path;
    throw new Error(`${shownName(command)} is not a program that can be run.`);
  }
  const found = findOnPath(command, realpathSync.native(cwd), pathFolders(undefined, PATH));
  if (found === undefined) throw new Error(`The program ${shownName(command)} was not found. Is it installed?`);
  return found;
}

async function start(
  program: string,
  { args, cwd }: ServerProgramSpec,
  environment: Environment,
  contained?: ContainedStart,
): Promise<ServerProgram> {
  const started = await startWatched({ command: [program, ...args], cwd, environment, contained });
  const { child, tree, exit, launcher, unwatched, release } = started;
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) {
    release();
    throw new Error("The program could not be started.");
  }
  let errors = Buffer.alloc(0);
  stderr.on("data", (bytes: Buffer) => {
    errors = Buffer.concat([errors, bytes.subarray(-mostErrorBytes)]).subarray(-mostErrorBytes);
  });
  const errorTail = () => errors.toString("utf8");
  const read = new Promise<void>((resolve) => stdout.once("close", resolve));

  let isOver = false;
  let ending: Promise<void> | undefined;
  const finish = async (): Promise<void> => {
    await endTree(tree);
    await Promise.race([Promise.all([exit, unwatched]), sleep(exitLimitMs, undefined, { ref: false })]);
    release();
    for (const stream of [stdin, stdout, stderr]) stream.destroy();
    await contained?.finish();
  };
  const end = (): Promise<void> => {
    ending ??= finish().catch(() => undefined);
    return ending;
  };
  // Its last lines are still read, and what it started ends with it.
  const exited = exit.then(async (how) => {
    isOver = true;
    await Promise.race([read, sleep(drainMs, undefined, { ref: false })]);
    end().catch(() => undefined);
    return how;
  });
  if (launcher !== undefined) {
    await Promise.race([launcher.started, exit]);
    if (!launcher.hasStarted()) {
      await exited;
      await end();
      throw new Error(couldNotContain(errorTail()));
    }
  }
  return {
    output: stdout,
    write: (text) =>
      new Promise((resolve, reject) => {
        stdin.write(text, (error) => (error ? reject(error) : resolve()));
      }),
    errorTail,
    exited,
    async end() {
      if (!isOver) {
        stdin.end();
        await Promise.race([exit, sleep(farewellMs, undefined, { ref: false })]);
      }
      await end();
    },
  };
}
