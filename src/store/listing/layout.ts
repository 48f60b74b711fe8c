import { join } from "node:path";
import { fingerprint } from "./fingerprint.ts";

/** Paths in Tinman's home. */
interface Layout {
  readonly home: string;
  readonly sessions: string;
  readonly locks: string;
  readonly outputs: string;
}

export function layoutOf(home: string): Layout {
  return { home, sessions: join(home, "sessions"), locks: join(home, "locks"), outputs: join(home, "outputs") };
}

export const logSuffix = ".jsonl";

/** Whether an id is safe as a file name. */
export function isSessionId(id: string): boolean {
  return /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/.test(id) && !id.includes("..");
}

/** The folder name for a working directory's sessions: its readable end, plus a hash that makes it unique. */
export function cwdSlug(cwd: string): string {
  const words = cwd.replaceAll(/[^\p{L}\p{N}._-]/gu, "-").replace(/^[-.]+/, "");
  const readable =
    Array.from(words)
      .slice(-48)
      .join("")
      .replace(/^[-.]+/, "") || "root";
  return `${readable}-${fingerprint(cwd)}`;
}
