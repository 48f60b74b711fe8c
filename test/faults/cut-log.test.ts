import { randomUUID } from "node:crypto";
import { constants, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { foldLog } from "../../src/engine/log/history.ts";
import { resultObject } from "../../src/protocol/stream-json.ts";
import { createJsonlStore } from "../../src/store/jsonl-store.ts";
import type { LogFile } from "../../src/store/log-writer.ts";
import type { Bench } from "../e2e/tinman.ts";
import { createBench } from "../e2e/tinman.ts";
import { ask, createKit, says } from "../fakes/kit.ts";
import { createMemoryHost } from "../fakes/memory-host.ts";
import { noticesIn, openWire } from "../fakes/rpc/wire.ts";
import { isFullRun } from "../full-run.ts";
import { drawsFor, figures, forEach, hangMs, ownHome, seed } from "./form.ts";

let bench: Bench;
let model: string;
/** A log written by the built program, with the offsets of its records. */
let log: Buffer;
let starts: number[];

beforeAll(async () => {
  bench = await createBench();
  await bench.file("a.txt", "hello\n");
  model = await bench.script([
    { when: { user: "and now" }, text: "Here again.", times: "any" },
    {
      reasoning: "Thinking – 只想一下.",
      text: "Let me look, naïvely.",
      tool_calls: [
        { name: "Read", input: { file_path: "a.txt" } },
        { name: "Execute", input: { command: "echo 'ünï → 🦊'" } },
      ],
    },
    { text: 'Done: "ünï → 🦊".' },
  ]);
  const run = await bench.tinman(["exec", "-o", "json", "--auto", "high", "-m", model, "go – los"]);
  const { session_id: id } = resultObject.parse(JSON.parse(run.stdout));
  log = readFileSync((await bench.tinman(["sessions", "path", id])).stdout.trim());
  starts = [0];
  for (let at = log.indexOf(0x0a); at !== -1 && at + 1 < log.length; at = log.indexOf(0x0a, at + 1))
    starts.push(at + 1);
});
afterAll(() => bench.remove());

/** A session whose log is the first `length` bytes of the real one. */
function cutAt(length: number, home: string): { id: string; path: string; bytes: Buffer } {
  const id = randomUUID();
  const bytes = Buffer.from(log.subarray(0, length));
  const [first = ""] = log.toString().split("\n");
  // Ids have the same length, so offsets stay the same.
  bytes.write(first.replace(JSON.parse(first).id, id), 0);
  const path = join(home, "sessions", "project", `${id}.jsonl`);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, bytes);
  return { id, path, bytes };
}

/** Number of complete records. The last one needs no line end. */
function wholeAt(length: number): number {
  return starts.filter((start, index) => length >= (starts[index + 1] ?? log.length) - 1 && start < length).length;
}

/** Every byte from the start of the last three records to the end; the short run takes a random sample. */
function lastThree(): number[] {
  const first = starts.at(-3) ?? 0;
  return Array.from({ length: log.length - first + 1 }, (_, index) => first + index);
}

const numbers = (text: string): unknown[] =>
  text.split("\n").flatMap((line) => {
    try {
      return [JSON.parse(line).seq];
    } catch {
      return [];
    }
  });

test("a log cut at any byte keeps every complete record, and continues after them", {
  timeout: hangMs,
}, async () => {
  const home = join(bench.root, "cuts");
  const cuts = isFullRun
    ? Array.from({ length: log.length - (starts[1] ?? 0) + 1 }, (_, at) => (starts[1] ?? 0) + at)
    : lastThree().filter(
        (at) => at % 4 === seed % 4 || [...starts, log.length].some((edge) => Math.abs(at - edge) < 2),
      );
  // Syncing to disk does not matter here.
  const openLog = async (path: string): Promise<LogFile> =>
    Object.assign(await open(path, constants.O_RDWR | constants.O_APPEND), { datasync: async () => undefined });
  const store = createJsonlStore({ home, openLog });
  const host = createMemoryHost({ [join(bench.cwd, "a.txt")]: "hello\n" });
  const all = await store.read(cutAt(log.length, home).id);
  const findings: string[] = [];
  for (const length of cuts) {
    const { id, path, bytes } = cutAt(length, home);
    const whole = wholeAt(length);
    const kept = all.events.slice(0, whole).map((event) => ({ ...event, sessionId: id }));
    const isTorn = !starts.includes(length) && length !== log.length && length > (starts[whole] ?? log.length);
    try {
      const damage = { damagedLines: isTorn ? [whole + 1] : [], missingRecords: [] };
      expect(await store.read(id)).toEqual({ events: kept, lastSeq: whole, ...damage });
      const { engine } = createKit([says("Here again.")], { store, host });
      const { session, damage: reported } = await engine.resume(id);
      expect(reported).toEqual(damage);
      // Opening it changed nothing.
      expect(readFileSync(path).equals(bytes)).toBe(true);
      expect((await ask(session, "and now")).reason).toBe("completed");
      await session.close();
      const after = readFileSync(path);
      expect(after.subarray(0, length).equals(bytes)).toBe(true);
      const { events } = await store.read(id);
      expect(events.slice(0, whole)).toEqual(kept);
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
      const { messages, turn, waiting } = foldLog(events);
      expect([turn, waiting.size, messages.at(-1)?.content]).toEqual([
        undefined,
        0,
        [{ type: "text", text: "Here again." }],
      ]);
    } catch (error) {
      findings.push(`cut at byte ${length} of ${log.length}: ${error instanceof Error ? error.message : error}`);
    }
  }
  figures("log cut at every byte, in process", { cuts: cuts.length, failures: findings.length });
  expect(findings).toEqual([]);
});

test("the built program shows, continues and loads a truncated log", { timeout: hangMs }, async () => {
  const home = ownHome(bench);
  const random = drawsFor(0);
  const [first = 0, second = 0, third = 0] = starts.slice(-3);
  const edges = [first, first + 1, second - 1, third - 1, third + 1, log.length - 1];
  const drawn = Array.from({ length: isFullRun ? 54 : 0 }, () => first + random.below(log.length - first));
  const cuts = isFullRun ? [...edges, ...drawn] : edges.filter((_, index) => index % 2 === seed % 2);
  const findings: string[] = [];
  await forEach(cuts.length, async (nth) => {
    const length = cuts[nth] ?? 0;
    const { id, path, bytes } = cutAt(length, home);
    const whole = wholeAt(length);
    const isTorn = length > (starts[whole] ?? log.length);
    const words = isTorn ? `tinman: 1 damaged line of the session log skipped (line ${whole + 1}).\n` : "";
    try {
      const show = await bench.tinman(["sessions", "show", id]);
      expect([show.code, show.stderr, show.stdout.includes("user: go – los")]).toEqual([0, words, true]);
      const wire = openWire(bench, { protocolVersion: "1.15.0" });
      const { result } = await wire.request("droid.load_session", { sessionId: id });
      expect(JSON.stringify(result)).toContain("go – los");
      expect(readFileSync(path).equals(bytes)).toBe(true);
      expect((await wire.request("droid.add_user_message", { text: "and now" })).error).toBeUndefined();
      await wire.waitForNotice("agent_turn_completed", 0, { reason: "completed" });
      wire.eof();
      expect((await wire.exit()).code).toBe(0);
      const next = await bench.tinman(["exec", "-s", id, "-m", model, "and now"]);
      expect([next.code, next.stdout, next.stderr]).toEqual([0, "Here again.\n", words]);
      const after = readFileSync(path);
      expect(after.subarray(0, length).equals(bytes)).toBe(true);
      const seqs = numbers(after.toString());
      expect(seqs).toEqual(seqs.map((_, index) => index + 1));
      expect(noticesIn(wire.received).filter(({ type }) => type === "error")).toEqual([]);
    } catch (error) {
      findings.push(`cut at byte ${length} of ${log.length}: ${error instanceof Error ? error.message : error}`);
    }
  });
  figures("log cut, built program", { cuts: cuts.length, failures: findings.length });
  expect(findings).toEqual([]);
});
