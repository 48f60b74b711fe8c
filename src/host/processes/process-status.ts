import { readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";

const kernelThreadFlag = 0x00200000;

/** A process, distinguishable from a later one with the same id. */
export interface Started {
  readonly pid: number;
  readonly startTicks: number;
}

interface ProcessStatus {
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly kernel: boolean;
  readonly startTicks: number;
}

function parsed(text: string): ProcessStatus {
  // The second field is the program's name in parentheses, which can contain anything.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return {
    state: fields[0] ?? "",
    parent: Number(fields[1]),
    group: Number(fields[2]),
    kernel: (Number(fields[6]) & kernelThreadFlag) !== 0,
    startTicks: Number(fields[19]),
  };
}

/** `undefined` if there is no such process, or no `/proc`. */
export async function statusOf(pid: number): Promise<ProcessStatus | undefined> {
  try {
    return parsed(await readFile(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return undefined;
  }
}

/** The same, at once. */
export function statusNow(pid: number): ProcessStatus | undefined {
  try {
    return parsed(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return undefined;
  }
}

async function childrenOf(pid: number): Promise<readonly number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "latin1").catch(() => undefined);
  if (text !== undefined) return text.split(" ").filter(Boolean).map(Number);
  // The kernel lacks that file.
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name)).map(Number);
  const parents = await Promise.all(pids.map(async (at) => (await statusOf(at))?.parent));
  return pids.filter((_, index) => parents[index] === pid);
}

/** A process's ids, from our PID namespace down to its own. */
async function idsOf(pid: number | undefined): Promise<readonly number[]> {
  const status = await readFile(`/proc/${pid}/status`, "latin1").catch(() => "");
  const line = status.split("\n").find((text) => text.startsWith("NSpid:"));
  return line?.split("\t").slice(1).map(Number) ?? [];
}

const mostLaunchers = 8;

/** The first process of a PID namespace two levels below a launcher's, found through the launchers in between. */
export async function initBelow(pid: number): Promise<number | undefined> {
  const depth = (await idsOf(pid)).length;
  let at: number | undefined = pid;
  for (let level = 0; level < mostLaunchers && at !== undefined; level += 1) {
    if ((await idsOf(at)).length >= depth + 2) return at;
    at = (await childrenOf(at))[0];
  }
  return undefined;
}

/** A child's id in the PID namespace where it was started, which may be below ours. */
export async function childIdInside(pid: number): Promise<number | undefined> {
  const [child] = await childrenOf(pid);
  const ids = await idsOf(child);
  return ids.length > 1 ? ids.at(-1) : undefined;
}
