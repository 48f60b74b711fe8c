import type { Containment } from "../../engine/containment.ts";
import type { Mount } from "./walls/wall-plan.ts";

export interface SeatbeltSetup {
  readonly network: Containment["network"];
  readonly mounts: readonly Mount[];
}

export const sandboxExec = "/usr/bin/sandbox-exec";

/** Everything else is allowed: walls restrict files, processes, other programs and the network. */
const base = `(version 1)
(allow default)
(deny signal (with no-report))
(allow signal (target same-sandbox))
(deny process-info* (target others))
(deny appleevent-send)
(deny lsopen)
(deny file-write*)
(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/dtracehelper") (subpath "/dev/fd"))`;

function rule({ path, as }: Mount): string {
  const place = `(subpath ${JSON.stringify(path)})`;
  switch (as) {
    case "write":
      return `(allow file-read* file-write* ${place})`;
    case "anchor":
      return `(deny file-write-unlink (literal ${JSON.stringify(path)}))`;
    case "read":
      return `(deny file-write* ${place})\n(allow file-read* ${place})`;
    case "empty folder":
    case "empty file":
      return `(deny file-read* file-write* ${place})`;
  }
}

/**
 * The profile of macOS's `sandbox-exec` for the same walls. The last rule that matches a path counts, so a folder comes
 * before its content. Untested on a Mac.
 */
export function seatbeltProfile({ network, mounts }: SeatbeltSetup): string {
  return [base, ...(network === "session" ? ["(deny network*)"] : []), ...mounts.map(rule)].join("\n");
}
