import { describe, expect, test } from "vitest";
import { fullStore } from "../../../fakes/full-store.ts";
import { says, until } from "../../../fakes/kit.ts";
import { storyOf } from "../../../fakes/rpc/linked-client.ts";
import type { Received } from "../../../fakes/rpc/wire.ts";
import { noticesIn } from "../../../fakes/rpc/wire.ts";
import { hangsAfter, serve } from "./served.ts";

const endsIn = (lines: readonly Received[]): unknown[] =>
  noticesIn(lines).flatMap(({ type, turnId, reason }) => (type === "agent_turn_completed" ? [[turnId, reason]] : []));

const idIn = ({ result }: Received): string => String(result?.sessionId);

describe("an unwritable log", () => {
  const failed = (id: string): object => ({
    id,
    error: { code: -32603, message: "The disk is full.", data: { code: "storage_failed" } },
  });

  test("fails the message with its id, once, and the session continues once there is room", async () => {
    const { store, full } = fullStore();
    const { client, init, say } = serve([says("hi")], { store });
    await init();
    full(true);
    const from = client.mark;
    expect(await say("hello")).toMatchObject(failed("r2"));
    expect(await client.request("droid.update_session_settings", { autonomyLevel: "high" })).toMatchObject(
      failed("r3"),
    );
    full(false);
    await say("hello", { messageId: "m" });
    await client.state("idle");
    expect(storyOf(client.received.slice(from)).slice(0, 3)).toEqual(["error r2", "error r3", "result r4"]);
    expect(noticesIn(client.received).filter(({ type }) => type === "agent_turn_completed")).toMatchObject([
      { turnId: "m", reason: "completed" },
    ]);
  });

  test("in the middle of a turn ends it, and another session can be opened", async () => {
    const { store, full } = fullStore();
    const { client, init, say } = serve([hangsAfter({ type: "text", text: "half" }), says("new")], { store });
    await init();
    await say("go", { messageId: "m1" });
    await client.notice("assistant_text_delta");
    await say("waits", { messageId: "m2" });
    full(true);
    await client.request("droid.interrupt_session", {});
    await client.state("idle");
    full(false);
    await init();
    const from = client.mark;
    await say("again", { messageId: "m3" });
    await client.state("idle", from);
    expect((await client.notice("agent_turn_completed", from)).turnId).toBe("m3");
  });

  test.each(["droid.close_session", "droid.initialize_session"])("lets %s leave the session", async (method) => {
    const { store, full } = fullStore();
    const { client, init, say } = serve([hangsAfter({ type: "text", text: "half" }), says("new")], { store });
    const sessionId = idIn(await init());
    await say("go", { messageId: "m1" });
    await client.notice("assistant_text_delta");
    await say("waits", { messageId: "m2" });
    full(true);
    const from = client.mark;
    const { error } = await client.request(method, { machineId: "m", cwd: "/ws" });
    expect(error).toBeUndefined();
    expect(storyOf(client.received.slice(from)).slice(0, 7)).toEqual([
      "queued_messages_discarded",
      "agent_turn_completed",
      "assistant_text_complete",
      "session_token_usage_changed",
      "error",
      "agent_turn_completed",
      "state idle",
    ]);
    full(false);
    expect((await client.request("droid.load_session", { sessionId })).error).toBeUndefined();
  });

  test("when a turn takes its message up ends that turn under its name, and the next has its own name and trace", async () => {
    const { store, full } = fullStore();
    const { client, init } = serve([says("two")], { store });
    await init();
    full("prompt.taken");
    const trace = (digit: string): object => ({ traceparent: `00-${digit.repeat(32)}-b7ad6b7169203331-01` });
    const say = (messageId: string, digit: string): string =>
      client.ask("droid.add_user_message", { text: messageId, messageId }, { meta: trace(digit) });
    say("m1", "1");
    await client.state("idle");
    expect(await client.notice("agent_turn_completed")).toMatchObject({
      turnId: "m1",
      reason: "completion_persistence_failed",
    });
    full(false);
    const from = client.mark;
    say("m2", "2");
    await client.state("idle", from);
    expect(await client.notice("agent_turn_completed", from)).toMatchObject({ turnId: "m2", reason: "completed" });
    const traces = client.received
      .slice(from)
      .flatMap(({ _meta }) => (_meta === undefined ? [] : [JSON.stringify(_meta)]));
    expect(traces.filter((each) => !each.includes("2".repeat(32)))).toEqual([]);
  });

  test("while messages wait ends each of them once, in order, under its name", async () => {
    const { store, full } = fullStore();
    const { client, init, say } = serve([hangsAfter({ type: "text", text: "half" }), says("new")], { store });
    await init();
    await say("go", { messageId: "m1" });
    await client.notice("assistant_text_delta");
    await say("waits", { messageId: "m2" });
    full("turn.started");
    await say("waits, too", { messageId: "m3" });
    await client.request("droid.interrupt_session", {});
    await say("more", { messageId: "m4" });
    await say("and more", { messageId: "m5" });
    await until(() => endsIn(client.received).length === 5);
    full(false);
    await say("again", { messageId: "m6" });
    await until(() => endsIn(client.received).length === 6);
    expect(endsIn(client.received)).toEqual([
      ["m2", "cancelled"],
      ["m3", "cancelled"],
      ["m1", "cancelled"],
      ["m4", "completion_persistence_failed"],
      ["m5", "completion_persistence_failed"],
      ["m6", "completed"],
    ]);
  });

  test("when a turn takes up an earlier process's prompts reports that they are dropped", async () => {
    const { store, full } = fullStore();
    const { client, init, say } = serve([], { store });
    const sessionId = idIn(await init());
    await client.request("droid.close_session", {});
    const log = await store.acquire(sessionId);
    const seq = ((await store.read(sessionId)).events.at(-1)?.seq ?? 0) + 1;
    const content = [{ type: "text", text: "left behind" }] as const;
    await log.append([{ type: "prompt.accepted", messageId: "left", content, seq, at: 1, sessionId }]);
    await log.release();
    await client.request("droid.load_session", { sessionId });
    full("turn.started");
    await say("mine", { messageId: "m1" });
    await client.state("idle");
    const dropped = noticesIn(client.received).filter(({ type }) => type === "queued_messages_discarded");
    expect(dropped).toMatchObject([{ text: "left behind" }]);
    expect(endsIn(client.received)).toEqual([["m1", "completion_persistence_failed"]]);
  });

  test("at the very end of a turn is reported as its end: text may be lost", async () => {
    const { store, full } = fullStore();
    const { client, init, say } = serve([says("one"), says("two")], { store });
    await init();
    full("turn.ended");
    await say("go", { messageId: "m1" });
    expect(await client.notice("agent_turn_completed")).toMatchObject({
      turnId: "m1",
      reason: "completion_persistence_failed",
    });
    full(false);
    await say("again", { messageId: "m2" });
    expect(await client.notice("agent_turn_completed", client.mark)).toMatchObject({ reason: "completed" });
  });

  test("does not keep the connection from ending", async () => {
    const { store, full } = fullStore();
    const { client, init, say, over } = serve([hangsAfter({ type: "text", text: "half" })], { store });
    await init();
    await say("go", { messageId: "m1" });
    await client.notice("assistant_text_delta");
    await say("waits", { messageId: "m2" });
    full(true);
    await client.request("droid.interrupt_session", {});
    client.end();
    await over;
    expect(storyOf(client.received).at(-1)).toBe("state idle");
  });
});
