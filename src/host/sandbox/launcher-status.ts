import type { Duplex } from "node:stream";
import { fieldsOf, parsedJson } from "../../text/values.ts";
import { type Started, statusOf } from "../processes/process-status.ts";

export interface LauncherStatus {
  /** The first process of the command's PID namespace. */
  init(): Started | undefined;
  /** Whether the command itself has started: its shell reports this before the command can. */
  hasStarted(): boolean;
  /** Resolves when it has started and its first process is known; otherwise never. */
  readonly started: Promise<void>;
  /** Resolves when nothing more is reported. */
  readonly ended: Promise<void>;
}

const endLimitMs = 500;

/** For a command with a PID namespace. */
export interface InitFinder {
  /** The first process's id on this machine. The launcher reports the id in its own namespace, if any. */
  findInit(reported: number | undefined): Promise<number | undefined>;
  onInit?(init: Started): void;
}

/** Passes the options to the launcher and follows its reports, one JSON object per line. */
export function followLauncher(stream: Duplex, options: Uint8Array, finder: InitFinder | undefined): LauncherStatus {
  let init: Started | undefined;
  let hasStarted = false;
  let tellStarted = () => {};
  const started = new Promise<void>((resolve) => {
    tellStarted = resolve;
  });
  let isLookedAt = finder === undefined;
  let rest = "";
  let looking: Promise<void> | undefined;
  const lookAt = async (reported: number | undefined, { findInit, onInit }: InitFinder) => {
    const pid = await findInit(reported);
    if (pid !== undefined) {
      // Without a status, it has ended already.
      init = { pid, startTicks: (await statusOf(pid))?.startTicks ?? -1 };
      onInit?.(init);
    }
    if (hasStarted) tellStarted();
    isLookedAt = true;
  };
  stream.on("data", (bytes: Buffer) => {
    const lines = (rest + bytes.toString("latin1")).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const report = fieldsOf(parsedJson(line));
      const pid = report["child-pid"];
      if (report.started === true) hasStarted = true;
      else if (typeof pid !== "number") continue;
      if (finder !== undefined) looking ??= lookAt(typeof pid === "number" ? pid : undefined, finder);
      if (hasStarted && isLookedAt) tellStarted();
    }
  });
  const ended = new Promise<void>((resolve) => {
    for (const event of ["end", "close", "error"]) stream.once(event, () => resolve());
  });
  stream.end(options);
  return {
    init: () => init,
    hasStarted: () => hasStarted,
    started,
    ended: ended.then(() => looking),
  };
}

/** Waits for the last reports after the launcher's exit, but not for a process that keeps the stream open. */
export async function lastReports(status: LauncherStatus): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, endLimitMs);
  });
  await Promise.race([status.ended, limit]);
  clearTimeout(timer);
}
