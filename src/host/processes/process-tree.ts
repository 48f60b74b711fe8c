import { readdir, readFile } from "node:fs/promises";
import { uptime } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

/** Set for every command, so that a process that left the command's group can still be found as its own. */
export const markerVariable = "TINMAN_TOOL_RUN";

const graceMs = 1000;
const pollMs = 20;
/** One process stuck in the kernel can make its `/proc` files hang; nobody waits longer than this for a look around. */
const scanLimitMs = 1000;
const killRounds = 10;
const scanRounds = 8;

/** While a process is being replaced by another program its environment reads as empty for a moment. */
const blankPollMs = 5;
const kernelThreadFlag = 0x00200000;
/** The unit of `/proc/<pid>/stat`; every Linux that runs Node has this value. */
const ticksPerSecond = 100;

export interface ProcessTree {
  /** The shell that leads the group. */
  readonly pid: number;
  readonly marker: string;
  /** When it was started, as `/proc` counts time. Nothing of the tree is older. */
  readonly startTicks: number;
  hasExited(): boolean;
}

/** Now, as `/proc` counts time, a moment early rather than late. */
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
    // The second field is the program's name in parentheses, and may hold anything.
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
 * A process may start another and end while we look, so a look is complete only when the list has nothing new after it.
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

/** Living processes that carry the marker. Only Linux can tell; elsewhere there are none. */
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
    // Gone already, or not ours to signal.
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
 * Ends whatever is alive of a command: its process group, and on Linux also processes that left the group but kept the
 * marker in their environment. They are asked with SIGTERM, and killed after about a second. Resolves when nothing that
 * can be found is left. A process that left the group *and* cleared its environment is not found.
 */
export async function endTree(tree: ProcessTree): Promise<void> {
  const shellRuns = !tree.hasExited();
  if (shellRuns) send(-tree.pid, "SIGTERM");
  const strays = await markedProcesses(tree);
  // Those of the group have it already, if the group was sent it; a second one may mean "at once" to a program.
  for (const stray of strays) if (!shellRuns || stray.group !== tree.pid) send(stray.pid, "SIGTERM");

  const deadline = performance.now() + graceMs;
  const alive = async () => {
    if (!tree.hasExited()) return true;
    const gone = await Promise.all(strays.map((stray) => isGone(stray.pid)));
    return gone.includes(false);
  };
  while ((await alive()) && performance.now() < deadline) await sleep(pollMs);

  // The watchdog is of the group too: this is what ends it.
  send(-tree.pid, "SIGKILL");
  if (strays.length === 0 && !shellRuns) return;
  for (let round = 0; round < killRounds; round += 1) {
    const left = await markedProcesses(tree);
    if (left.length === 0) return;
    for (const stray of left) send(stray.pid, "SIGKILL");
    await sleep(pollMs);
  }
}
