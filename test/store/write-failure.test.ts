import { constants } from "node:fs";
import { type FileHandle, open, readdir, readFile, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { SessionLog, SessionStore } from "../../src/engine/ports.ts";
import { createJsonlStore } from "../../src/store/jsonl-store.ts";
import { createLogWriter, type LogFile } from "../../src/store/log-writer.ts";
import { encodeRecord } from "../../src/store/records/records.ts";
import { opened, prompt, prompts, stored } from "./sample-events.ts";
import { locksIn, tempHome } from "./temp-home.ts";

/** A disk with limited space and other faults. */
interface Disk {
  room: number;
  /** Maximum bytes per write. */
  bite: number;
  truncates: boolean;
  syncs: boolean;
  synced: number;
  opened: number;
}

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: failed`), { code });
}

function onDisk(disk: Disk, handle: FileHandle): LogFile {
  return {
    stat: () => handle.stat(),
    read: (into, offset, length, position) => handle.read(into, offset, length, position),
    async write(bytes, offset) {
      const length = Math.min(bytes.length - offset, disk.bite, disk.room);
      if (length === 0) throw systemError("ENOSPC");
      disk.room -= length;
      return handle.write(bytes, offset, length);
    },
    async truncate(size) {
      if (!disk.truncates) throw systemError("EPERM");
      await handle.truncate(size);
    },
    async datasync() {
      if (!disk.syncs) throw systemError("EIO");
      disk.synced += 1;
    },
    close: () => handle.close(),
  };
}

async function sessionOn(
  changes: Partial<Disk>,
  durability: "turn" | "always" = "turn",
): Promise<{ disk: Disk; store: SessionStore; log: SessionLog; path: string }> {
  const disk = { room: 1e9, bite: 1e9, truncates: true, syncs: true, synced: 0, opened: 0, ...changes };
  const home = await tempHome();
  await (await createJsonlStore({ home }).create(opened("s1"))).release();
  const store = createJsonlStore({
    home,
    durability,
    async openLog(path) {
      disk.opened += 1;
      return onDisk(disk, await open(path, constants.O_RDWR | constants.O_APPEND));
    },
  });
  const log = await store.acquire("s1");
  onTestFinished(() => log.release());
  return { disk, store, log, path: (await store.info("s1")).path };
}

const record2 = Buffer.byteLength(encodeRecord(prompt("s1", 2)));

describe("a full disk", () => {
  it.each([0, 1, 20, record2 - 1, record2, record2 + 1, record2 + 30])(
    "after %i bytes fails the append with a clear message and leaves no trace",
    async (room) => {
      const { disk, store, log, path } = await sessionOn({ room });
      await expect(log.append(prompts("s1", 2, 3))).rejects.toMatchObject({
        code: "storage_failed",
        message: `Cannot write ${path}: no space is left on the disk (ENOSPC).`,
      });
      expect(await store.read("s1")).toEqual(stored([opened("s1")], []));
      disk.room = 1e9;
      await log.append([prompt("s1", 2, "something else under the same number")]);
      await log.append([prompt("s1", 3)]);
      await log.release();
      const kept = [opened("s1"), prompt("s1", 2, "something else under the same number"), prompt("s1", 3)];
      expect(await store.read("s1")).toEqual(stored(kept, []));
    },
  );

  it("leaves a torn record on its own line if it can't be truncated", async () => {
    const { disk, store, log } = await sessionOn({ room: 20, truncates: false });
    await expect(log.append([prompt("s1", 2)])).rejects.toMatchObject({ code: "storage_failed" });
    disk.room = 12;
    await expect(log.append([prompt("s1", 2)])).rejects.toMatchObject({ code: "storage_failed" });
    disk.room = 1e9;
    await log.append(prompts("s1", 2, 3));
    await log.release();
    expect(await store.read("s1")).toEqual(stored([opened("s1"), ...prompts("s1", 2, 3)], [2, 3]));
  });

  it.each([record2, record2 + 1, record2 + 30])(
    "stops writing if complete records of a failed append can't be truncated (%i bytes)",
    async (room) => {
      const { disk, store, log, path } = await sessionOn({ room, truncates: false });
      await expect(log.append(prompts("s1", 2, 3))).rejects.toMatchObject({ code: "storage_failed" });
      disk.room = 1e9;
      await expect(log.append([prompt("s1", 2)])).rejects.toMatchObject({
        code: "storage_failed",
        message: `Cannot write ${path}: a failed write left complete records at its end. Resume the session to continue.`,
      });
      await log.release();
      const next = await store.acquire("s1");
      expect((await store.read("s1")).events).toEqual([opened("s1"), prompt("s1", 2)]);
      await next.append([prompt("s1", 3)]);
      await next.release();
      expect((await store.read("s1")).events).toEqual([opened("s1"), ...prompts("s1", 2, 3)]);
    },
  );

  it("fails appends queued behind a failed one", async () => {
    const { log, store } = await sessionOn({ room: 250 });
    const second = log.append([prompt("s1", 2)]);
    const third = log.append([prompt("s1", 3, "x".repeat(500))]);
    const fourth = log.append([prompt("s1", 4)]);
    await second;
    await expect(third).rejects.toMatchObject({ code: "storage_failed" });
    await expect(fourth).rejects.toMatchObject({ code: "storage_failed" });
    await log.release();
    expect(await store.read("s1")).toEqual(stored([opened("s1"), prompt("s1", 2)], []));
  });
});

describe("writing", () => {
  it("continues after short writes", async () => {
    const { log, store } = await sessionOn({ bite: 7 });
    await log.append(prompts("s1", 2, 4));
    await log.release();
    expect(await store.read("s1")).toEqual(stored([opened("s1"), ...prompts("s1", 2, 4)], []));
  });

  it("opens the log once, at the first append", async () => {
    const { disk, log } = await sessionOn({});
    const seen = [disk.opened];
    await log.append([prompt("s1", 2)]);
    await log.append([prompt("s1", 3)]);
    seen.push(disk.opened);
    await log.release();
    expect(seen).toEqual([0, 1]);
  });

  it("syncs when asked to", async () => {
    const { disk, log } = await sessionOn({});
    await log.append([prompt("s1", 2)]);
    const before = disk.synced;
    await log.append([prompt("s1", 3)], { sync: true });
    const after = disk.synced;
    await log.release();
    expect([before, after]).toEqual([0, 1]);
  });

  it("syncs every append with durability always", async () => {
    const { disk, log } = await sessionOn({}, "always");
    await log.append([prompt("s1", 2)]);
    await log.append([prompt("s1", 3)]);
    await log.release();
    expect(disk.synced).toBe(2);
  });

  it("removes a record that could not be synced", async () => {
    const { disk, log, store } = await sessionOn({ syncs: false });
    await expect(log.append([prompt("s1", 2)], { sync: true })).rejects.toMatchObject({ code: "storage_failed" });
    expect((await store.read("s1")).events).toEqual([opened("s1")]);
    disk.syncs = true;
    await log.append([prompt("s1", 2)], { sync: true });
    await log.release();
    expect((await store.read("s1")).events).toEqual([opened("s1"), prompt("s1", 2)]);
  });

  it("names the file if the log was removed", async () => {
    const { log, path } = await sessionOn({});
    await unlink(path);
    await expect(log.append([prompt("s1", 2)])).rejects.toMatchObject({
      code: "storage_failed",
      message: `Cannot write ${path}: it does not exist (ENOENT).`,
    });
    await log.release();
  });
});

describe("a lost lease", () => {
  it("prevents further writes", async () => {
    const { path, store } = await sessionOn({});
    let lost = false;
    let released = 0;
    const log = createLogWriter({
      path,
      sessionId: "s1",
      lease: {
        isLost: () => lost,
        async release() {
          released += 1;
        },
      },
      openFile: () => open(path, constants.O_RDWR | constants.O_APPEND),
      syncAlways: false,
      created: false,
    });
    await log.append([prompt("s1", 2)]);
    lost = true;
    await expect(log.append([prompt("s1", 3)])).rejects.toMatchObject({
      code: "session_in_use",
      message: "Another process has taken over session s1.",
    });
    await log.release();
    await log.release();
    expect(released).toBe(1);
    expect(await store.read("s1")).toEqual(stored([opened("s1"), prompt("s1", 2)], []));
  });
});

describe("an unusable home", () => {
  it("fails with a clear message and leaves nothing behind", async () => {
    const home = await tempHome();
    await writeFile(join(home, "sessions"), "a file is in the way");
    const store = createJsonlStore({ home });
    await expect(store.create(opened("s1"))).rejects.toMatchObject({
      code: "storage_failed",
      message: expect.stringMatching(/sessions.*: part of the path is not a folder \(ENOTDIR\)\.$/),
    });
    expect(await locksIn(home)).toEqual([]);
    expect(await readFile(join(home, "sessions"), "utf8")).toBe("a file is in the way");
  });

  it("fails if locks can't be created", async () => {
    const home = await tempHome();
    await writeFile(join(home, "locks"), "");
    const store = createJsonlStore({ home });
    await expect(store.create(opened("s1"))).rejects.toMatchObject({ code: "storage_failed" });
    expect(await readdir(home)).toEqual(["locks"]);
  });
});

describe("a log changed from outside", () => {
  it.each<[what: string, touch: (path: string) => Promise<void>]>([
    ["removed", (path) => unlink(path)],
    ["cut", (path) => writeFile(path, "")],
    ["added to", (path) => writeFile(path, "{}\n", { flag: "a" })],
  ])("is no longer written: %s", async (_, touch) => {
    const { log, path } = await sessionOn({});
    await log.append([prompt("s1", 2)], { sync: true });
    await touch(path);
    const failure = {
      code: "storage_failed",
      message: `Cannot write ${path}: it was removed or changed by another program.`,
    };
    await expect(log.append([prompt("s1", 3)], { sync: true })).rejects.toMatchObject(failure);
    await expect(log.append([prompt("s1", 3)])).rejects.toMatchObject(failure);
  });
});
