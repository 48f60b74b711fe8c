import { spawn, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import type { Bench, RunOptions } from "../e2e/tinman.ts";
import { finished, mainFile } from "../e2e/tinman.ts";

/** The same bench with its program started through `words`, which end where the program comes. */
export function startedBy(bench: Bench, words: readonly [string, ...string[]], env: NodeJS.ProcessEnv = {}): Bench {
  const [program, ...before] = words;
  const start = (args: readonly string[], options: RunOptions = {}) =>
    spawn(program, [...before, process.execPath, mainFile, ...args], {
      cwd: options.cwd ?? bench.cwd,
      env: { ...bench.env, ...env, ...options.env },
      stdio: ["pipe", "pipe", "pipe"],
    });
  return { ...bench, start, tinman: (args, options = {}) => finished(start(args, options), options.stdin) };
}

/** A small disk visible only to the processes of `bench`, and gone with the last of them. */
export interface Disk {
  /** Its path for them. */
  readonly path: string;
  /** Its path for us. */
  readonly seen: string;
  readonly bench: Bench;
  readOnly(isSo: boolean): void;
  remove(): Promise<void>;
}

/** The command prefix that gives a process its own mounts. */
const apart = ["--user", "--map-root-user", "--mount"];

/** Why no disk can be created here; undefined if one can. */
export function whyNoDisk(): string | undefined {
  const tried = spawnSync("unshare", [...apart, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], { encoding: "utf8" });
  if (tried.status === 0) return undefined;
  return `A disk cannot be mounted here: ${tried.error?.message ?? tried.stderr.trim()}`;
}

export async function createDisk(bench: Bench, size: string): Promise<Disk> {
  const path = `${bench.root}/disk`;
  // It waits for the end of its input, at the latest when we exit.
  const script =
    'mkdir -p "$1" && mount -t tmpfs -o size="$2",mode=700 tmpfs "$1" && echo ready && exec cat >/dev/null';
  const holder = spawn("unshare", [...apart, "sh", "-c", script, "sh", path, size], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const closed = new Promise((resolve) => holder.on("close", resolve));
  const first = await new Promise((resolve) => {
    createInterface({ input: holder.stdout }).once("line", resolve);
    holder.once("close", () => resolve("closed"));
  });
  if (first !== "ready") throw new Error("The disk was not mounted.");
  const inside = ["--preserve-credentials", "--user", "--mount", "--target", String(holder.pid)];
  return {
    path,
    seen: `/proc/${holder.pid}/root${path}`,
    bench: startedBy(bench, ["nsenter", ...inside, `--wdns=${bench.cwd}`], { TINMAN_HOME: `${path}/home` }),
    readOnly(isSo) {
      const options = `remount,${isSo ? "ro" : "rw"}`;
      const done = spawnSync("nsenter", [...inside, "mount", "-o", options, path], { encoding: "utf8" });
      if (done.status !== 0) throw new Error(done.stderr);
    },
    async remove() {
      holder.stdin.end();
      await closed;
    },
  };
}
