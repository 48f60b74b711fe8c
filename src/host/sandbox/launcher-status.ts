import type { Duplex } from "node:stream";
import { fieldsOf, parsedJson } from "../../text/values.ts";
import { type Started, statusOf } from "../processes/process-status.ts";

export interface LauncherStatus {
  /** The first process of the command's PID namespace. */
  init(): Started | undefined;
  /** Whether the command itself was started: its shell says so before the command can say anything. */
  hasStarted(): boolean;
  /** Resolves when it has started and its first process is known, and never otherwise. */
  readonly started: Promise<void>;
  /** Resolves when nothing more is reported. */
  readonly ended: Promise<void>;
}

const endLimitMs = 500;

/**
 * Gives the launcher its options and follows its reports, one JSON object a line. `onInit` gets the first process, as soon as
 * it is known.
 */
export function followLauncher(
  stream: Duplex,
  options: Uint8Array,
  hasInit: boolean,
  onInit: (init: Started) => void,
): LauncherStatus {
  let init: Started | undefined;
  let hasStarted = false;
  let tellStarted = () => {};
  const started = new Promise<void>((resolve) => {
    tellStarted = resolve;
  });
  let rest = "";
  let looking: Promise<void> = Promise.resolve();
  const lookAt = async (pid: number) => {
    // Without a status, it has ended already.
    init = { pid, startTicks: (await statusOf(pid))?.startTicks ?? -1 };
    onInit(init);
    if (hasStarted) tellStarted();
  };
  stream.on("data", (bytes: Buffer) => {
    const lines = (rest + bytes.toString("latin1")).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const report = fieldsOf(parsedJson(line));
      if (report.started === true) {
        hasStarted = true;
        if (!hasInit || init !== undefined) tellStarted();
      }
      if (hasInit && typeof report["child-pid"] === "number") looking = lookAt(report["child-pid"]);
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
