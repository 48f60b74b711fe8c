import { describe, expect, test } from "vitest";
import type { ModelEvent } from "../../../../src/engine/ports.ts";
import { calls, says, until } from "../../../fakes/kit.ts";
import { storyOf } from "../../../fakes/rpc/linked-client.ts";
import { createSignal, end, hangsAfter, untilAborted, waitsBetween } from "../connection/served.ts";
import { errorOf, idleMs, load, only, share, textOf } from "./sharing.ts";

const push = calls(["Execute", { command: "git push" }]);
const once = { selectedOption: "proceed_once" };

describe("a lost connection", () => {
  test("leaves its turn running, and finds the result later", async () => {
    const go = createSignal();
    const { begin, attach, pool, kit } = share([
      waitsBetween([{ type: "text", text: "one " }], go.come, [{ type: "text", text: "two" }, ...end]),
    ]);
    const first = await begin();
    await first.say("go");
    await first.client.notice("assistant_text_delta");
    first.cut();
    await first.over;
    expect(pool.get(first.sessionId)?.isWorking).toBe(true);
    const back = await attach(first.sessionId);
    expect(back.loaded.isAgentLoopInProgress).toBe(true);
    go.give();
    await back.client.state("idle");
    expect([textOf(back), only(back, "agent_turn_completed")[0]?.reason]).toEqual(["one two", "completed"]);
    back.cut();
    await back.over;
    // Until the session is closed, and the client is no longer missed.
    await until(() => kit.clock.waiting === 2);
    const again = await attach(first.sessionId);
    expect([again.loaded.isAgentLoopInProgress, again.loaded.session.messages.length]).toEqual([false, 2]);
    expect(kit.clock.waiting).toBe(0);
  });

  test("is still asked if it returns soon, and counts as no otherwise", async () => {
    const [go, again] = [createSignal(), createSignal()];
    const { begin, attach, kit } = share([
      waitsBetween([], go.come, push),
      waitsBetween([], again.come, push),
      says("never"),
    ]);
    const first = await begin();
    await first.say("go");
    first.cut();
    await first.over;
    const viewer = await attach(first.sessionId, { user: "vic", role: "viewer" });
    go.give();
    const { id } = await viewer.client.asked();
    kit.clock.advance(idleMs - 1);
    const back = await attach(first.sessionId);
    expect(back.loaded.pendingPermissions).toEqual([expect.objectContaining({ requestId: id })]);
    back.client.answer(id, once);
    await viewer.client.notice("permission_resolved");
    back.cut();
    await back.over;
    again.give();
    await until(
      () => viewer.client.received.filter(({ method }) => method === "droid.request_permission").length === 2,
    );
    kit.clock.advance(idleMs);
    await viewer.client.state("idle");
    expect(only(viewer, "agent_turn_completed").map(({ reason }) => reason)).toEqual(["no_approver_available"]);
    expect(kit.host.commands).toHaveLength(1);
  });

  test("leaves its open requests to other clients", async () => {
    const { begin, attach, pool, kit } = share([push, says("pushed")]);
    const first = await begin();
    await first.say("go");
    const { id } = await first.client.asked();
    first.cut();
    await first.over;
    kit.clock.advance(idleMs - 1);
    expect(pool.get(first.sessionId)?.openRequests().size).toBe(1);
    const back = await attach(first.sessionId);
    expect(back.loaded.pendingPermissions?.map(({ requestId }) => requestId)).toEqual([id]);
    kit.clock.advance(idleMs);
    back.client.answer(id, once);
    await back.client.state("idle");
    expect(only(back, "agent_turn_completed")[0]?.reason).toBe("completed");
    expect(kit.host.commands).toHaveLength(1);
  });

  test("gives the session up after a while, and later requests count as no", async () => {
    const { begin, attach, pool, kit } = share([push, says("never")]);
    const first = await begin();
    await first.say("go");
    await first.client.asked();
    first.cut();
    await first.over;
    kit.clock.advance(idleMs);
    await until(() => kit.engine.sessions().length === 0);
    expect([pool.all(), kit.host.commands]).toEqual([[], []]);
    const back = await attach(first.sessionId);
    expect(back.loaded.isAgentLoopInProgress).toBe(false);
    expect(back.loaded).not.toHaveProperty("pendingPermissions");
  });

  test("frees the others, whom it held up by not reading", async () => {
    const count = 5_000;
    let made = 0;
    async function* reply(): AsyncGenerator<ModelEvent> {
      for (; made < count; made += 1) yield { type: "text", text: `${made} ` };
      yield* end;
    }
    const { begin, attach } = share([reply]);
    const first = await begin();
    const slow = await attach(first.sessionId, { maxWaiting: 1_000 });
    slow.client.stopReading();
    await first.say("go");
    let before = -1;
    while (made !== before) {
      before = made;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(made).toBeLessThan(count);
    slow.cut();
    await slow.over;
    await first.client.state("idle");
    expect(textOf(first)).toBe(Array.from({ length: count }, (_, n) => `${n} `).join(""));
  });
});

describe("a client that closes the session", () => {
  test("only leaves it while others work with it", async () => {
    const go = createSignal();
    const { begin, attach } = share([waitsBetween([], go.come, says("done"))]);
    const first = await begin();
    const other = await attach(first.sessionId);
    await first.say("go");
    expect((await first.client.request("droid.close_session", {})).result).toEqual({});
    expect(errorOf(await first.say("more"))[0]).toBe(-32603);
    const from = first.client.mark;
    go.give();
    await other.client.state("idle");
    expect([textOf(other), first.client.mark]).toEqual(["done", from]);
  });

  test("ends it if it is the last one", async () => {
    const { begin, attach, pool } = share([hangsAfter({ type: "text", text: "well" }), says("again")]);
    const first = await begin();
    const other = await attach(first.sessionId);
    await first.say("go");
    await other.client.notice("assistant_text_delta");
    other.cut();
    await other.over;
    expect((await first.client.request("droid.close_session", {})).result).toEqual({});
    expect(only(first, "agent_turn_completed").map(({ reason }) => reason)).toEqual(["cancelled"]);
    expect(pool.all()).toEqual([]);
    const loaded = await load(first, first.sessionId);
    expect([loaded.isAgentLoopInProgress, loaded.session.messages.length]).toEqual([false, 2]);
    await first.say("more");
    await first.client.waitFor(() => only(first, "agent_turn_completed").length === 2);
  });

  test("by switching to another one leaves it running", async () => {
    const go = createSignal();
    const { begin, attach, pool } = share([waitsBetween([], go.come, says("done")), says("other")]);
    const first = await begin();
    await first.say("go");
    await first.init();
    const { sessionId } = first;
    expect(pool.all()).toHaveLength(2);
    await first.say("hello");
    await first.client.waitFor(() => only(first, "agent_turn_completed").length === 1);
    expect(textOf(first)).toBe("other");
    go.give();
    await pool.idle();
    const back = await attach(sessionId);
    expect(back.loaded.session.messages).toHaveLength(2);
    expect(textOf(first)).toBe("other");
  });
});

test("a client that interrupts and switches sessions gets nothing more of the first", async () => {
  const go = createSignal();
  async function* slowToStop(_: unknown, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    yield { type: "text", text: "well" };
    await untilAborted(signal);
    await go.come;
  }
  const { begin, pool } = share([slowToStop]);
  const first = await begin();
  await first.say("go");
  await first.client.notice("assistant_text_delta");
  await first.client.request("droid.interrupt_session", {});
  await first.init();
  const from = first.client.mark;
  go.give();
  await pool.idle();
  await first.client.request("droid.list_skills", {});
  expect(storyOf(first.client.received.slice(from))).toEqual(["result r5"]);
});

test("a session that was ended for all can be loaded again", async () => {
  const { begin, pool } = share([says("hello")]);
  const first = await begin();
  await first.say("go");
  await first.client.state("idle");
  await pool.end(first.sessionId);
  expect(errorOf(await first.client.request("droid.rename_session", { title: "x" }))[0]).toBe(-32603);
  expect((await load(first, first.sessionId)).session.messages).toHaveLength(2);
  expect((await first.client.request("droid.rename_session", { title: "x" })).result).toEqual({ success: true });
});

test("tool filters belong to the session: naming some changes them for all, naming none keeps them", async () => {
  const { begin, attach, connect, kit } = share([says("one"), says("two")]);
  const first = await begin();
  const naming = connect();
  await load(naming, first.sessionId, { restrictToolIds: ["Read", "LS"] });
  await first.client.waitFor(() => only(first, "settings_updated").length === 2);
  expect(only(first, "settings_updated")[1]?.settings).toMatchObject({ restrictToolIds: ["Read", "LS"] });
  const { loaded } = await attach(first.sessionId);
  expect(loaded.settings).toMatchObject({ restrictToolIds: ["Read", "LS"] });
  await first.say("go");
  await first.client.state("idle");
  expect(kit.requests[0]?.tools.map(({ name }) => name).sort()).toEqual(["LS", "Read"]);
});
