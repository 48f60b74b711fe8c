import { once } from "node:events";
import { Socket } from "node:net";
import { statusOf } from "../processes/process-status.ts";
import { startProgram } from "../processes/start-program.ts";
import { followLauncher } from "./launcher-status.ts";

/** The namespaces that a session's contained commands share: one for the network, with only a loopback, and one for PIDs. */
export interface SessionSpace {
  enter(needs: SpaceNeeds): readonly string[];
  isAlive(): boolean;
  /** Also ends all processes inside. */
  end(): Promise<void>;
}

export interface SpaceNeeds {
  readonly network: boolean;
  /** `seen`: the command sees the session's processes. `below`: they see it, in its own process group. */
  readonly processes: "none" | "seen" | "below";
}

export interface SpacePrograms {
  readonly bwrap: string;
  readonly nsenter: string;
  readonly setsid: string;
  readonly mount: string;
}

/** The whole disk is mounted as it is, because commands start from this mount namespace. */
const common = [
  ...["--unshare-user", "--unshare-pid", "--unshare-net", "--die-with-parent", "--cap-drop", "ALL"],
  ...["--dev-bind", "/", "/", "--proc", "/proc", "--chdir", "/"],
];

/** The same descriptors as for commands. It runs until its input closes, which the end of our process always causes. */
const launch = `exec "$@" 5<&4 6<&4`;
const wait = `echo '{"started":true}' >&6; exec 6<&-; read -r line`;

/**
 * For root, bubblewrap covers parts of `/proc`, and then the kernel refuses the mounts that commands need. So a second,
 * uncovered `/proc` goes on top. No command can write to it.
 */
const uncover = `"$1" -t proc proc /proc && `;

/** Rejects if it cannot start. */
export async function createSessionSpace({ bwrap, nsenter, setsid, mount }: SpacePrograms): Promise<SessionSpace> {
  const isRoot = process.getuid?.() === 0;
  const options = [...common, ...(isRoot ? ["--cap-add", "CAP_SYS_ADMIN"] : [])];
  const script = `${isRoot ? uncover : ""}${wait}`;
  const program = [bwrap, "--args", "4", "--json-status-fd", "5", "--", "/bin/sh", "-c", script, "sh", mount];
  const child = startProgram("/bin/sh", ["-c", launch, "sh", ...program], {
    cwd: "/",
    env: {},
    detached: true,
    stdio: ["pipe", "ignore", "ignore", "ignore", "pipe"],
  });
  const exited = Promise.race([once(child, "exit"), once(child, "error")]);
  const sockets = child.stdio.flatMap((stream) => (stream instanceof Socket ? [stream] : []));
  for (const socket of sockets) socket.on("error", () => {});
  const reports = sockets.at(-1);
  if (reports === undefined) throw new Error("Cannot create the session's network.");
  const launcher = followLauncher(reports, Buffer.from(`${options.join("\0")}\0`), {
    findInit: async (reported) => reported,
  });
  await Promise.race([launcher.started, exited]);
  const init = launcher.init();
  if (!launcher.hasStarted() || init === undefined) {
    child.kill("SIGKILL");
    throw new Error("Cannot create the session's network.");
  }
  let alive = true;
  const over = exited.then(() => {
    alive = false;
    for (const socket of sockets) socket.destroy();
  });
  for (const handle of [child, ...sockets]) handle.unref();
  return {
    enter({ network, processes }) {
      const which = [
        ...(network ? ["--net"] : []),
        // The launcher looks itself up in `/proc`, so it needs the `/proc` of this PID namespace.
        ...(processes === "none" ? [] : ["--pid", "--mount"]),
      ];
      const target = ["--target", String(init.pid), "--"];
      const grouped = processes === "below" ? [setsid] : [];
      return [nsenter, "--preserve-credentials", "--user", ...which, ...target, ...grouped];
    },
    isAlive: () => alive,
    async end() {
      if (!alive) return;
      child.ref();
      if ((await statusOf(init.pid))?.startTicks === init.startTicks) process.kill(init.pid, "SIGKILL");
      await over;
    },
  };
}
