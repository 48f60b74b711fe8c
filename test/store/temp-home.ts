import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A new home, removed after the test. */
export async function tempHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "tinman-store-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  return home;
}

/** The names of a home's lock files. */
export function locksIn(home: string): Promise<string[]> {
  return readdir(join(home, "locks"));
}
