import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { findOnPath } from "../src/host/executables.ts";

/** Tools that take their time to say which version they are. */
const slowTools = ["bun", "cargo", "clang", "cmake", "deno", "docker", "gcc", "go", "java", "php", "ruby", "rustc"];

/**
 * End-to-end tests run the built program, so it is built from this very source first. Most of them do it in a home that is
 * new, where it asks the machine's tools for their versions: the slow ones are found as a version manager's stand-ins here,
 * which it does not ask. How it asks has tests of its own, with tools of their own.
 */
export default function setup(): () => void {
  execFileSync("npm", ["run", "--silent", "build"], { stdio: "inherit" });
  const root = mkdtempSync(join(tmpdir(), "tinman-tools-"));
  const shims = join(root, "shims");
  mkdirSync(shims);
  for (const name of slowTools) {
    const found = findOnPath(name);
    if (found !== undefined) symlinkSync(found, join(shims, name));
  }
  const before = process.env.PATH;
  process.env.PATH = [shims, before].join(delimiter);
  return () => {
    process.env.PATH = before;
    rmSync(root, { recursive: true, force: true });
  };
}
