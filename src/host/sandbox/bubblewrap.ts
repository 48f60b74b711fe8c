import { accessSync, constants, realpathSync } from "node:fs";
import type { Containment } from "../../engine/containment.ts";
import type { Mount } from "./walls/wall-plan.ts";

export interface BubblewrapSetup {
  readonly network: Containment["network"];
  /** False: the command joins the session's. */
  readonly ownProcesses: boolean;
  readonly mounts: readonly Mount[];
  readonly emptyFile: string;
  readonly cwd: string;
  /** The command already is in the session's network. */
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
 * The options of `bwrap`. Root has no capability inside, but owns the kernel's settings in `/proc`. In a user namespace of
 * its own, a command could mount the control groups, and end processes outside with them.
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
 * Starts `bwrap` from a read-only mount if we could write it. A command reaches the launcher's file by `/proc/1/exe`,
 * where no mount of its own stands in the way.
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
