import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { noteWarnings } from "../warnings.ts";

export const mainFile = fileURLToPath(new URL("../../dist/main.cjs", import.meta.url));

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** `undefined`: an empty standard input. */
  readonly stdin?: string;
  readonly cwd?: string;
}

/** A workspace and a home, with the built program. */
export interface Bench {
  readonly root: string;
  readonly home: string;
  readonly cwd: string;
  /** The environment of a new user: an empty home, no key, no configuration. */
  readonly env: NodeJS.ProcessEnv;
  file(path: string, text: string): Promise<string>;
  read(path: string): Promise<string>;
  script(replies: readonly object[], more?: object): Promise<string>;
  tinman(args: readonly string[], options?: RunOptions): Promise<Finished>;
  start(args: readonly string[], options?: RunOptions): ChildProcess;
  shell(command: string, options?: RunOptions): Promise<Finished>;
  remove(): Promise<void>;
}

export async function createBench(): Promise<Bench> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "tinman-e2e-")));
  const [home, cwd, bin] = [join(root, "home"), join(root, "project"), join(root, "bin")];
  for (const folder of [home, cwd, bin]) await mkdir(folder);
  await writeFile(join(bin, "tinman"), `#!/bin/sh\nexec "${process.execPath}" "${mainFile}" "$@"\n`, { mode: 0o755 });
  const env = {
    PATH: `${bin}:${process.env.PATH}`,
    HOME: home,
    LANG: "C.UTF-8",
    GIT_CONFIG_NOSYSTEM: "1",
    TINMAN_SANDBOX: process.env.TINMAN_SANDBOX,
  };
  let scripts = 0;

  const file = async (path: string, text: string): Promise<string> => {
    const full = join(cwd, path);
    await mkdir(dirname(full), { recursive: true });
    await writeFile(full, text);
    return full;
  };
  const start = (args: readonly string[], options: RunOptions = {}): ChildProcess =>
    spawn(process.execPath, [mainFile, ...args], {
      cwd: options.cwd ?? cwd,
      env: { ...env, ...options.env },
      stdio: ["pipe", "pipe", "pipe"],
    });

  return {
    root,
    home,
    cwd,
    env,
    file,
    read: (path) => readFile(join(cwd, path), "utf8"),
    script: async (replies, more = {}) => {
      scripts += 1;
      const path = join(root, `script-${scripts}.json`);
      await writeFile(path, JSON.stringify({ replies, ...more }));
      return `script:${path}`;
    },
    tinman: (args, options = {}) => finished(start(args, options), options.stdin),
    start,
    shell: (command, options = {}) =>
      finished(
        spawn("bash", ["-c", command], { cwd: options.cwd ?? cwd, env: { ...env, ...options.env } }),
        options.stdin,
      ),
    remove: () => rm(root, { recursive: true, force: true }),
  };
}

/** Most tests run without naming a model, and don't concern the line about that. */
export function withoutOfflineLine(stderr: string): string {
  return stderr.replace(/^tinman: No model (?:was named|is configured): [^\n]*\n/gm, "");
}

/** Without the line about the offline model, unless `isWhole`. */
export function finished(child: ChildProcess, stdin?: string, isWhole = false): Promise<Finished> {
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout?.on("data", (chunk: Buffer) => stdout.push(chunk));
  child.stderr?.on("data", (chunk: Buffer) => stderr.push(chunk));
  child.stdin?.on("error", () => undefined);
  child.stdin?.end(stdin);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      const errors = Buffer.concat(stderr).toString();
      noteWarnings(errors);
      const told = isWhole ? errors : withoutOfflineLine(errors);
      resolve({ code, signal, stdout: Buffer.concat(stdout).toString(), stderr: told });
    });
  });
}

export function lines(text: string): Record<string, unknown>[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Random words, so that no rule can know them. */
export function madeUp(): string {
  const part = (): string => Math.random().toString(36).slice(2, 7);
  return `${part()}-${part()}`;
}
