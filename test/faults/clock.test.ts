import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { completionLine, resultObject } from "../../src/protocol/stream-json.ts";
import { execute, logOf, open, prompt, turn } from "../e2e/rpc/raw-client.ts";
import type { Bench } from "../e2e/tinman.ts";
import { createBench, lines } from "../e2e/tinman.ts";
import { noticesIn, openWire } from "../fakes/rpc/wire.ts";
import { isFullRun } from "../full-run.ts";
import { startedBy } from "./disk.ts";
import { drawsFor, figures, forEach, hangMs, ownHome, preloaded, seed } from "./form.ts";
import { keptOf, nothingWrong, toldOver, verdictOf } from "./told.ts";

const rounds = isFullRun ? 24 : 2;
const protocolVersion = "1.15.0";

let bench: Bench;
beforeAll(async () => {
  bench = await createBench();
});
afterAll(() => bench.remove());

/** A program whose clock jumps; `nth` selects the jumps. */
function jumping(nth: number): Bench {
  const clock = drawsFor(nth).below(2 ** 32);
  return startedBy(bench, ["env"], preloaded("jumping-clock", { FAULT_CLOCK: String(clock) }));
}

/** Elapsed milliseconds by a clock that never jumps. */
async function measured<T>(work: () => Promise<T>): Promise<{ took: number; value: T }> {
  const begun = performance.now();
  const value = await work();
  return { took: performance.now() - begun, value };
}

const script = [
  { error: { status: 429, message: "Slow down.", retry_after_ms: 30 } },
  { reasoning: "Thinking.", text: ["One ", "two "], chunk_delay_ms: 5, ...execute("echo ran >> ran.txt") },
  { text: "Done." },
];

describe("a clock that jumps back and ahead", () => {
  test("shortens no time limit and changes no duration", { timeout: hangMs }, async () => {
    await forEach(rounds, async (nth) => {
      const where = `round ${nth} of seed ${seed}`;
      const model = await bench.script(script);
      const args = ["--auto", "high", "--timeout", "60s", "-m", model, "go"];
      const json = await measured(() => jumping(nth).tinman(["exec", "-o", "json", ...args]));
      const result = resultObject.parse(JSON.parse(json.value.stdout));
      expect([json.value.code, result.result], where).toEqual([0, "Done."]);
      expect(result.duration_ms, where).toBeGreaterThanOrEqual(30);
      expect(result.duration_ms, where).toBeLessThanOrEqual(Math.ceil(json.took));

      const stream = await measured(() => jumping(nth + 1_000).tinman(["exec", "-o", "stream-json", ...args]));
      const last = completionLine.parse(lines(stream.value.stdout).at(-1));
      expect([stream.value.code, last.finalText], where).toEqual([0, "Done."]);
      expect(last.durationMs, where).toBeGreaterThanOrEqual(30);
      expect(last.durationMs, where).toBeLessThanOrEqual(Math.ceil(stream.took));

      const log = await logOf(bench, result.session_id);
      expect(
        log.map(({ seq }) => seq),
        where,
      ).toEqual(log.map((_, index) => index + 1));
      const ended = log.find(({ type }) => type === "turn.ended");
      expect(ended?.durationMs, where).toBeLessThanOrEqual(Math.ceil(json.took));
      expect(ended?.durationMs, where).toBeGreaterThanOrEqual(30);
    });
    figures("clock that jumps", { rounds });
  });

  test("keeps a conversation in order, and a killed session can continue", {
    timeout: hangMs,
  }, async () => {
    await forEach(rounds, async (nth) => {
      const where = `round ${nth} of seed ${seed}`;
      const modelId = await bench.script([
        ...script,
        { text: "Second.", times: 1 },
        execute("sleep 600"),
        { when: { user: "and now" }, text: "Here again.", times: "any" },
      ]);
      const wire = openWire(jumping(nth + 2_000), { protocolVersion });
      const sessionId = await open(wire, bench, { modelId, autonomyLevel: "high" });
      const begun = performance.now();
      await turn(wire, "first");
      await turn(wire, "second");
      const durations = noticesIn(wire.received).filter(({ durationMs }) => durationMs !== undefined);
      const least = Math.min(...durations.map(({ durationMs }) => Number(durationMs)));
      const turns = durations.filter(({ type }) => type === "agent_turn_completed");
      const together = turns.reduce((sum, { durationMs }) => sum + Number(durationMs), 0);
      expect([durations.length, turns.length, least >= 0], where).toEqual([3, 2, true]);
      expect(together, where).toBeLessThanOrEqual(Math.ceil(performance.now() - begun));
      const from = wire.received.length;
      await prompt(wire, "third");
      await wire.waitForNotice("droid_working_state_changed", from, { newState: "executing_tool" });

      // No other process can write now, whatever the time.
      const second = await jumping(nth + 3_000).tinman(["exec", "-s", sessionId, "and now"]);
      expect([second.code, second.stderr], where).toEqual([
        1,
        `tinman: Session ${sessionId} is in use by process ${wire.pid}.\n`,
      ]);
      wire.kill("SIGKILL");
      await wire.exit();
      const next = await jumping(nth + 4_000).tinman(["exec", "-s", sessionId, "and now"]);
      expect([next.code, next.stdout, next.stderr], where).toEqual([0, "Here again.\n", ""]);

      const kept = await keptOf(ownHome(bench), sessionId);
      expect(verdictOf(toldOver(wire), kept, ""), where).toEqual(nothingWrong);
      const told = [...toldOver(wire).messages.keys()];
      expect(
        kept.messages.map(({ id }) => id).filter((id) => told.includes(id)),
        where,
      ).toEqual(told);
      const ends = (await logOf(bench, sessionId)).flatMap((one) => (one.type === "turn.ended" ? [one] : []));
      expect(Math.min(...ends.map(({ durationMs }) => Number(durationMs))), where).toBeGreaterThanOrEqual(0);
    });
  });
});

test("lists sessions by their last activity, whatever time their programs saw", async () => {
  const home = join(bench.root, "list-home");
  const env = { TINMAN_HOME: home };
  const ids: string[] = [];
  for (const nth of [0, 1, 2]) {
    const run = await jumping(nth).tinman(["exec", "-o", "json", "Just reply OK."], { env });
    ids.unshift(resultObject.parse(JSON.parse(run.stdout)).session_id);
  }
  const list = async (): Promise<string[]> =>
    JSON.parse((await jumping(9).tinman(["sessions", "list", "--json"], { env })).stdout).map(
      ({ id }: { id: string }) => id,
    );
  expect(await list()).toEqual(ids);
  const [newest = "", middle = "", oldest = ""] = ids;
  await jumping(7).tinman(["exec", "-s", oldest, "Just reply OK."], { env });
  expect(await list()).toEqual([oldest, newest, middle]);
});
