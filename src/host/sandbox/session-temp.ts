import { realpathSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

/** Canonical, so that commands see no link in `TMPDIR`. Like most programs, it does without a folder that is missing. */
function tempRoot(): string {
  for (const path of [tmpdir(), "/tmp"]) {
    try {
      return realpathSync.native(path);
    } catch {
      // Try the next one.
    }
  }
  return tmpdir();
}

/** Our folder in the system's temp folder. Private and invisible to contained commands. */
export function ownRoot(): string {
  return join(tempRoot(), `tinman-${process.getuid?.() ?? "user"}`);
}

/** A session's temp folder. Separate, because the host offers it before the sandbox is loaded. */
export function sessionTemp(sessionId: string): string {
  const { createHash } = process.getBuiltinModule("node:crypto");
  const hash = createHash("sha256").update(`${homedir()}\0${sessionId}`).digest("hex");
  return join(ownRoot(), hash.slice(0, 12));
}
