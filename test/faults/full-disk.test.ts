import { cpSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { resultObject } from "../../src/protocol/stream-json.ts";
import { execute, open, prompt, quiet } from "../e2e/rpc/raw-client.ts";
import type { Bench } from "../e2e/tinman.ts";
import { createBench } from "../e2e/tinman.ts";
import type { Wire } from "../fakes/rpc/wire.ts";
import { noticesIn, openWire } from "../fakes/rpc/wire.ts";
import { isFullRun } from "../full-run.ts";
import type { Disk } from "./disk.ts";
import { createDisk, startedBy, whyNoDisk } from "./disk.ts";
import { figures, ownHome } from "./form.ts";
import { keptOf, nothingWrong, toldOver, verdictOf } from "./told.ts";

const protocolVersion = "1.15.0";
/** More than what is left of a disk block. */
const long = "0123456789".repeat(1_000);

let bench: Bench;
beforeAll(async () => {
  bench = await createBench();
});
afterAll(() => bench.remove());

const storageFailed = (words: RegExp): object => ({
  code: "storage_failed",
  message: expect.stringMatching(words),
});

/** The turn fails with a message, and the program stays usable and idle. */
async function failedTurn(wire: Wire, from: number, words: RegExp): Promise<void> {
  await wire.waitForNotice("droid_working_state_changed", from, { newState: "idle" });
  const notices = noticesIn(wire.received.slice(from));
  expect(notices.filter(({ type }) => type === "error")).toEqual([
    expect.objectContaining({ errorType: "SessionError", message: expect.stringMatching(words) }),
  ]);
  expect(notices.filter(({ type }) => type === "agent_turn_completed")).toEqual([
    expect.objectContaining({ reason: "completion_persistence_failed" }),
  ]);
  expect((await wire.request("droid.list_tools", {})).error).toBeUndefined();
}

async function wellDone(wire: Wire, text: string): Promise<void> {
  const from = wire.received.length;
  await prompt(wire, text);
  await wire.waitForNotice("droid_working_state_changed", from, { newState: "idle" });
  const ends = noticesIn(wire.received.slice(from)).filter(({ type }) => type === "agent_turn_completed");
  expect(ends.map(({ reason }) => reason)).toEqual(["completed"]);
}

/** Ends the program, and compares its output with its log. */
async function nothingIsLost(wire: Wire, home: string, sessionId: string): Promise<void> {
  wire.eof();
  expect(await wire.exit()).toEqual(quiet);
  // The names through which we see the disk must not be resolved.
  const copy = join(bench.root, `copy-of-${sessionId}`);
  cpSync(join(home, "sessions"), join(copy, "sessions"), { recursive: true });
  const kept = await keptOf(copy, sessionId);
  expect([verdictOf(toldOver(wire), kept, ""), kept.damagedLines]).toEqual([nothingWrong, 0]);
}

describe("a log that cannot grow", () => {
  const limited = (): Bench => startedBy(bench, ["bash", "-c", 'ulimit -f 32; exec "$@"', "sh"]);
  const words = /^Cannot write .*\.jsonl: the file would become too large \(EFBIG\)\.$/;

  test("fails the run with a message, and the session can be read and continued", async () => {
    const model = await bench.script([
      { repeat_text: { text: long, times: 10 } },
      { when: { user: "again" }, text: "Here again.", times: "any" },
    ]);
    const run = await limited().tinman(["exec", "-o", "json", "-m", model, "go"]);
    const { error, exit_code, session_id } = resultObject.parse(JSON.parse(run.stdout));
    expect([run.code, exit_code, error]).toEqual([1, 1, storageFailed(words)]);
    expect(run.stderr).toBe(`tinman: ${error?.message}\n`);
    const next = await bench.tinman(["exec", "-s", session_id, "-m", model, "again"]);
    expect(next).toEqual({ code: 0, signal: null, stdout: "Here again.\n", stderr: "" });
  });

  test("leaves no partial cache", async () => {
    const compiled = join(ownHome(bench), "cache", "compiled");
    mkdirSync(compiled, { recursive: true });
    const keptFiles = () => readdirSync(compiled, { recursive: true, encoding: "utf8" }).map((name) => basename(name));
    expect((await limited().tinman(["models"])).code).toBe(0);
    expect(keptFiles()).toEqual([expect.stringContaining("-v"), "models"]);
    expect((await bench.tinman(["models"])).code).toBe(0);
    expect(keptFiles()).toContain("run.cjs");
  });

  test("fails the turn, and the same process continues in another session", async () => {
    const modelId = await bench.script([
      { when: { user: "much" }, repeat_text: { text: long, times: 10 }, times: "any" },
      { text: "Little.", times: "any" },
    ]);
    const wire = openWire(limited(), { protocolVersion });
    const first = await open(wire, bench, { modelId });
    await wellDone(wire, "little");
    const from = wire.received.length;
    await prompt(wire, "much");
    await failedTurn(wire, from, words);
    const second = await open(wire, bench, { modelId });
    await wellDone(wire, "little again");
    wire.eof();
    expect(await wire.exit()).toEqual(quiet);
    const ends = [await keptOf(ownHome(bench), first), await keptOf(ownHome(bench), second)];
    expect(ends.map(({ damagedLines }) => damagedLines)).toEqual([0, 0]);
    expect(ends[0]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  });
});

const noDisk = whyNoDisk();
if (isFullRun) test("a disk can be mounted here", () => expect(noDisk).toBeUndefined());

// Users cannot mount disks everywhere; the full run requires it.
const describeDisk = noDisk === undefined ? describe : () => undefined;
describeDisk("a disk that becomes full", () => {
  let disk: Disk;
  beforeAll(async () => {
    disk = await createDisk(bench, "4m");
    // The compile cache would take the room.
    await disk.bench.tinman(["exec", "Just reply OK."]);
    await disk.bench.tinman(["exec", "Just reply OK."]);
  });
  afterAll(() => disk.remove());

  const words = /^Cannot write .*: no space is left on the disk \(ENOSPC\)\.$/;
  const filler = (): string => join(disk.seen, "filler");
  const fill = (): void => {
    expect(() => writeFileSync(filler(), Buffer.alloc(5_000_000))).toThrow("ENOSPC");
  };
  const free = (): void => rmSync(filler());
  const home = (): string => join(disk.seen, "home");

  test("before a run: one clear line, nothing half made, and the next run works", async () => {
    fill();
    const run = await disk.bench.tinman(["exec", "-o", "json", "Just reply OK."]);
    const { error, exit_code } = resultObject.parse(JSON.parse(run.stdout));
    expect([run.code, exit_code, error]).toEqual([1, 1, storageFailed(words)]);
    expect(run.stderr).toBe(`tinman: ${error?.message}\n`);
    const list = await disk.bench.tinman(["sessions", "list", "--json"]);
    expect([list.code, (JSON.parse(list.stdout) as unknown[]).length]).toEqual([0, 2]);
    free();
    expect((await disk.bench.tinman(["exec", "Just reply OK."])).stdout).toBe("OK\n");
    expect(readdirSync(join(home(), "locks"))).toEqual([]);
  });

  test("before a session continues: the session stays unchanged", async () => {
    const model = await bench.script([{ text: "One." }, { text: "Two." }]);
    const first = await disk.bench.tinman(["exec", "-o", "json", "-m", model, "go"]);
    const { session_id: id } = resultObject.parse(JSON.parse(first.stdout));
    const before = await disk.bench.tinman(["sessions", "show", id, "--json"]);
    fill();
    const run = await disk.bench.tinman(["exec", "-s", id, "-m", model, long]);
    expect([run.code, run.stdout, run.stderr]).toEqual([1, "", expect.stringMatching(/ENOSPC\)\.\n$/)]);
    const { messages } = JSON.parse((await disk.bench.tinman(["sessions", "show", id, "--json"])).stdout);
    expect(messages).toEqual(JSON.parse(before.stdout).messages);
    free();
    expect((await disk.bench.tinman(["exec", "-s", id, "-m", model, "go"])).stdout).toBe("Two.\n");
  });

  test("between a prompt and its answer, and in the middle of a long answer: the process continues", async () => {
    const modelId = await bench.script([
      { when: { user: "late" }, text: long, delay_ms: 300 },
      { when: { user: "long" }, text: Array(200).fill(long.slice(0, 1_000)), chunk_delay_ms: 10, times: "any" },
      { text: "Well.", times: "any" },
    ]);
    const wire = openWire(disk.bench, { protocolVersion });
    const sessionId = await open(wire, bench, { modelId });
    let from = wire.received.length;
    await prompt(wire, "late");
    fill();
    await failedTurn(wire, from, words);
    const refused = await wire.request("droid.add_user_message", { text: long });
    expect(refused.error).toEqual({
      code: -32603,
      message: expect.stringMatching(words),
      data: { code: "storage_failed" },
    });
    const rename = await wire.request("droid.rename_session", { title: long });
    const settings = await wire.request("droid.update_session_settings", { tags: [{ name: long }] });
    expect([rename.error?.data ?? rename.result, settings.error?.data]).toEqual([
      expect.anything(),
      { code: "storage_failed" },
    ]);
    free();
    await wellDone(wire, "one");
    from = wire.received.length;
    await prompt(wire, "long");
    await wire.waitForNotice("assistant_text_delta", from);
    fill();
    await failedTurn(wire, from, words);
    free();
    await wellDone(wire, "two");
    await nothingIsLost(wire, home(), sessionId);
  });

  test("during a tool's output: keeps the tool's result without the output, and the turn continues", async () => {
    const modelId = await bench.script([
      execute("head -c 8000000 /dev/zero | tr '\\0' x"),
      { text: "Well.", times: "any" },
    ]);
    const wire = openWire(disk.bench, { protocolVersion });
    const sessionId = await open(wire, bench, { modelId, autonomyLevel: "high" });
    await wellDone(wire, "go");
    await nothingIsLost(wire, home(), sessionId);
    const { bavail, bsize } = statfsSync(disk.seen);
    expect(bavail * bsize).toBeGreaterThan(200_000);
  });

  test("while storing the compile cache: leaves nothing of it", async () => {
    rmSync(join(home(), "cache"), { recursive: true });
    const { bavail, bsize } = statfsSync(disk.seen);
    writeFileSync(filler(), Buffer.alloc(bavail * bsize - 100_000));
    const runs = [await disk.bench.tinman(["exec", "Just reply OK."]), await disk.bench.tinman(["models"])];
    expect(runs.map(({ code, stderr }) => [code, stderr])).toEqual([
      [0, ""],
      [0, ""],
    ]);
    const left = statfsSync(disk.seen);
    expect(left.bavail * left.bsize).toBeGreaterThan(40_000);
    free();
  });

  test("figures", () => figures("full disk", { disk: "tmpfs, 4 MiB" }));
});
