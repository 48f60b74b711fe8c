import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { bundleForChild } from "../../fakes/bundle-for-child.ts";

/** After compiling many expressions, an engine compiles later ones so that long matches need much of its stack. */
it("a long-running process also reads megabytes of blanks", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tinman-blank-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const program = await bundleForChild(join(import.meta.dirname, "blank-pages-child.ts"), folder);
  const texts = execFileSync(process.execPath, ["--no-regexp-optimization", program], { encoding: "utf8" });
  expect(JSON.parse(texts)).toEqual(["start end", "start end", "```\n  code\n```"]);
});
