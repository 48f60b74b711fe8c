import { readdir, readFile } from "node:fs/promises";

const kernelThreadFlag = 0x00200000;

/** A process, distinguishable from a later one with the same id. */
export interface Started {
  readonly pid: number;
  readonly startTicks: number;
}

export interface ProcessStatus {
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly kernel: boolean;
  readonly startTicks: number;
}

/** `undefined` if there is no such process, or no `/proc`. */
export async function statusOf(pid: number): Promise<ProcessStatus | undefined> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, "latin1");
    // The second field is the program's name in parentheses, which can contain anything.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return {
      state: fields[0] ?? "",
      parent: Number(fields[1]),
      group: Number(fields[2]),
      kernel: (Number(fields[6]) & kernelThreadFlag) !== 0,
      startTicks: Number(fields[19]),
    };
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

/** The first child of the first child. */
export async function innermostChild(pid: number): Promise<number | undefined> {
  const [child] = await childrenOf(pid);
  return child === undefined ? undefined : (await childrenOf(child))[0];
}

/** A child's id in the PID namespace where it was started, which may be below ours. */
export async function childIdInside(pid: number): Promise<number | undefined> {
  const [child] = await childrenOf(pid);
  const status = await readFile(`/proc/${child}/status`, "latin1").catch(() => "");
  const last = /^NSpid:.*\s(\d+)$/m.exec(status)?.[1];
  return last === undefined ? undefined : Number(last);
}
