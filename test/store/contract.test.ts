import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { DurableEvent } from "../../src/engine/event.ts";
import type { SessionStore } from "../../src/engine/ports.ts";
import { createJsonlStore } from "../../src/store/jsonl-store.ts";
import { maxRecordBytes } from "../../src/store/listing/listed-records.ts";
import { createMemoryStore } from "../fakes/memory-store.ts";
import { everyEvent, opened, prompt, prompts, stored, titled } from "./sample-events.ts";
import { tempHome } from "./temp-home.ts";

const stores: readonly { name: string; make: () => Promise<SessionStore> }[] = [
  { name: "the disk store", make: async () => createJsonlStore({ home: await tempHome() }) },
  {
    name: "the disk store, synced at every append",
    make: async () => createJsonlStore({ home: await tempHome(), durability: "always" }),
  },
  { name: "the memory store", make: async () => createMemoryStore() },
];

/** File times can have a resolution of several milliseconds. */
const nextInstant = () => pause(25);

describe.each(stores)("$name", ({ make }) => {
  it("reads every kind of event back unchanged", async () => {
    const store = await make();
    const [first, ...rest] = everyEvent("s1");
    const log = await store.create(first as DurableEvent);
    await log.append(rest, { sync: true });
    await log.release();
    expect(await store.read("s1")).toEqual(stored(everyEvent("s1"), []));
  });

  it("keeps lone surrogates", async () => {
    const store = await make();
    const log = await store.create(opened("s1"));
    await log.append([prompt("s1", 2, "half a pair: \ud83d and \udc00")]);
    await log.release();
    const { events } = await store.read("s1");
    expect(events[1]).toEqual(prompt("s1", 2, "half a pair: \ud83d and \udc00"));
  });

  it("returns the events after a seq", async () => {
    const store = await make();
    const [first, ...rest] = everyEvent("s1");
    const log = await store.create(first as DurableEvent);
    await log.append(rest);
    const events = everyEvent("s1");
    const lastSeq = events.length;
    for (let after = 0; after <= lastSeq + 2; after += 1) {
      const expected = {
        ...stored(
          events.filter(({ seq }) => seq > after),
          [],
        ),
        lastSeq,
      };
      expect({ after, log: await store.read("s1", after) }).toEqual({ after, log: expected });
    }
    await log.append([prompt("s1", lastSeq + 1)]);
    expect((await store.read("s1", lastSeq)).events).toEqual([prompt("s1", lastSeq + 1)]);
    await log.release();
    await expect(store.read("s2", 3)).rejects.toMatchObject({ code: "session_not_found" });
  });

  it("returns the events after a seq, however large the records are", async () => {
    const store = await make();
    const log = await store.create(opened("s1"));
    const sizes = [10, 65_400, 70_000, 1, 300_000, 5_000_000, 65_536, 20];
    const events = sizes.map((size, index) => prompt("s1", index + 2, "é".repeat(size)));
    await log.append(events);
    await log.release();
    for (let after = 1; after <= sizes.length + 1; after += 1) {
      const read = await store.read("s1", after);
      expect(read.events.map(({ seq }) => seq)).toEqual(events.map(({ seq }) => seq).filter((seq) => seq > after));
      expect(read.events).toEqual(events.filter(({ seq }) => seq > after));
    }
  });

  it("shows appended events to readers while the log is held", async () => {
    const store = await make();
    const log = await store.create(opened("s1"));
    await log.append(prompts("s1", 2, 3));
    expect(await store.read("s1")).toEqual(stored([opened("s1"), ...prompts("s1", 2, 3)], []));
    await log.release();
  });

  it("continues where a released log ended", async () => {
    const store = await make();
    await (await store.create(opened("s1"))).release();
    const log = await store.acquire("s1");
    await log.append([prompt("s1", 2)]);
    await log.append([]);
    await log.append([], { sync: true });
    await log.append([prompt("s1", 3)]);
    await log.release();
    expect((await store.read("s1")).events).toEqual([opened("s1"), ...prompts("s1", 2, 3)]);
  });

  it("keeps the order of concurrent appends", async () => {
    const store = await make();
    const log = await store.create(opened("s1"));
    await Promise.all(prompts("s1", 2, 60).map((event) => log.append([event])));
    await log.release();
    expect((await store.read("s1")).events).toEqual([opened("s1"), ...prompts("s1", 2, 60)]);
  });

  it("finishes appends before a release and rejects later ones", async () => {
    const store = await make();
    const log = await store.create(opened("s1"));
    const appended = log.append([prompt("s1", 2)]);
    await log.release();
    await appended;
    await log.release();
    await expect(log.append([prompt("s1", 3)])).rejects.toMatchObject({ code: "session_closed" });
    expect((await store.read("s1")).events).toEqual([opened("s1"), prompt("s1", 2)]);
  });

  it("rejects records out of order and stays usable", async () => {
    const store = await make();
    const log = await store.create(opened("s1"));
    await expect(log.append([prompt("s1", 1)])).rejects.toMatchObject({ code: "storage_failed" });
    await expect(log.append([prompt("s1", 3)])).rejects.toMatchObject({ code: "storage_failed" });
    await expect(log.append([prompt("s1", 2), prompt("s1", 4)])).rejects.toMatchObject({ code: "storage_failed" });
    await log.append([prompt("s1", 2)]);
    await log.release();
    expect(await store.read("s1")).toEqual(stored([opened("s1"), prompt("s1", 2)], []));
  });

  it("rejects events that could not be read back", async () => {
    const store = await make();
    const log = await store.create(opened("s1"));
    const broken: DurableEvent = { ...prompt("s1", 2), at: Number.NaN };
    await expect(log.append([broken])).rejects.toMatchObject({ code: "internal" });
    await expect(log.append([prompt("s2", 2)])).rejects.toMatchObject({ code: "internal" });
    await expect(store.create({ ...opened("s3"), seq: 2 })).rejects.toMatchObject({ code: "internal" });
    await expect(store.create({ ...prompt("s3", 1) })).rejects.toMatchObject({ code: "internal" });
    await log.release();
    expect(await store.read("s1")).toEqual(stored([opened("s1")], []));
    expect(await store.list()).toHaveLength(1);
  });

  it("rejects a batch with an oversized record without writing any of it", async () => {
    const store = await make();
    const log = await store.create(opened("s1"));
    const frame = Buffer.byteLength(
      JSON.stringify({
        seq: 2,
        at: 1_002,
        type: "prompt.accepted",
        messageId: "m2",
        content: [{ type: "text", text: "" }],
      }),
    );
    const largest = prompt("s1", 2, "x".repeat(maxRecordBytes - frame));
    const tooLarge = prompt("s1", 3, "x".repeat(maxRecordBytes - frame + 1));
    await expect(log.append([prompt("s1", 2), tooLarge])).rejects.toMatchObject({ code: "input_too_large" });
    expect((await store.read("s1")).events).toEqual([opened("s1")]);
    await log.append([largest]);
    await log.release();
    const { events, damagedLines } = await store.read("s1");
    expect({ seqs: events.map(({ seq }) => seq), damagedLines }).toEqual({ seqs: [1, 2], damagedLines: [] });
    await expect(store.create(opened("s2", `/${"x".repeat(maxRecordBytes)}`))).rejects.toMatchObject({
      code: "input_too_large",
    });
  });

  it("allows one holder per log", async () => {
    const store = await make();
    const log = await store.create(opened("s1"));
    await expect(store.acquire("s1")).rejects.toMatchObject({
      code: "session_in_use",
      message: `Session s1 is in use by process ${process.pid}.`,
    });
    await expect(store.remove("s1")).rejects.toMatchObject({ code: "session_in_use" });
    await log.release();
    const again = await store.acquire("s1");
    await expect(store.acquire("s1")).rejects.toMatchObject({ code: "session_in_use" });
    await again.release();
  });

  it("ignores a second release while a new holder has the log", async () => {
    const store = await make();
    const old = await store.create(opened("s1"));
    await old.release();
    const log = await store.acquire("s1");
    await old.release();
    await expect(store.acquire("s1")).rejects.toMatchObject({ code: "session_in_use" });
    await log.release();
  });

  it("rejects a duplicate id, from any folder", async () => {
    const store = await make();
    const log = await store.create(opened("s1"));
    await expect(store.create(opened("s1"))).rejects.toMatchObject({ code: "session_exists" });
    await expect(store.create(opened("s1", "/elsewhere"))).rejects.toMatchObject({ code: "session_exists" });
    await log.release();
    await expect(store.create(opened("s1", "/elsewhere"))).rejects.toMatchObject({ code: "session_exists" });
    expect((await store.read("s1")).events).toEqual([opened("s1")]);
  });

  it("rejects unknown and invalid ids as not found", async () => {
    const store = await make();
    for (const id of ["s1", "", "../x", "a/b", ".hidden", "-flag", "a..b", "x".repeat(200), "a\u0000b", "a\nb", "é"]) {
      const expected = { code: "session_not_found" };
      await expect(store.read(id)).rejects.toMatchObject(expected);
      await expect(store.acquire(id)).rejects.toMatchObject(expected);
      await expect(store.info(id)).rejects.toMatchObject(expected);
      await expect(store.remove(id)).rejects.toMatchObject(expected);
    }
    expect(await store.list()).toEqual([]);
  });

  it("accepts only ids that are safe in a path", async () => {
    const store = await make();
    for (const id of ["", "../x", "a/b", ".hidden", "-flag", "a..b", "x".repeat(129), "a~b", "a\nb", "a b", "s1\n"]) {
      await expect(store.create(opened(id))).rejects.toMatchObject({ code: "usage" });
    }
    for (const id of ["0d6fe0f4-6a3c-4b0e-9f4e-0a2b3c4d5e6f", "x".repeat(128), "_a.b-c"]) {
      await (await store.create(opened(id))).release();
      expect((await store.read(id)).events).toEqual([opened(id)]);
    }
  });

  it("lists sessions, last changed first", async () => {
    const store = await make();
    const a = await store.create(opened("a", "/one", 10));
    await nextInstant();
    const b = await store.create(opened("b", "/two", 20));
    await b.append([titled("b", 2, "First"), prompt("b", 3), titled("b", 4, "Second"), prompt("b", 5)]);
    await nextInstant();
    const c = await store.create(opened("c", "/one", 30));
    await nextInstant();
    await a.append([prompt("a", 2)]);
    const summary = async (query?: Parameters<SessionStore["list"]>[0]) =>
      (await store.list(query)).map(({ id, title, cwd, createdAt }) => ({ id, title, cwd, createdAt }));
    const [infoA, infoB, infoC] = [
      { id: "a", title: "", cwd: "/one", createdAt: 10 },
      { id: "b", title: "Second", cwd: "/two", createdAt: 20 },
      { id: "c", title: "", cwd: "/one", createdAt: 30 },
    ];
    expect(await summary()).toEqual([infoA, infoC, infoB]);
    expect(await summary({ limit: 2 })).toEqual([infoA, infoC]);
    expect(await summary({ limit: 0 })).toEqual([]);
    expect(await summary({ cwd: "/one" })).toEqual([infoA, infoC]);
    expect(await summary({ cwd: "/two", limit: 5 })).toEqual([infoB]);
    expect(await summary({ cwd: "/three" })).toEqual([]);
    expect(await store.info("b")).toEqual((await store.list()).at(-1));
    await Promise.all([a, b, c].map((log) => log.release()));
  });

  it("removes a session and frees its id", async () => {
    const store = await make();
    await (await store.create(opened("s1"))).release();
    await (await store.create(opened("s2"))).release();
    await store.remove("s1");
    await expect(store.read("s1")).rejects.toMatchObject({ code: "session_not_found" });
    expect((await store.list()).map(({ id }) => id)).toEqual(["s2"]);
    await (await store.create(opened("s1", "/elsewhere"))).release();
    expect((await store.read("s1")).events).toEqual([opened("s1", "/elsewhere")]);
  });

  it("reads a session of a thousand turns", async () => {
    const store = await make();
    const log = await store.create(opened("s1"));
    const events = prompts("s1", 2, 8_001);
    for (let from = 0; from < events.length; from += 800) await log.append(events.slice(from, from + 800));
    await log.release();
    expect(await store.read("s1")).toEqual(stored([opened("s1"), ...events], []));
  });
});
