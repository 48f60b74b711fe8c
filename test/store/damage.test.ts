import { appendFile, readFile, stat, truncate, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import type { DurableEvent } from "../../src/engine/event.ts";
import type { SessionStore } from "../../src/engine/ports.ts";
import { createJsonlStore } from "../../src/store/jsonl-store.ts";
import { maxRecordBytes } from "../../src/store/listing/listed-records.ts";
import { encodeRecord } from "../../src/store/records/records.ts";
import { isFullRun } from "../full-run.ts";
import { everyEvent, opened, prompt, prompts, stored, titled } from "./sample-events.ts";
import { tempHome } from "./temp-home.ts";

async function makeLog(events: readonly DurableEvent[]): Promise<{ store: SessionStore; path: string }> {
  const store = createJsonlStore({ home: await tempHome() });
  const log = await store.create(events[0] as DurableEvent);
  await log.append(events.slice(1));
  await log.release();
  return { store, path: (await store.info("s1")).path };
}

async function appendNext(store: SessionStore, seq: number): Promise<void> {
  const log = await store.acquire("s1");
  await log.append([prompt("s1", seq)]);
  await log.append([prompt("s1", seq + 1)]);
  await log.release();
}

/** Every length between these; in the short run every third, and those around a record's end. */
function cuts(from: number, to: number, ends: readonly number[]): readonly number[] {
  const isTried = (size: number): boolean =>
    isFullRun || size % 3 === 0 || ends.some((end) => Math.abs(end - size) < 3);
  return Array.from({ length: to - from + 1 }, (_, index) => from + index).filter(isTried);
}

describe("a truncated log", () => {
  it("loads if cut at any byte of its last three records, and continues without a gap", async () => {
    const events = [...everyEvent("s1").slice(0, 4), prompt("s1", 5, "é 只回复 \u{1F600}"), prompt("s1", 6, "last")];
    const { store, path } = await makeLog(events);
    const whole = await readFile(path);
    const lengths = events.map((event) => Buffer.byteLength(`${encodeRecord(event)}\n`));
    const ends = lengths.map((_, index) => lengths.slice(0, index + 1).reduce((sum, length) => sum + length, 0));
    for (const size of cuts(ends[2] ?? 0, whole.length, ends)) {
      await writeFile(path, whole.subarray(0, size));
      // A record that lacks only its newline is complete.
      const kept = ends.filter((end) => end - 1 <= size).length;
      const torn = (ends[kept - 1] ?? 0) < size;
      const damagedLines = torn ? [kept + 1] : [];
      const cut = await store.read("s1");
      expect({ size, cut }).toEqual({ size, cut: stored(events.slice(0, kept), damagedLines) });
      await appendNext(store, kept + 1);
      const added = [prompt("s1", kept + 1), prompt("s1", kept + 2)];
      const repaired = await store.read("s1");
      expect({ size, repaired }).toEqual({
        size,
        repaired: stored([...events.slice(0, kept), ...added], damagedLines),
      });
    }
  });

  it("loads with zeros at its end", async () => {
    const { store, path } = await makeLog([opened("s1"), prompt("s1", 2)]);
    await truncate(path, (await stat(path)).size + 5_000);
    expect(await store.read("s1")).toEqual(stored([opened("s1"), prompt("s1", 2)], [3]));
    await appendNext(store, 3);
    expect((await store.read("s1")).events).toEqual([opened("s1"), ...prompts("s1", 2, 4)]);
  });
});

describe("a damaged log", () => {
  it("loses only the damaged lines", async () => {
    const lines = [
      encodeRecord(opened("s1")),
      encodeRecord(prompt("s1", 2)),
      "garbage",
      encodeRecord(prompt("s1", 3)),
      '{"seq":4,"at":1,"type":"prompt.accepted","messageId":4,"content":[]}',
      "",
      encodeRecord(prompt("s1", 5)),
      `${encodeRecord(prompt("s1", 6))}\r`,
      encodeRecord(prompt("s1", 6, "the same number again")),
      encodeRecord(prompt("s1", 4, "a number from before")),
      '{"seq":7,"at":1,"type":"session.compacted","into":"less"}',
      encodeRecord(prompt("s1", 8)),
    ];
    const { store, path } = await makeLog([opened("s1")]);
    await writeFile(path, `${lines.join("\n")}\n`);
    const kept = [opened("s1"), prompt("s1", 2), prompt("s1", 3), prompt("s1", 5), prompt("s1", 6), prompt("s1", 8)];
    expect(await store.read("s1")).toEqual(stored(kept, [3, 5, 9, 10, 11]));
  });

  it.each([
    '"changes":{"modelId":null}',
    '"changes":{"autonomy":null}',
    '"changes":{},"cwd":5',
    '"changes":{},"cwd":"below/nothing"',
  ])("ignores changes that would remove or break a required field: %s", async (fields) => {
    const { store, path } = await makeLog([opened("s1"), prompt("s1", 2)]);
    await appendFile(path, `{"seq":3,"at":1,"type":"session.updated",${fields}}\n`);
    expect(await store.read("s1")).toEqual(stored([opened("s1"), prompt("s1", 2)], [3]));
  });

  it.each([6, 1_000, 2 ** 40])("loses only the record whose seq became %i", async (seq) => {
    const { store, path } = await makeLog([opened("s1")]);
    const records = [opened("s1"), prompt("s1", 2), { ...prompt("s1", 3), seq }, ...prompts("s1", 4, 6)];
    await writeFile(path, `${records.map(encodeRecord).join("\n")}\n`);
    const kept = [opened("s1"), prompt("s1", 2), ...prompts("s1", 4, 6)];
    expect(await store.read("s1")).toEqual(stored(kept, [3]));
  });

  it("reports deleted lines by the missing seqs", async () => {
    const { store, path } = await makeLog([opened("s1")]);
    const write = (...lines: readonly string[]) => writeFile(path, `${lines.join("\n")}\n`);
    const line = (seq: number) => encodeRecord(prompt("s1", seq));
    const first = encodeRecord(opened("s1"));
    await write(first, line(3), line(4), line(7));
    const gaps = [
      { from: 2, to: 2 },
      { from: 5, to: 6 },
    ];
    expect(await store.read("s1")).toEqual(stored([opened("s1"), ...prompts("s1", 3, 4), prompt("s1", 7)], [], gaps));
    await write(first, line(2), "garbage", line(5));
    const beside = [{ from: 3, to: 4 }];
    expect(await store.read("s1")).toEqual(stored([opened("s1"), prompt("s1", 2), prompt("s1", 5)], [3], beside));
    await write(first, line(2), '{"seq":3,"at":1,"type":"session.compacted","into":"less"}', line(5));
    const behind = [{ from: 4, to: 4 }];
    expect(await store.read("s1")).toEqual(stored([opened("s1"), prompt("s1", 2), prompt("s1", 5)], [3], behind));
  });

  it("continues after a record with the largest possible seq", async () => {
    const { store, path } = await makeLog([opened("s1"), prompt("s1", 2)]);
    const last = `{"seq":${Number.MAX_SAFE_INTEGER},"at":1,"type":"prompt.discarded","messageId":"m2"}`;
    await appendFile(path, `${last}\n`);
    await appendNext(store, 3);
    expect(await store.read("s1")).toEqual(stored([opened("s1"), ...prompts("s1", 2, 4)], [3]));
  });

  it("includes a final record of an unknown type in lastSeq", async () => {
    const { store, path } = await makeLog([opened("s1"), prompt("s1", 2)]);
    await appendFile(path, '{"seq":3,"at":1,"type":"session.compacted","into":"less"}\n');
    expect(await store.read("s1")).toEqual({ ...stored([opened("s1"), prompt("s1", 2)], [3]), lastSeq: 3 });
  });

  it("reports a line that is not UTF-8 as damaged", async () => {
    const { store, path } = await makeLog([opened("s1"), prompt("s1", 2, "café"), prompt("s1", 3)]);
    const bytes = await readFile(path);
    const at = bytes.indexOf(Buffer.from("é"));
    bytes[at] = 0x20;
    await writeFile(path, bytes);
    expect(await store.read("s1")).toEqual(stored([opened("s1"), prompt("s1", 3)], [2]));
  });

  it("skips an overlong line without loading it", async () => {
    const { store, path } = await makeLog([opened("s1"), prompt("s1", 2)]);
    for (let piece = 0; piece < 3; piece++) await appendFile(path, Buffer.alloc(maxRecordBytes, "x"));
    await appendFile(path, `\n${encodeRecord(prompt("s1", 3))}\n`);
    expect(await store.read("s1")).toEqual(stored([opened("s1"), ...prompts("s1", 2, 3)], [3]));
  });

  it("has the last readable title", async () => {
    const { store, path } = await makeLog([opened("s1"), titled("s1", 2, "Good")]);
    await appendFile(
      path,
      '{"seq":3,"at":1,"type":"session.titled","title":5}\n{"type":"session.titled","title":"torn',
    );
    expect((await store.info("s1")).title).toBe("Good");
  });

  it("takes a title only from a title record", async () => {
    const { store } = await makeLog(everyEvent("s1"));
    expect((await store.info("s1")).title).toBe('Say "type":"session.titled"');
  });
});

describe("a log with a damaged start", () => {
  it.each([
    ["garbage", "its first line is damaged"],
    ['{"type":"session_start","version":1,"id":"s1"', "its first line is damaged"],
    ["\n", "its first line is damaged"],
    [`${encodeRecord(prompt("s1", 2))}\n`, "its first line is damaged"],
    ['{"type":"session_start","version":9}\n', "a later version of Tinman wrote it (format 9; this one knows up to 1)"],
  ])("is rejected with a message that names the file: %j", async (content, why) => {
    const { store, path } = await makeLog([opened("s1")]);
    await writeFile(path, content);
    const failure = { code: "storage_failed", message: `Cannot read ${path}: ${why}.` };
    await expect(store.read("s1")).rejects.toMatchObject(failure);
    await expect(store.info("s1")).rejects.toMatchObject(failure);
    await expect(store.create(opened("s1"))).rejects.toMatchObject({ code: "session_exists" });
    expect(await store.list()).toEqual([]);
    await store.remove("s1");
    await expect(store.read("s1")).rejects.toMatchObject({ code: "session_not_found" });
  });

  it("does not count as a session while empty, and can be replaced", async () => {
    const { store, path } = await makeLog([opened("s1")]);
    await writeFile(path, "");
    await expect(store.read("s1")).rejects.toMatchObject({ code: "session_not_found" });
    await expect(store.acquire("s1")).rejects.toMatchObject({ code: "session_not_found" });
    expect(await store.list()).toEqual([]);
    await (await store.create(opened("s1", "/elsewhere"))).release();
    expect(await store.read("s1")).toEqual(stored([opened("s1", "/elsewhere")], []));
    await expect(stat(path)).rejects.toMatchObject({ code: "ENOENT" });
  });
});

describe("a large log", () => {
  it("is read in chunks that split lines and characters", async () => {
    const { store, path } = await makeLog([opened("s1")]);
    const text = "只回复 é ".repeat(60_000);
    const lines: string[] = [];
    for (let seq = 2; seq <= 80; seq++) lines.push(encodeRecord(prompt("s1", seq, text)));
    await appendFile(path, `${lines.join("\n")}\n`);
    const { events, damagedLines } = await store.read("s1");
    expect({ count: events.length, damagedLines }).toEqual({ count: 80, damagedLines: [] });
    expect(events.every((event, index) => event.seq === index + 1)).toBe(true);
    expect(events.at(-1)).toEqual(prompt("s1", 80, text));
  });
});

describe("the events after a seq", () => {
  /** For a log of five records: the events that a reader of the whole log returns after each seq. */
  async function sameAsWhole(store: SessionStore): Promise<void> {
    const whole = await store.read("s1");
    for (let after = 1; after <= 7; after += 1) {
      const { events, lastSeq } = await store.read("s1", after);
      const expected = { events: whole.events.filter(({ seq }) => seq > after), lastSeq: whole.lastSeq };
      expect({ after, events, lastSeq }).toEqual({ after, ...expected });
    }
  }

  it("match those of a complete read, wherever the log was cut", async () => {
    const { store, path } = await makeLog([opened("s1"), ...prompts("s1", 2, 5)]);
    const whole = await readFile(path);
    const start = whole.lastIndexOf('{"seq":4');
    for (const size of cuts(start - 1, whole.length, [start, whole.length])) {
      await writeFile(path, whole.subarray(0, size));
      await sameAsWhole(store);
    }
  });

  it.each([
    ["a malformed line", (lines: string[]) => lines.splice(4, 0, "{oops")],
    ["an empty line", (lines: string[]) => lines.splice(4, 0, "")],
    ["a damaged record", (lines: string[]) => lines.splice(4, 1, (lines[4] ?? "").replace("prompt", "\u0000"))],
    ["a missing record", (lines: string[]) => lines.splice(3, 1)],
    ["a duplicate record", (lines: string[]) => lines.splice(4, 0, lines[3] ?? "")],
    ["a record from a later version", (lines: string[]) => lines.push('{"seq":6,"at":1,"type":"later.event"}')],
    ["zeros at its end", (lines: string[]) => lines.push("\0".repeat(5_000))],
  ])("match those of a complete read, in a log with %s", async (_, damage) => {
    const { store, path } = await makeLog([opened("s1"), ...prompts("s1", 2, 5)]);
    const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
    damage(lines);
    await writeFile(path, `${lines.join("\n")}\n`);
    await sameAsWhole(store);
  });

  it("are read without looking at earlier records", async () => {
    const { store, path } = await makeLog([opened("s1"), ...prompts("s1", 2, 5)]);
    const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
    await writeFile(path, `${["damaged", "damaged", ...lines.slice(2)].join("\n")}\n`);
    expect(await store.read("s1", 3)).toEqual(stored(prompts("s1", 4, 5), []));
    await expect(store.read("s1")).rejects.toMatchObject({ code: "storage_failed" });
  });
});
