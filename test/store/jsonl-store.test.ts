import { randomUUID } from "node:crypto";
import { chmod, copyFile, mkdir, readdir, readFile, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { createJsonlStore } from "../../src/store/jsonl-store.ts";
import { encodeRecord } from "../../src/store/records/records.ts";
import { opened, prompt, stored, titled } from "./sample-events.ts";
import { locksIn, tempHome } from "./temp-home.ts";

async function modeOf(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8);
}

describe("files", () => {
  it("are in a folder per working directory, with a readable name", async () => {
    const home = await tempHome();
    const store = createJsonlStore({ home });
    await (await store.create(opened("s1", "/home/me/my project"))).release();
    const { path, bytes } = await store.info("s1");
    expect(relative(home, path)).toMatch(/^sessions\/home-me-my-project-[0-9a-f]{16}\/s1\.jsonl$/);
    expect(await readFile(path, "utf8")).toBe(`${encodeRecord(opened("s1", "/home/me/my project"))}\n`);
    expect(bytes).toBe((await stat(path)).size);
    expect(await locksIn(home)).toEqual([]);
  });

  it("never share a folder between working directories", async () => {
    const store = createJsonlStore({ home: await tempHome() });
    const deep = `/${"d".repeat(300)}`;
    const folders = ["/a-b", "/a/b", "/a_b", "/a.b", "/a b", "/A/b", "/", "//", "/-a-b", "C:\\a", "c:/a", "/é", "/è"];
    const cwds = [...folders, deep, `${deep}/`, `/x${deep}`, `/${"深".repeat(200)}`, "/\ud800", "/\ud801"];
    for (const [index, cwd] of cwds.entries()) await (await store.create(opened(`s${index}`, cwd))).release();
    const names = (await store.list()).map(({ path }) => basename(dirname(path)));
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(cwds.length);
    for (const name of names) {
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
      expect(name).toMatch(/^[\p{L}\p{N}_][\p{L}\p{N}._-]*$/u);
    }
    for (const cwd of cwds) expect((await store.list({ cwd })).map((info) => info.cwd)).toEqual([cwd]);
  });

  it("are private, whatever the umask", async () => {
    for (const umask of [0o000, 0o022, 0o277]) {
      const home = join(await tempHome(), "made-by-us");
      const store = createJsonlStore({ home });
      const before = process.umask(umask);
      let log: Awaited<ReturnType<typeof store.create>>;
      try {
        log = await store.create(opened("s1"));
      } finally {
        process.umask(before);
      }
      const { path } = await store.info("s1");
      const modes = [home, join(home, "sessions"), dirname(path), join(home, "locks"), path].map(modeOf);
      expect(await Promise.all(modes)).toEqual(["700", "700", "700", "700", "600"]);
      const [lock = ""] = await locksIn(home);
      expect(Number.parseInt(await modeOf(join(home, "locks", lock)), 8) & 0o077).toBe(0);
      await log.release();
    }
  });

  it("make existing session and lock folders private, but keep the home's mode", async () => {
    const home = await tempHome();
    const store = createJsonlStore({ home });
    await mkdir(join(home, "sessions"));
    await mkdir(join(home, "locks"));
    for (const folder of [home, join(home, "sessions"), join(home, "locks")]) await chmod(folder, 0o755);
    await (await store.create(opened("s1"))).release();
    const modes = [home, join(home, "sessions"), join(home, "locks")].map(modeOf);
    expect(await Promise.all(modes)).toEqual(["755", "700", "700"]);
  });
});

describe("reading", () => {
  /** Names, modes, times and bytes of everything in a folder. */
  async function snapshot(folder: string): Promise<unknown[]> {
    const names = (await readdir(folder, { recursive: true })).sort();
    return Promise.all(
      ["", ...names].map(async (name) => {
        const { mode, mtimeNs, ctimeNs, size, ino } = await stat(join(folder, name), { bigint: true });
        const file = (await stat(join(folder, name))).isFile();
        const content = file ? (await readFile(join(folder, name))).toString("hex") : "";
        return { name, mode, mtimeNs, ctimeNs, size, ino, content };
      }),
    );
  }

  it("never writes, even to a damaged log", async () => {
    const home = await tempHome();
    const store = createJsonlStore({ home });
    await (await store.create(opened("s1"))).release();
    const { path } = await store.info("s1");
    await writeFile(path, `${encodeRecord(opened("s1"))}\nbroken\n${encodeRecord(prompt("s1", 2)).slice(0, -9)}`);
    await writeFile(join(dirname(path), "empty.jsonl"), "");
    await chmod(path, 0o400);
    await chmod(dirname(path), 0o500);
    const before = await snapshot(home);
    expect(await store.read("s1")).toEqual(stored([opened("s1")], [2, 3]));
    expect(await store.list()).toHaveLength(1);
    expect((await store.info("s1")).id).toBe("s1");
    await expect(store.read("empty")).rejects.toMatchObject({ code: "session_not_found" });
    expect(await snapshot(home)).toEqual(before);
    await chmod(dirname(path), 0o700);
  });

  it("does not create a missing home", async () => {
    const home = join(await tempHome(), "not-there");
    const store = createJsonlStore({ home });
    expect(await store.list()).toEqual([]);
    await expect(store.read("s1")).rejects.toMatchObject({ code: "session_not_found" });
    await expect(store.acquire("s1")).rejects.toMatchObject({ code: "session_not_found" });
    await expect(stat(home)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("leaves the log untouched by acquire and release", async () => {
    const home = await tempHome();
    const store = createJsonlStore({ home });
    await (await store.create(opened("s1"))).release();
    const before = await snapshot(join(home, "sessions"));
    await (await store.acquire("s1")).release();
    expect(await snapshot(join(home, "sessions"))).toEqual(before);
  });

  it("ignores links, folders and other files", async () => {
    const home = await tempHome();
    const store = createJsonlStore({ home });
    await (await store.create(opened("s1"))).release();
    const { path } = await store.info("s1");
    await symlink(path, join(dirname(path), "link.jsonl"));
    await mkdir(join(dirname(path), "folder.jsonl"));
    await copyFile(path, join(dirname(path), "-odd.jsonl"));
    await writeFile(join(home, "sessions", "stray-file"), "");
    await expect(store.read("link")).rejects.toMatchObject({ code: "session_not_found" });
    await expect(store.read("folder")).rejects.toMatchObject({ code: "session_not_found" });
    expect((await store.list()).map(({ id }) => id)).toEqual(["s1"]);
  });
});

describe("many sessions", () => {
  it("are listed newest first, each with its title", async () => {
    const home = await tempHome();
    const store = createJsonlStore({ home });
    await (await store.create(opened("first", "/many"))).release();
    const { path } = await store.info("first");
    const ids = Array.from({ length: 1_999 }, () => randomUUID());
    for (const [index, id] of ids.entries()) {
      const file = join(dirname(path), `${id}.jsonl`);
      await writeFile(file, `${encodeRecord(opened(id, "/many"))}\n${encodeRecord(titled(id, 2, `Title ${index}`))}\n`);
      await utimes(file, 1_000 + index, 1_000 + index);
    }
    const listed = await store.list({ cwd: "/many" });
    const expected = ids.map((id, index) => ({ id, title: `Title ${index}`, updatedAt: (1_000 + index) * 1_000 }));
    expect(listed.map(({ id }) => id)).toEqual(["first", ...ids.toReversed()]);
    expect(listed.slice(1).map(({ id, title, updatedAt }) => ({ id, title, updatedAt }))).toEqual(
      expected.toReversed(),
    );
    expect(await store.list({ limit: 3 })).toEqual(listed.slice(0, 3));
  });
});

describe("removing", () => {
  it("removes only the session's own outputs", async () => {
    const home = await tempHome();
    const store = createJsonlStore({ home });
    for (const id of ["s1", "s2"]) {
      await (await store.create(opened(id))).release();
      await mkdir(join(home, "outputs", id, "deep"), { recursive: true });
      await writeFile(join(home, "outputs", id, "deep", "1.txt"), "output");
    }
    await store.remove("s1");
    expect(await readdir(join(home, "outputs"))).toEqual(["s2"]);
    expect(await readdir(join(home, "outputs", "s2", "deep"))).toEqual(["1.txt"]);
    expect((await store.list()).map(({ id }) => id)).toEqual(["s2"]);
    expect(await locksIn(home)).toEqual([]);
  });

  it("keeps outputs until the last fork that refers to them is gone", async () => {
    const home = await tempHome();
    const store = createJsonlStore({ home });
    const forks = { s2: { sessionId: "s1", seq: 1 }, s3: { sessionId: "s2", seq: 1, before: ["s1"] } };
    for (const id of ["s1", "s2", "s3"] as const) {
      const first = id === "s1" ? opened(id) : { ...opened(id), forkOf: forks[id] };
      await (await store.create(first)).release();
      await mkdir(join(home, "outputs", id), { recursive: true });
    }
    const left: (readonly string[])[] = [];
    for (const id of ["s1", "s2", "s3"]) {
      await store.remove(id);
      left.push(await readdir(join(home, "outputs")));
    }
    expect(left).toEqual([["s1", "s2", "s3"], ["s1", "s2", "s3"], []]);
  });
});
