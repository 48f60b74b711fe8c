import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Bench, createBench } from "./tinman.ts";

let bench: Bench;
const folder = (): string => join(bench.home, ".tinman", "cache", "compiled");
const run = async () => {
  const { code, stdout, stderr } = await bench.tinman(["exec", "-m", "offline", "Just reply OK."]);
  return { code, stdout, stderr };
};
const well = { code: 0, stdout: "OK\n", stderr: "" };

beforeEach(async () => {
  bench = await createBench();
});
afterEach(() => bench.remove());

test("a command that needs no home makes none", async () => {
  expect((await bench.tinman(["--help"])).code).toBe(0);
  expect((await bench.tinman(["--version"])).code).toBe(0);
  expect(existsSync(join(bench.home, ".tinman"))).toBe(false);
});

test("runs with a home that cannot be written in", async () => {
  await run();
  await bench.shell(`rm -rf "${folder()}" && touch "${folder()}"`);
  expect(await run()).toEqual(well);
});

// Later ones have a switch for it, and their own files.
describe.runIf(process.versions.node.startsWith("20."))("compiled code on Node 20", () => {
  const kept = async (): Promise<ReadonlyMap<string, string>> => {
    const names = (await readdir(folder(), { recursive: true })).filter((name) => name.endsWith(".cjs"));
    return new Map(names.map((name) => [name, join(folder(), name)]));
  };
  const changesOf = async (): Promise<readonly number[]> =>
    Promise.all([...(await kept()).values()].map(async (path) => (await stat(path)).mtimeMs));

  beforeEach(() => mkdir(join(bench.home, ".tinman")));

  test("is not kept by the very first run, which may be the only one", async () => {
    await rm(join(bench.home, ".tinman"), { recursive: true });
    expect(await run()).toEqual(well);
    expect(existsSync(folder())).toBe(false);
    expect(await run()).toEqual(well);
    expect(existsSync(folder())).toBe(true);
  });

  test("is kept by a run in a home that is there, used by the next, and for the user alone", async () => {
    expect(await run()).toEqual(well);
    const files = await kept();
    expect([...files.keys()].map((name) => name.split("/").slice(1).join("/"))).toContain("exec/run.cjs");
    for (const path of files.values()) expect((await stat(path)).mode & 0o777).toBe(0o600);
    const before = await changesOf();
    expect(await run()).toEqual(well);
    expect(await changesOf()).toEqual(before);
  });

  test.each([
    ["empty", (): Buffer => Buffer.alloc(0)],
    ["cut", (bytes: Buffer): Buffer => bytes.subarray(0, bytes.length / 2)],
    ["of another build", (bytes: Buffer): Buffer => flipped(bytes, 3)],
    ["damaged in front", (bytes: Buffer): Buffer => flipped(bytes, 30)],
    ["damaged in the middle", (bytes: Buffer): Buffer => flipped(bytes, bytes.length / 2)],
    ["damaged at the end", (bytes: Buffer): Buffer => flipped(bytes, bytes.length - 1)],
  ])("that is %s is not used, and made anew", async (_, change) => {
    await run();
    const [path] = [...(await kept())].filter(([name]) => name.endsWith("exec/run.cjs")).map(([, full]) => full);
    if (path === undefined) throw new Error("nothing was kept");
    const broken = change(await readFile(path));
    await writeFile(path, broken);
    expect(await run()).toEqual(well);
    expect((await readFile(path)).equals(broken)).toBe(false);
    expect(await run()).toEqual(well);
  });

  test("that others can have written is not used", async () => {
    await run();
    const before = await changesOf();
    await bench.shell(`chmod -R go+w "${folder()}"`);
    expect(await run()).toEqual(well);
    expect(await changesOf()).not.toEqual(before);
    for (const path of (await kept()).values()) expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test("of an earlier version goes away", async () => {
    await run();
    await bench.shell(`mkdir -p "${folder()}/0.0.0-old" && rm -rf "${folder()}"/0.1*`);
    await run();
    expect(await readdir(folder())).toEqual([expect.stringMatching(/^\d+\.\d+\.\d+-v20\./)]);
    expect(existsSync(join(folder(), "0.0.0-old"))).toBe(false);
  });
});

function flipped(bytes: Buffer, at: number): Buffer {
  const changed = Buffer.from(bytes);
  const index = Math.floor(at);
  changed.writeUInt8((changed[index] ?? 0) ^ 0xff, index);
  return changed;
}
