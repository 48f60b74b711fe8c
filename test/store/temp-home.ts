import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A fresh home that is gone when the test is over. */
export async function tempHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "tinman-store-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  return home;
}

/** The locks that are held in a home. */
export function locksIn(home: string): Promise<string[]> {
  return readdir(join(home, "locks"));
}
