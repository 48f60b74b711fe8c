import { expect, test } from "vitest";
import { says, until } from "../../../fakes/kit.ts";
import { createSignal, waitsBetween } from "../connection/served.ts";
import { errorOf, load, only, share } from "./sharing.ts";

const states = (client: Parameters<typeof only>[0]) =>
  only(client, "droid_working_state_changed").map(({ newState }) => newState);

test("compacts a session on request: both clients are notified, and both keep the whole history", async () => {
  const go = createSignal();
  const summary = says("It is about greetings.");
  const { begin, attach, connect, kit } = share([says("hello"), waitsBetween([], go.come, summary), says("fine")]);
  const first = await begin();
  expect(errorOf(await first.client.request("droid.compact_session", {}))).toEqual([
    -32602,
    "Nothing to compact — the conversation is empty.",
  ]);
  const second = await attach(first.sessionId);
  await first.say("hi");
  await first.client.state("idle");

  const asked = first.client.request("droid.compact_session", { customInstructions: "Mind the greetings." });
  await second.client.state("compacting_conversation");
  expect(errorOf(await second.client.request("droid.compact_session", {}))[0]).toBe(-32602);
  go.give();
  expect((await asked).result).toEqual({ newSessionId: first.sessionId, removedCount: 2 });
  await second.client.notice("session_compacted");
  await second.client.state("idle");
  const told = [first, second].map((client) => only(client, "session_compacted"));
  expect(told[0]).toEqual([
    {
      type: "session_compacted",
      removedCount: 2,
      summaryId: expect.any(String),
      visibleBoundaryMessageId: kit.requests[1]?.messages.at(-2)?.id,
    },
  ]);
  expect(told[1]).toEqual(told[0]);
  expect(states(first).slice(-2)).toEqual(["compacting_conversation", "idle"]);

  const { result } = await first.client.request("droid.get_context_breakdown", {});
  expect(result).toMatchObject({ modelId: "fake", contextBudget: 200_000, skills: [], mcpServers: [], droids: [] });
  const { categories, usedTokens } = result as {
    categories: { name: string; tokens: number; colorKey: string }[];
    usedTokens: number;
  };
  expect(categories.map(({ name }) => name)).toEqual([
    "System prompt",
    "Tools",
    "Summary",
    "Kept word for word",
    "Reserved for the answer",
  ]);
  expect(usedTokens).toBe(categories.slice(0, -1).reduce((sum, { tokens }) => sum + tokens, 0));
  expect((await first.client.request("droid.get_context_stats", {})).result).toMatchObject({ reserve: 8_000 });

  const third = connect({ user: "ann" });
  const loaded = await load(third, first.sessionId);
  expect(loaded.session.messages).toMatchObject([{ role: "user" }, { role: "assistant" }]);
  await first.say("how are you?");
  await until(() => kit.requests.length === 3);
  expect(kit.requests[2]?.messages).toHaveLength(2);
});

test("a client that joins during a compaction is told so, in a turn and between two", async () => {
  const [between, within] = [createSignal(), createSignal()];
  const long = says("I think. ".repeat(1_200));
  const { begin, attach, kit } = share(
    [long, waitsBetween([], between.come, long), long, waitsBetween([], within.come, says("Short.")), says("fine")],
    { model: { contextWindow: 12_000, maxOutputTokens: 1_000 } },
  );
  const first = await begin();
  await first.say("hi");
  await first.client.state("idle");
  const asked = first.client.request("droid.compact_session", {});
  await first.client.state("compacting_conversation");
  const second = await attach(first.sessionId);
  expect(second.loaded.isAgentLoopInProgress).toBe(false);
  await second.client.state("compacting_conversation");
  between.give();
  expect((await asked).error).toBeUndefined();
  await second.client.state("idle");

  await first.say("more ".repeat(3_000));
  await first.client.state("idle");
  await first.say("more ".repeat(3_000));
  await until(() => kit.requests.length === 4);
  const third = await attach(first.sessionId);
  expect(third.loaded.isAgentLoopInProgress).toBe(true);
  await third.client.state("compacting_conversation");
  within.give();
  await third.client.state("idle");
  expect(states(third)).toEqual(["compacting_conversation", "streaming_assistant_message", "idle"]);
});

test("the compaction threshold can be set and reset", async () => {
  const { begin, pool } = share([]);
  const { client, sessionId } = await begin();
  const change = (params: object) => client.request("droid.update_session_settings", params);
  expect((await change({ compactionTokenLimit: 5_000, compactionThresholdCheckEnabled: false })).result).toEqual({});
  expect(pool.get(sessionId)?.settings).toMatchObject({ compactAt: 5_000, compacts: false });
  expect((await change({ compactionTokenLimit: null, compactionThresholdCheckEnabled: null })).result).toEqual({});
  expect(pool.get(sessionId)?.settings).not.toHaveProperty("compactAt");
  expect(errorOf(await change({ compactionTokenLimit: -1 }))[0]).toBe(-32602);
});

test("an interrupt reaches a compaction that waits for its summary", async () => {
  const never = createSignal();
  const { begin } = share([says("hello"), waitsBetween([], never.come, says("late"))]);
  const { client, say } = await begin();
  await say("hi");
  await client.state("idle");
  const asked = client.request("droid.compact_session", {});
  await client.state("compacting_conversation");
  expect((await client.request("droid.get_context_stats", {})).error).toBeUndefined();
  expect((await client.request("droid.interrupt_session", {})).result).toEqual({});
  never.give();
  expect((await asked).error?.message).toBe("The compaction was interrupted.");
});
