import { once } from "node:events";
import type { Duplex, Readable } from "node:stream";
import { statusOf } from "../processes/process-status.ts";
import { startProgram } from "../processes/start-program.ts";
import { followLauncher } from "./launcher-status.ts";

export interface SessionNetwork {
  /** What starts a program inside. */
  readonly launcher: readonly string[];
  isAlive(): boolean;
  end(): Promise<void>;
}

export interface NetworkPrograms {
  readonly bwrap: string;
  readonly nsenter: string;
}

/** As root in the session's user namespace, a launcher could do more than the user there, but it is ours. */
const enter = ["--preserve-credentials", "--user", "--net"] as const;

const options = [
  ...["--unshare-user", "--unshare-pid", "--unshare-net", "--die-with-parent", "--as-pid-1", "--cap-drop", "ALL"],
  ...["--ro-bind", "/", "/", "--chdir", "/"],
];

/**
 * Starts a process that keeps a network with only a loopback, for all commands of a session. The process ends with ours.
 * Rejects if it cannot start.
 */
export async function createSessionNetwork({ bwrap, nsenter }: NetworkPrograms): Promise<SessionNetwork> {
  const holder = ["-c", "echo '{\"started\":true}' >&6; exec 3<&- 6<&-; read -r line"];
  const launch = `exec "$@" 5<&3 6<&3`;
  const child = startProgram(
    "/bin/sh",
    ["-c", launch, "sh", bwrap, "--args", "3", "--json-status-fd", "5", "--", "/bin/sh", ...holder],
    { cwd: "/", env: {}, detached: true, stdio: ["pipe", "ignore", "ignore", "pipe"] },
  );
  const exited = once(child, "exit");
  const [lifeline, , , reports] = child.stdio as unknown as [Duplex, null, null, Duplex & Readable];
  for (const stream of [lifeline, reports]) stream?.on("error", () => {});
  const bytes = Buffer.from(`${options.join("\0")}\0`);
  const launcher = followLauncher(reports, bytes, true, () => undefined);
  await Promise.race([launcher.started, exited]);
  const init = launcher.init();
  if (!launcher.hasStarted() || init === undefined) {
    child.kill("SIGKILL");
    throw new Error("The session's network could not be made.");
  }
  let alive = true;
  void exited.then(() => {
    alive = false;
    reports.destroy();
  });
  child.unref();
  for (const stream of [lifeline, reports]) (stream as Duplex & { unref?(): void }).unref?.();
  return {
    launcher: [nsenter, ...enter, "--target", String(init.pid), "--"],
    isAlive: () => alive,
    async end() {
      if (!alive) return;
      child.ref();
      if ((await statusOf(init.pid))?.startTicks === init.startTicks) process.kill(init.pid, "SIGKILL");
      lifeline.destroy();
      await exited;
    },
  };
}
