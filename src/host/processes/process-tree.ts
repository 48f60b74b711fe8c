import { readdir, readFile } from "node:fs/promises";
import { uptime } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { type Started, statusOf } from "./process-status.ts";

/** Set for every command, to find processes that left its group. */
export const markerVariable = "TINMAN_TOOL_RUN";

const graceMs = 1000;
const pollMs = 20;
/** A process stuck in the kernel can make its `/proc` files hang. */
const scanLimitMs = 1000;
const killRounds = 10;
const scanRounds = 8;

/** During `exec`, a process's environment reads as empty for a moment. */
const blankPollMs = 5;
/** The unit of `/proc/<pid>/stat` on every Linux that runs Node. */
const ticksPerSecond = 100;

export interface ProcessTree {
  /** The group's leader, a shell. */
  readonly pid: number;
  readonly marker: string;
  /** Its start time in `/proc` ticks. None of its processes is older. */
  readonly startTicks: number;
  hasExited(): boolean;
  /** Of a contained command: the first process of its PID namespace. With it all the others end. */
  init?(): Started | undefined;
}

/** The current time in `/proc` ticks, rounded down. */
export function currentTicks(): number {
  return Math.floor(uptime() * ticksPerSecond) - 2;
}

interface Stray {
  readonly pid: number;
  readonly group: number;
}

type Seen = "marked" | "blank" | "other";

async function seenAs(pid: number, marker: string): Promise<Seen> {
  try {
    const environment = await readFile(`/proc/${pid}/environ`);
    if (environment.length === 0) return "blank";
    return environment.includes(`${markerVariable}=${marker}`) ? "marked" : "other";
  } catch {
    return "other";
  }
}

async function sortOut(pids: readonly number[], tree: ProcessTree): Promise<{ strays: Stray[]; blank: number[] }> {
  const strays: Stray[] = [];
  const blank: number[] = [];
  const look = async (pid: number) => {
    const seen = await seenAs(pid, tree.marker);
    if (seen === "other") return;
    const status = await statusOf(pid);
    if (status === undefined || status.state === "Z" || status.kernel) return;
    if (seen === "marked") strays.push({ pid, group: status.group });
    else if (status.startTicks >= tree.startTicks) blank.push(pid);
  };
  await Promise.all(pids.map(look));
  return { strays, blank };
}

async function processIds(): Promise<readonly number[]> {
  const names = await readdir("/proc").catch(() => []);
  return names.filter((name) => /^\d+$/.test(name)).map(Number);
}

/**
 * A process may start another one and end during a scan, so scan until no new process appears.
 */
async function scan(tree: ProcessTree): Promise<readonly Stray[]> {
  const strays: Stray[] = [];
  const known = new Set<number>();
  let blank: readonly number[] = [];
  for (let round = 0; round < scanRounds; round += 1) {
    const fresh = (await processIds()).filter((pid) => !known.has(pid));
    if (fresh.length === 0 && blank.length === 0) break;
    if (blank.length > 0) await sleep(blankPollMs);
    const found = await sortOut([...fresh, ...blank], tree);
    for (const pid of fresh) known.add(pid);
    strays.push(...found.strays);
    blank = found.blank;
  }
  return strays;
}

/** Running processes with the marker. Linux only; elsewhere empty. */
async function markedProcesses(tree: ProcessTree): Promise<readonly Stray[]> {
  if (process.platform !== "linux") return [];
  const limit = new AbortController();
  const timedOut = sleep(scanLimitMs, [], { ref: false, signal: limit.signal }).catch(() => []);
  try {
    return await Promise.race([scan(tree), timedOut]);
  } finally {
    limit.abort();
  }
}

function send(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal);
  } catch {
    // Already gone, or not ours.
  }
}

async function isGone(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return true;
  }
  return (await statusOf(pid))?.state === "Z";
}

async function hasEnded({ pid, startTicks }: Started): Promise<boolean> {
  const status = await statusOf(pid);
  return status === undefined || status.state === "Z" || status.startTicks !== startTicks;
}

/** Whether a contained command and everything that it started has ended. */
export async function isOver(tree: ProcessTree): Promise<boolean> {
  const init = tree.init?.();
  return tree.hasExited() && (init === undefined || (await hasEnded(init)));
}

/** Ends a contained command: SIGTERM to what can be found, then SIGKILL to its first process, which ends all of them. */
async function endContained(tree: ProcessTree, init: Started): Promise<void> {
  const shellRuns = !tree.hasExited();
  if (shellRuns) send(-tree.pid, "SIGTERM");
  // The first process ends right after the last one of the command.
  for (let waitMs = 1; waitMs < pollMs && !(await hasEnded(init)); waitMs *= 2) await sleep(waitMs);
  if (!(await hasEnded(init))) {
    const strays = (await markedProcesses(tree)).filter(({ pid }) => pid !== init.pid);
    for (const stray of strays) if (!shellRuns || stray.group !== tree.pid) send(stray.pid, "SIGTERM");
    const wasAsked = shellRuns || strays.length > 0;
    const deadline = performance.now() + (wasAsked ? graceMs : 0);
    while (!(await hasEnded(init)) && performance.now() < deadline) await sleep(pollMs);
    if (!(await hasEnded(init))) send(init.pid, "SIGKILL");
    for (let round = 0; round < killRounds && !(await hasEnded(init)); round += 1) await sleep(pollMs);
  }
  send(-tree.pid, "SIGKILL");
}

/**
 * Ends a command's process group, and on Linux also processes that left it but kept the marker: SIGTERM, then SIGKILL
 * after about a second. Misses processes that left the group *and* cleared their environment.
 */
export async function endTree(tree: ProcessTree): Promise<void> {
  const init = tree.init?.();
  if (init !== undefined) return endContained(tree, init);
  const shellRuns = !tree.hasExited();
  if (shellRuns) send(-tree.pid, "SIGTERM");
  const strays = await markedProcesses(tree);
  // Signal each process only once: to some programs, a second SIGTERM means "at once".
  for (const stray of strays) if (!shellRuns || stray.group !== tree.pid) send(stray.pid, "SIGTERM");

  const deadline = performance.now() + graceMs;
  const alive = async () => {
    if (!tree.hasExited()) return true;
    const gone = await Promise.all(strays.map((stray) => isGone(stray.pid)));
    return gone.includes(false);
  };
  while ((await alive()) && performance.now() < deadline) await sleep(pollMs);

  // This also ends the watchdog, which is in the group.
  send(-tree.pid, "SIGKILL");
  if (strays.length === 0 && !shellRuns) return;
  for (let round = 0; round < killRounds; round += 1) {
    const left = await markedProcesses(tree);
    if (left.length === 0) return;
    for (const stray of left) send(stray.pid, "SIGKILL");
    await sleep(pollMs);
  }
}
