import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { endsIn, execute, logOf, open, prompt, quiet } from "../e2e/rpc/raw-client.ts";
import type { Bench } from "../e2e/tinman.ts";
import { createBench, lines } from "../e2e/tinman.ts";
import type { Received, Wire } from "../fakes/rpc/wire.ts";
import { noticesIn, openWire } from "../fakes/rpc/wire.ts";
import { isFullRun } from "../full-run.ts";
import { startedBy } from "./disk.ts";
import { drawsFor, figures, forEach, hangMs, ownHome, preloaded, seed } from "./form.ts";
import { keptOf, nothingWrong, toldOver, verdictOf } from "./told.ts";

const rounds = isFullRun ? 12 : 1;
const range = isFullRun ? "20 200" : "5 60";
const protocolVersion = "1.15.0";

let bench: Bench;
beforeAll(async () => {
  bench = await createBench();
});
afterAll(() => bench.remove());

function slow(nth: number, trace?: string): Bench {
  const disk = { FAULT_DISK: `${drawsFor(nth).below(2 ** 32)} ${range}` };
  return startedBy(
    bench,
    ["env"],
    preloaded("slow-disk", trace === undefined ? disk : { ...disk, FAULT_TRACE: trace }),
  );
}

/** The current content of all logs. */
function onDisk(): string {
  const sessions = join(ownHome(bench), "sessions");
  if (!existsSync(sessions)) return "";
  const names = readdirSync(sessions, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".jsonl"));
  return names.map((name) => readFileSync(join(sessions, name), "utf8")).join("");
}

/** Records that the log must contain by the time of a line. */
function wordsOf(message: Received, sent: Wire["sent"]): readonly string[] {
  const [notice] = noticesIn([message]);
  if (notice?.type === "create_message") return [(notice.message as { id: string }).id];
  if (notice?.type === "tool_result") return [`"callId":${JSON.stringify(notice.toolUseId)}`];
  if (notice?.type === "permission_resolved")
    return [`"type":"request.closed","requestId":${JSON.stringify(notice.requestId)}`];
  if (notice?.type === "session_title_updated") return [`"title":${JSON.stringify(notice.title)}`];
  if (message.result === undefined) return [];
  const request = sent.find(({ id }) => id === message.id);
  const { text, autonomyLevel } = (request?.params ?? {}) as { text?: string; autonomyLevel?: string };
  if (request?.method === "droid.add_user_message") return [`"text":${JSON.stringify(text)}`];
  if (request?.method === "droid.update_session_settings") return [`"autonomy":${JSON.stringify(autonomyLevel)}`];
  return [];
}

describe("a slow disk", () => {
  test("is awaited before anything is reported", { timeout: hangMs }, async () => {
    let checked = 0;
    await forEach(rounds, async (nth) => {
      const where = `round ${nth} of seed ${seed}`;
      const modelId = await bench.script([
        { reasoning: "Thinking.", text: ["One ", "two "], ...execute("echo ran >> ran.txt") },
        { text: ["Done ", "with it."] },
        { text: "Second.", times: "any" },
      ]);
      const trace = join(bench.root, `trace-${nth}`);
      const wire = openWire(slow(nth, trace), { protocolVersion, patienceMs: 60_000 });
      const early: string[] = [];
      let ends = 0;
      wire.subscribe((message) => {
        const there = onDisk();
        for (const words of wordsOf(message, wire.sent)) {
          checked += 1;
          if (!there.includes(words)) early.push(words);
        }
        // A turn's end is reported once synced; by then the next turn may have begun to write.
        ends += noticesIn([message]).filter(({ type }) => type === "agent_turn_completed").length;
        if (syncsIn(trace) < ends) early.push("the end of a turn");
      });
      const sessionId = await open(wire, bench, { modelId, autonomyLevel: "off" });
      await prompt(wire, "first");
      wire.answer(await wire.waitFor(({ method }) => method === "droid.request_permission", "a request"), {
        selectedOption: "proceed_once",
      });
      await prompt(wire, "second", { messageId: "second" });
      await wire.request("droid.rename_session", { title: "Named" });
      await wire.request("droid.update_session_settings", { autonomyLevel: "medium" });
      await wire.waitForNotice("agent_turn_completed", 0, { turnId: "second" });
      wire.eof();
      expect(await wire.exit(), where).toEqual(quiet);
      expect(early, where).toEqual([]);
      const log = await logOf(bench, sessionId);
      expect(
        log.map(({ seq }) => seq),
        where,
      ).toEqual(log.map((_, index) => index + 1));
      expect(verdictOf(toldOver(wire), await keptOf(ownHome(bench), sessionId), ""), where).toEqual(nothingWrong);
    });
    figures("slow disk", { rounds, delaysMs: range, told: checked, early: 0 });
    expect(checked).toBeGreaterThanOrEqual(rounds * 10);
  });

  test("delays neither the response to an interrupt nor the exit", { timeout: hangMs }, async () => {
    await forEach(rounds, async (nth) => {
      const where = `round ${nth} of seed ${seed}`;
      const modelId = await bench.script([
        { text: Array(200).fill("x".repeat(500)), chunk_delay_ms: 5 },
        { text: "Again.", times: "any" },
      ]);
      const wire = openWire(slow(nth + 100), { protocolVersion, patienceMs: 60_000 });
      const sessionId = await open(wire, bench, { modelId });
      await prompt(wire, "long");
      await wire.waitForNotice("assistant_text_delta");
      const [interrupted] = await Promise.all([
        wire.request("droid.interrupt_session", {}),
        prompt(wire, "behind it"),
        wire.request("droid.update_session_settings", { autonomyLevel: "low" }),
      ]);
      expect(interrupted.error, where).toBeUndefined();
      // All requested writes are done before the program exits.
      wire.eof();
      expect(await wire.exit(), where).toEqual(quiet);
      expect(await endsIn(bench, sessionId), where).toEqual(["interrupted", "completed"]);
      expect(verdictOf(toldOver(wire), await keptOf(ownHome(bench), sessionId), ""), where).toEqual(nothingWrong);
    });
  });

  test("does not change the order of a run", { timeout: hangMs }, async () => {
    const model = await bench.script([{ text: "One.", ...execute("echo ran") }, { text: "Two." }]);
    const run = await slow(500).tinman(["exec", "-o", "stream-json", "--auto", "high", "-m", model, "go"]);
    const [first, ...rest] = lines(run.stdout);
    expect([run.code, rest.map(({ type }) => type)]).toEqual([
      0,
      ["message", "message", "tool_call", "tool_result", "message", "completion"],
    ]);
    expect(await endsIn(bench, String(first?.session_id))).toEqual(["completed"]);
  });
});

function syncsIn(trace: string): number {
  if (!existsSync(trace)) return 0;
  return readFileSync(trace, "utf8")
    .split("\n")
    .filter((line) => line === "datasync").length;
}
