import { readdir, readFile } from "node:fs/promises";
import { uptime } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

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
const kernelThreadFlag = 0x00200000;
/** The unit of `/proc/<pid>/stat` on every Linux that runs Node. */
const ticksPerSecond = 100;

export interface ProcessTree {
  /** The group's leader, a shell. */
  readonly pid: number;
  readonly marker: string;
  /** Its start time in `/proc` ticks. None of its processes is older. */
  readonly startTicks: number;
  hasExited(): boolean;
}

/** The current time in `/proc` ticks, rounded down. */
export function currentTicks(): number {
  return Math.floor(uptime() * ticksPerSecond) - 2;
}

interface Stray {
  readonly pid: number;
  readonly group: number;
}

interface Status {
  readonly state: string;
  readonly group: number;
  readonly kernel: boolean;
  readonly startTicks: number;
}

async function statusOf(pid: number): Promise<Status | undefined> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, "latin1");
    // The second field is the program's name in parentheses, which can contain anything.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return {
      state: fields[0] ?? "",
      group: Number(fields[2]),
      kernel: (Number(fields[6]) & kernelThreadFlag) !== 0,
      startTicks: Number(fields[19]),
    };
  } catch {
    return undefined;
  }
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

/**
 * Ends a command's process group, and on Linux also processes that left the group but kept the marker in their
 * environment: SIGTERM, then SIGKILL after about a second. Misses a process that left the group *and* cleared its
 * environment.
 */
export async function endTree(tree: ProcessTree): Promise<void> {
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
