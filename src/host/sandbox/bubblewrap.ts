import { accessSync, constants, realpathSync } from "node:fs";
import type { Containment } from "../../engine/containment.ts";
import type { Mount } from "./walls/wall-plan.ts";

export interface BubblewrapSetup {
  readonly network: Containment["network"];
  /** False: the command joins the session's PID namespace. */
  readonly ownProcesses: boolean;
  readonly mounts: readonly Mount[];
  readonly emptyFile: string;
  readonly cwd: string;
  /** The command starts inside the session's network namespace. */
  readonly inSessionNetwork: boolean;
  /** The command can create user namespaces. Older versions of bubblewrap cannot prevent that. */
  readonly canNest: boolean;
}

function mountArguments({ path, as }: Mount, emptyFile: string): readonly string[] {
  switch (as) {
    case "write":
    case "anchor":
      return ["--bind", path, path];
    case "read":
      return ["--ro-bind", path, path];
    case "empty folder":
      return ["--perms", "0555", "--tmpfs", path];
    case "empty file":
      return ["--ro-bind", emptyFile, path];
  }
}

/**
 * The options of `bwrap`. Root has no capabilities inside, but still owns the kernel's settings in `/proc`. A command that
 * can create a user namespace could mount the control groups, and kill processes outside through them.
 */
export function bubblewrapOptions(setup: BubblewrapSetup): readonly string[] {
  const { network, ownProcesses } = setup;
  const isRoot = process.getuid?.() === 0;
  return [
    ...["--unshare-user", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL"],
    ...(setup.canNest ? [] : ["--disable-userns"]),
    ...(ownProcesses ? ["--unshare-pid"] : []),
    ...(network === "session" && !setup.inSessionNetwork ? ["--unshare-net"] : []),
    ...["--ro-bind", "/", "/", "--dev", "/dev"],
    ...(ownProcesses
      ? ["--proc", "/proc", ...(isRoot ? ["--remount-ro", "/proc"] : [])]
      : ["--ro-bind", "/proc", "/proc"]),
    ...setup.mounts.flatMap((mount) => mountArguments(mount, setup.emptyFile)),
    ...["--chdir", setup.cwd],
  ];
}

/**
 * Starts `bwrap` from a read-only mount if we could write its file. Otherwise a command could overwrite it through
 * `/proc/1/exe`, which its own mounts don't cover.
 */
export function unchangeable(bwrap: string): readonly string[] {
  try {
    accessSync(bwrap, constants.W_OK);
    const file = realpathSync.native(bwrap);
    return [bwrap, "--unshare-user", "--dev-bind", "/", "/", "--ro-bind", file, file, "--", bwrap];
  } catch {
    return [bwrap];
  }
}
