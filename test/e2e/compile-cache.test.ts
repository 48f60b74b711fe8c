import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Bench, createBench, mainFile } from "./tinman.ts";

let bench: Bench;
const dist = dirname(mainFile);
const folder = (): string => join(bench.home, ".tinman", "cache", "compiled");
const run = async (program = dist, prompt = "Just reply OK.") => {
  const { code, stdout, stderr } = await bench.shell(
    `"${process.execPath}" "${program}/main.cjs" exec -m offline "${prompt}" </dev/null`,
  );
  return { code, stdout, stderr };
};
const well = { code: 0, stdout: "OK\n", stderr: "" };
/** The compiled code that the runs so far have stored in the home. */
const kept = async (): Promise<ReadonlyMap<string, string>> => {
  const names = (await readdir(folder(), { recursive: true })).filter((name) => name.endsWith(".cjs"));
  return new Map(names.map((name) => [name.split("/").slice(1).join("/"), join(folder(), name)]));
};

beforeEach(async () => {
  bench = await createBench();
});
afterEach(() => bench.remove());

test("a command that needs no home creates none", async () => {
  expect((await bench.tinman(["--help"])).code).toBe(0);
  expect((await bench.tinman(["--version"])).code).toBe(0);
  expect(existsSync(join(bench.home, ".tinman"))).toBe(false);
});

test("works with a read-only home", async () => {
  await run();
  await bench.shell(`rm -rf "${folder()}" && touch "${folder()}"`);
  expect(await run()).toEqual(well);
});

/** A copy of the program that a test can change. */
async function copyOf(name: string): Promise<string> {
  const copy = join(bench.root, name);
  await bench.shell(`cp -R "${dist}" "${copy}"`);
  return copy;
}

describe("compiled code beside the program", () => {
  const place = `compiled/${process.version}-${process.arch}`;

  test("is all that a run in a fresh home needs", async () => {
    for (let time = 0; time < 3; time++) expect(await run()).toEqual(well);
    expect(existsSync(folder())).toBe(false);
  });

  test("is not used for a program that differs by one letter", async () => {
    const copy = await copyOf("changed");
    const offline = join(copy, "offline-model.cjs");
    const source = await readFile(offline, "utf8");
    await writeFile(offline, source.replace("You are welcome.", "You are wet-come."));
    for (let time = 0; time < 2; time++) {
      expect(await run(copy, "Thanks.")).toEqual({ ...well, stdout: "You are wet-come.\n" });
    }
    expect([...(await kept()).keys()]).toEqual(["exec/offline-model.cjs"]);
  });

  test.each([
    ["that others can write", "chmod go+w"],
    ["that is a link", "f() { mv $1 $1.moved && ln -s $1.moved $1; }; f"],
    ["that is cut", "truncate -s 50000"],
  ])("%s is not used", async (_, change) => {
    const copy = await copyOf("suspect");
    expect((await bench.shell(`${change} ${copy}/${place}/run.cjs`)).code).toBe(0);
    for (let time = 0; time < 2; time++) expect(await run(copy)).toEqual(well);
    expect([...(await kept()).keys()]).toEqual(["exec/run.cjs"]);
  });
});

describe("compiled code in the home, for a program without any", () => {
  let bare: string;
  const changesOf = async (): Promise<readonly number[]> =>
    Promise.all([...(await kept()).values()].map(async (path) => (await stat(path)).mtimeMs));

  beforeEach(async () => {
    bare = await copyOf("bare");
    await rm(join(bare, "compiled"), { recursive: true });
    await mkdir(folder(), { recursive: true });
  });

  test("is not stored by the very first run, which may be the only one", async () => {
    await rm(folder(), { recursive: true });
    expect(await run(bare)).toEqual(well);
    expect(await readdir(folder())).toEqual([]);
    expect(await run(bare)).toEqual(well);
    expect([...(await kept()).keys()]).toContain("exec/run.cjs");
  });

  test("is used by the next run, and only by its user", async () => {
    expect(await run(bare)).toEqual(well);
    const files = await kept();
    expect([...files.keys()]).toContain("exec/run.cjs");
    for (const path of files.values()) expect((await stat(path)).mode & 0o777).toBe(0o600);
    const before = await changesOf();
    expect(await run(bare)).toEqual(well);
    expect(await changesOf()).toEqual(before);
  });

  test("is rebuilt if it is damaged", async () => {
    await run(bare);
    const path = (await kept()).get("exec/run.cjs");
    if (path === undefined) throw new Error("nothing was kept");
    const whole = await readFile(path);
    const damaged = {
      empty: Buffer.alloc(0),
      cut: whole.subarray(0, whole.length / 2),
      "of another build": flipped(whole, 3),
      "damaged in front": flipped(whole, 30),
      "damaged in the middle": flipped(whole, whole.length / 2),
      "damaged at the end": flipped(whole, whole.length - 1),
    };
    for (const [name, bytes] of Object.entries(damaged)) {
      await writeFile(path, bytes);
      expect(await run(bare), name).toEqual(well);
      expect((await readFile(path)).equals(bytes), name).toBe(false);
    }
    expect(await run(bare)).toEqual(well);
  });

  test("is not used if others could have written it", async () => {
    await run(bare);
    const before = await changesOf();
    await bench.shell(`chmod -R go+w "${folder()}"`);
    expect(await run(bare)).toEqual(well);
    expect(await changesOf()).not.toEqual(before);
    for (const path of (await kept()).values()) expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test("is removed if it is from an earlier version", async () => {
    await mkdir(join(folder(), "0.0.0-old"));
    await run(bare);
    expect(await readdir(folder())).toEqual([expect.stringMatching(/^\d+\.\d+\.\d+-v\d/)]);
  });
});

function flipped(bytes: Buffer, at: number): Buffer {
  const changed = Buffer.from(bytes);
  const index = Math.floor(at);
  changed.writeUInt8((changed[index] ?? 0) ^ 0xff, index);
  return changed;
}
