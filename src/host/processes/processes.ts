import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { after } from "../../async/after.ts";
import { tooManyFiles } from "../../engine/errors.ts";
import type { CommandResult, CommandSpec, Processes } from "../../engine/ports.ts";
import { errorCode } from "../../text/system-errors.ts";
import { errorMessage } from "../../text/values.ts";
import { commandEnvironment } from "../environment/command-environment.ts";
import type { ContainedStart } from "../sandbox/contained-start.ts";
import { couldNotContain, launcherTries, signalOf } from "../sandbox/launcher-words.ts";
import type { HostSandbox } from "../sandbox/sandbox.ts";
import { type CommandOutput, createCommandOutput } from "./command-output.ts";
import { createProgress, type Progress } from "./command-progress.ts";
import { endTree } from "./process-tree.ts";
import { folderProblem, type StartedCommand, startCommand, startDetached } from "./shell-start.ts";

/** After a command, stop reading a pipe that is still open once it has been silent this long, */
const quietMs = 200;
/** or after this long in any case. */
const drainLimitMs = 3000;
/** Stop waiting for a process that SIGKILL did not end. */
const exitLimitMs = 2000;

interface ProcessesOptions {
  /** Variables passed to commands although they look like credentials. */
  readonly passEnvironment?: readonly string[];
  /** Variables withheld from commands unless `passEnvironment` names them. */
  readonly hideEnvironment?: readonly string[];
  /** Default: `process.env`. */
  readonly environment?: NodeJS.ProcessEnv;
  /** Our settings file for the ripgrep that commands run. */
  readonly ripgrepSettings?: string;
  /** Contains commands. Default: a new one. */
  sandbox?(): Promise<HostSandbox>;
}

type Stop = { readonly type: "timeout" } | { readonly type: "aborted" };

/** Resolves when the command must stop. `release` removes the timer and the listener. */
function watchForStop(timeoutMs: number, signal: AbortSignal): { stop: Promise<Stop>; release(): void } {
  let release = () => {};
  const stop = new Promise<Stop>((resolve) => {
    const timer = after(Math.max(timeoutMs, 0), () => resolve({ type: "timeout" }));
    const onAbort = () => resolve({ type: "aborted" });
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    release = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    };
  });
  return { stop, release };
}

interface Reading {
  readonly done: Promise<void>;
  /** Whether bytes are being written to disk. */
  isStoring(): boolean;
}

function readAll(command: StartedCommand, output: CommandOutput, progress: Progress): Reading {
  let storing = false;
  async function read(): Promise<void> {
    try {
      for await (const bytes of command.output) {
        storing = true;
        await output.push(bytes as Buffer);
        storing = false;
        progress.changed();
      }
    } catch {
      // Reading fails only when we close the pipe.
    }
  }
  return { done: read(), isStoring: () => storing };
}

/** Reads the rest of the output. A process that survived may keep the pipe open: then until it is silent. */
async function drain(reading: Reading, output: CommandOutput): Promise<void> {
  const ended = reading.done.then(() => true);
  const deadline = performance.now() + drainLimitMs;
  let seen = -1;
  while (reading.isStoring() || (seen !== output.totalBytes() && performance.now() < deadline)) {
    seen = output.totalBytes();
    const waiting = new AbortController();
    const quiet = sleep(quietMs, false, { signal: waiting.signal }).catch(() => false);
    const done = await Promise.race([ended, quiet]);
    waiting.abort();
    if (done) return;
  }
}

async function endOf(command: StartedCommand, stop: Promise<Stop>): Promise<CommandResult["end"]> {
  const exit = command.exit.then(({ code, signal }) =>
    signal === null ? ({ type: "exit", code: code ?? 0 } as const) : ({ type: "signal", signal } as const),
  );
  const end = await Promise.race([exit, stop]);
  await endTree(command.tree);
  await Promise.race([Promise.all([exit, command.unwatched]), sleep(exitLimitMs, undefined, { ref: false })]);
  return end;
}

function nothingRan(end: CommandResult["end"]): CommandResult {
  return { end, head: "", tail: "", skippedBytes: 0, skippedLines: 0, totalBytes: 0 };
}

function unstartable(error: unknown): CommandResult {
  const code = errorCode(error);
  const words = errorMessage(error);
  const known = {
    E2BIG: "The command is too long for the system. Put the text into a file.",
    EMFILE: tooManyFiles("EMFILE"),
    ENFILE: tooManyFiles("ENFILE"),
  };
  const message = known[String(code) as keyof typeof known] ?? words;
  return nothingRan({ type: "unstartable", message });
}

/** For a contained command, the launcher reports a signal as an exit code. */
function endInside(end: CommandResult["end"]): CommandResult["end"] {
  const signal = end.type === "exit" ? signalOf(end.code) : undefined;
  return signal === undefined ? end : { type: "signal", signal };
}

type LoadSandbox = () => Promise<HostSandbox>;

interface Attempt {
  readonly result: CommandResult;
  /** The launcher failed, so the command has not started. */
  readonly again?: true;
}

async function runOnce(
  spec: CommandSpec,
  signal: AbortSignal,
  environment: Readonly<Record<string, string>>,
  sandbox: LoadSandbox,
): Promise<Attempt> {
  if (signal.aborted) return { result: nothingRan({ type: "aborted" }) };
  const problem = await folderProblem(spec.cwd);
  if (problem !== undefined) return { result: nothingRan({ type: "unstartable", message: problem }) };

  let contained: ContainedStart | undefined;
  let command: StartedCommand;
  try {
    if (spec.contained !== undefined)
      contained = await (await sandbox()).contain(spec.contained, spec.cwd, environment);
    command = await startCommand(spec.command, spec.cwd, environment, contained);
  } catch (error) {
    await contained?.finish();
    return { result: unstartable(error) };
  }
  const output = createCommandOutput(spec);
  const progress = createProgress(output, (tail) => spec.onProgress(tail));
  const reading = readAll(command, output, progress);
  const { stop, release } = watchForStop(spec.timeoutMs, signal);
  const end = await endOf(command, stop);
  release();
  await drain(reading, output);
  progress.stop();
  command.release();
  await reading.done;
  const violations = (await contained?.finish()) ?? [];
  for (const words of violations) await output.push(Buffer.from(`\n${words}\n`));
  const kept = await output.finish();
  if (end.type === "exit" && command.launcher?.hasStarted() === false) {
    return { result: nothingRan({ type: "unstartable", message: couldNotContain(kept.head) }), again: true };
  }
  return { result: { end: contained === undefined ? end : endInside(end), ...kept } };
}

async function run(...given: Parameters<typeof runOnce>): Promise<CommandResult> {
  let attempt = await runOnce(...given);
  for (let tries = 1; attempt.again && tries < launcherTries; tries += 1) attempt = await runOnce(...given);
  return attempt.result;
}

/** Ripgrep prints malformed lines of ignore files, and such a file may be a link to anything. */
const ripgrepSettings = "--no-ignore-messages\n";

/** The variable that makes the commands' ripgrep read these settings. Empty if the file cannot be written. */
async function quietRipgrep(path: string): Promise<Readonly<Record<string, string>>> {
  try {
    const known = await readFile(path, "utf8").catch(() => "");
    if (known !== ripgrepSettings) {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await writeFile(path, ripgrepSettings, { mode: 0o600 });
    }
    return { RIPGREP_CONFIG_PATH: path };
  } catch {
    return {};
  }
}

export function createProcesses(options: ProcessesOptions = {}): Processes {
  const { passEnvironment = [], hideEnvironment = [] } = options;
  let ownSandbox: Promise<HostSandbox> | undefined;
  const sandbox =
    options.sandbox ??
    (() => {
      ownSandbox ??= import("../sandbox/sandbox.ts").then(({ createHostSandbox }) => createHostSandbox());
      return ownSandbox;
    });
  let ripgrep: Promise<Readonly<Record<string, string>>> | undefined;
  const environment = async (): Promise<Record<string, string>> => {
    if (options.ripgrepSettings !== undefined) ripgrep ??= quietRipgrep(options.ripgrepSettings);
    const passed = commandEnvironment(options.environment ?? process.env, passEnvironment, hideEnvironment);
    return { ...passed, ...(await ripgrep) };
  };
  return {
    run: async (spec, signal) => run(spec, signal, await environment(), sandbox),
    async startBackground(spec) {
      const problem = await folderProblem(spec.cwd);
      if (problem !== undefined) throw new Error(problem);
      if (spec.contained !== undefined) {
        return (await sandbox()).startBackground(spec, spec.contained, await environment());
      }
      return { pid: await startDetached(spec.command, spec.cwd, spec.outputPath, await environment()) };
    },
  };
}
