import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { bundleForChild } from "../../fakes/bundle-for-child.ts";

it("loses no server when several processes change mcp.json", async () => {
  const root = await mkdtemp(join(tmpdir(), "tinman-mcp-writes-"));
  try {
    const home = join(root, "home");
    await mkdir(home);
    const program = await bundleForChild(fileURLToPath(new URL("add-servers.ts", import.meta.url)), root);
    const add = (prefix: string) => promisify(execFile)(process.execPath, [program, home, prefix, "5"]);
    await Promise.all(["a", "b", "c", "d"].map(add));
    const file = JSON.parse(await readFile(join(home, "mcp.json"), "utf8")) as Record<string, Record<string, unknown>>;
    const all = ["a", "b", "c", "d"].flatMap((prefix) => [0, 1, 2, 3, 4].map((index) => `${prefix}${index}`));
    expect(Object.keys(file.mcpServers ?? {}).sort()).toEqual(all);
    expect(Object.keys(file.switches ?? {}).sort()).toEqual(all.filter((name) => /[024]/.test(name)));
    expect(await readdir(home)).toEqual(["locks", "mcp.json"]);
    expect(await readdir(join(home, "locks"))).toEqual([]);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});
