import { join } from "node:path";
import { fingerprint } from "./fingerprint.ts";

/** Where things lie below Tinman's home. */
export interface Layout {
  readonly home: string;
  readonly sessions: string;
  readonly locks: string;
  readonly outputs: string;
}

export function layoutOf(home: string): Layout {
  return { home, sessions: join(home, "sessions"), locks: join(home, "locks"), outputs: join(home, "outputs") };
}

export const logSuffix = ".jsonl";

/** Only what passes here may become a part of a path. A UUID passes. */
export function isSessionId(id: string): boolean {
  return /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/.test(id) && !id.includes("..");
}

/** The folder name for the sessions of one working directory: its readable end, and a fingerprint that keeps different ones apart. */
export function cwdSlug(cwd: string): string {
  const words = cwd.replaceAll(/[^\p{L}\p{N}._-]/gu, "-").replace(/^[-.]+/, "");
  const readable =
    Array.from(words)
      .slice(-48)
      .join("")
      .replace(/^[-.]+/, "") || "root";
  return `${readable}-${fingerprint(cwd)}`;
}
