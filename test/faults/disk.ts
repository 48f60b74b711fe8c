import { spawn, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import type { Bench, RunOptions } from "../e2e/tinman.ts";
import { finished, mainFile } from "../e2e/tinman.ts";

/** The same bench, its program started by other words: `words` end with what comes to stand before the program. */
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

/** A small disk that only the processes of `bench` see, and that is gone with the last of them, whatever happens to us. */
export interface Disk {
  /** Where it is for them. */
  readonly path: string;
  /** Where it is for us. */
  readonly seen: string;
  readonly bench: Bench;
  readOnly(isSo: boolean): void;
  remove(): Promise<void>;
}

/** The words that give a process mounts of its own. */
const apart = ["--user", "--map-root-user", "--mount"];

/** Why no disk can be made here; nothing when one can. */
export function whyNoDisk(): string | undefined {
  const tried = spawnSync("unshare", [...apart, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], { encoding: "utf8" });
  if (tried.status === 0) return undefined;
  return `A disk cannot be mounted here: ${tried.error?.message ?? tried.stderr.trim()}`;
}

export async function createDisk(bench: Bench, size: string): Promise<Disk> {
  const path = `${bench.root}/disk`;
  // It waits for the end of its input, which comes with our own end at the latest.
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
