import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { processesOfGroup } from "../../host/support.ts";
import { atBothLevels, ofType, reasonOf, results, run, since, usage } from "./both-levels.ts";

/** Until the test times out. */
async function untilThere(path: string, signal: AbortSignal): Promise<void> {
  while (!existsSync(path)) await pause(20, undefined, { signal });
}

atBothLevels((stage) => {
  describe("an interrupt", () => {
    const cancelled = (turn: { outcome: string }): void =>
      expect(turn.outcome).toBe(stage.client.level === "high" ? "interrupted" : "success");

    test("during a reply keeps its text", async () => {
      const { client } = stage;
      const pieces = Array.from({ length: 400 }, (_, at) => `w${at} `);
      await stage.scripted([{ text: pieces, chunk_delay_ms: 25 }, { text: "next" }]);
      const from = client.wire.received.length;
      const running = client.turn("go");
      await client.wire.waitForNotice("assistant_text_delta", from);
      await client.interrupt();
      const turn = await running;
      cancelled(turn);
      expect(reasonOf(turn)).toBe("cancelled");
      expect(turn.text).toMatch(/^w0 /);
      expect(ofType(turn, "error")).toEqual([]);
      expect((await client.turn("go on")).text).toBe("next");
    });

    test("right after the first busy state is not lost", async () => {
      const { client } = stage;
      await stage.scripted([{ delay_ms: 20_000, text: "too late" }]);
      const from = client.wire.received.length;
      const running = client.turn("go");
      await client.wire.waitForNotice("droid_working_state_changed", from);
      await client.interrupt();
      expect(reasonOf(await running)).toBe("cancelled");
    });

    test("during a tool ends the tool", async ({ signal }) => {
      const { client, bench } = stage;
      await stage.scripted([run("echo $$ > new; mv new pid; exec sleep 60", "low")], { autonomyLevel: "high" });
      const running = client.turn("go");
      await untilThere(join(bench.cwd, "pid"), signal);
      const group = Number(await bench.read("pid"));
      expect(processesOfGroup(group)).not.toEqual([]);
      await client.interrupt();
      const turn = await running;
      cancelled(turn);
      expect([reasonOf(turn), results(turn).map(({ isError }) => isError)]).toEqual(["cancelled", [true]]);
      expect(processesOfGroup(group)).toEqual([]);
    });

    test("during a request closes it; a late answer changes nothing", async () => {
      const { client } = stage;
      await stage.scripted([run("echo late > late.txt"), { text: "next" }]);
      client.handlers.permission = () => new Promise<never>(() => undefined);
      const from = client.wire.received.length;
      const running = client.turn("go");
      const request = await client.wire.waitFor(({ type }) => type === "request", "a request", from);
      await client.interrupt();
      const turn = await running;
      expect(reasonOf(turn)).toBe("cancelled");
      expect(ofType(turn, "permission_resolved")).toMatchObject([
        { requestId: request.id, toolUseIds: [], selectedOption: "cancel" },
      ]);
      client.wire.answer(request, { selectedOption: "proceed_once" });
      expect((await client.turn("go on")).text).toBe("next");
      expect(existsSync(join(stage.bench.cwd, "late.txt"))).toBe(false);
    });

    test("drops waiting prompts, with a message for each", async () => {
      const { client } = stage;
      await stage.scripted([{ delay_ms: 20_000, text: "too late" }]);
      const from = client.wire.received.length;
      const running = client.turn("first");
      await client.wire.waitForNotice("droid_working_state_changed", from);
      const waiting = await client.wire.request("droid.add_user_message", { text: "second", messageId: "waiting-one" });
      expect(waiting.result).toEqual({});
      await client.interrupt();
      await running;
      expect(await client.wire.waitForNotice("queued_messages_discarded", from)).toEqual({
        type: "queued_messages_discarded",
        text: "second",
        requestId: waiting.id,
      });
      const nothing = usage(0, 0, 0, 0);
      expect(await client.wire.waitForNotice("agent_turn_completed", from, { turnId: "waiting-one" })).toMatchObject({
        reason: "cancelled",
        tokenUsage: nothing,
        durationMs: 0,
      });
    });

    test("without a turn changes nothing", async () => {
      const { client } = stage;
      await client.open({ modelId: "offline" });
      const from = client.wire.received.length;
      await client.interrupt();
      await client.call("droid.get_context_stats");
      expect(since(client.wire, from)).toEqual([]);
    });
  });
});
