import { readFile } from "node:fs/promises";

const kernelThreadFlag = 0x00200000;

/** A process, told apart from a later one with the same id. */
export interface Started {
  readonly pid: number;
  readonly startTicks: number;
}

export interface ProcessStatus {
  readonly state: string;
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
      group: Number(fields[2]),
      kernel: (Number(fields[6]) & kernelThreadFlag) !== 0,
      startTicks: Number(fields[19]),
    };
  } catch {
    return undefined;
  }
}
