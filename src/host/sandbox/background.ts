import { readFile, truncate } from "node:fs/promises";
import { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { childIdInside } from "../processes/process-status.ts";
import { endTree, isOver } from "../processes/process-tree.ts";
import { openOutputFile, startWatched } from "../processes/shell-start.ts";
import type { ContainedStart } from "./contained-start.ts";
import { couldNotContain } from "./launcher-words.ts";

export interface BackgroundSpec {
  readonly command: string;
  readonly cwd: string;
  readonly outputPath: string;
}

export interface Background {
  /** The process group's id: among the session's processes, or on this machine without such a namespace. */
  readonly pid: number;
  /** Resolves when all its processes have ended. */
  readonly over: Promise<void>;
  end(): Promise<void>;
}

const lookMs = 250;
/** Stop waiting for a process that SIGKILL did not end. */
const exitLimitMs = 2000;

/**
 * Starts a contained background command, which ends at the latest with this process but does not keep it alive. Rejects
 * if it cannot be contained.
 */
export async function startContained(
  spec: BackgroundSpec,
  environment: Readonly<Record<string, string>>,
  contained: ContainedStart,
): Promise<Background> {
  const { command, cwd, outputPath } = spec;
  const file = await openOutputFile(outputPath);
  const started = await startWatched({ command, cwd, environment, contained, output: file.fd }).finally(() =>
    file.close(),
  );
  const { child, tree, exit, launcher, unwatched, release } = started;
  await Promise.race([launcher?.started, exit]);
  let finishing: Promise<void> | undefined;
  const finish = () => {
    finishing ??= endTree(tree)
      .then(() => Promise.race([Promise.all([exit, unwatched]), sleep(exitLimitMs, undefined, { ref: false })]))
      .then(release)
      .then(contained.finish)
      .then(() => undefined);
    return finishing;
  };
  if (launcher?.hasStarted() === false) {
    await finish();
    const words = await readFile(outputPath, "utf8").catch(() => "");
    await truncate(outputPath).catch(() => undefined);
    throw new Error(couldNotContain(words));
  }
  const streams = child.stdio.flatMap((stream) => (stream instanceof Socket ? [stream] : []));
  for (const handle of [child, ...streams]) handle.unref();

  let looking: NodeJS.Timeout | undefined;
  let wasKilled = false;
  const over = new Promise<void>((resolve) => {
    const look = async () => {
      if (finishing === undefined && !wasKilled && !(await isOver(tree))) {
        looking = setTimeout(() => look().catch(() => undefined), lookMs).unref();
        return;
      }
      await finish();
      resolve();
    };
    const onExit = ({ signal }: { readonly signal: string | null }) => {
      // Only an outside signal, meant for the command, ends the launcher before the command.
      wasKilled = signal !== null;
      return look();
    };
    exit.then(onExit).catch(() => resolve());
  });
  return {
    pid: (contained.ownProcesses === "below" ? await childIdInside(tree.pid) : undefined) ?? tree.pid,
    over,
    async end() {
      clearTimeout(looking);
      for (const handle of [child, ...streams]) handle.ref();
      await finish();
    },
  };
}
