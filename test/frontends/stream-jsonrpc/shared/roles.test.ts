import { describe, expect, test } from "vitest";
import { calls, says } from "../../../fakes/kit.ts";
import { createSignal, waitsBetween } from "../connection/served.ts";
import { errorOf, idleMs, load, only, share, textOf } from "./sharing.ts";

const push = calls(["Execute", { command: "git push" }]);
const once = { selectedOption: "proceed_once" };

test.each([true, false])("a refusal names the request and the role it needs (later dialect: %s)", async (later) => {
  const { connect } = share([]);
  const answer = await connect({ later }).init({ skipPermissionsUnsafe: true });
  const words = "skipPermissionsUnsafe needs the role admin; this token has user.";
  expect(errorOf(answer)).toEqual([-32602, words]);
  const viewer = connect({ later, role: "viewer" });
  const refused = "droid.initialize_session needs the role admin or user; this token has viewer.";
  expect(errorOf(await viewer.init())).toEqual([-32602, refused]);
  const unknown = await viewer.client.request("droid.nothing", {});
  expect(unknown.error?.message).not.toContain("viewer");
});

describe("a viewer", () => {
  test("sees everything, and changes nothing", async () => {
    const go = createSignal();
    const { begin, attach, kit } = share([push, waitsBetween([], go.come, says("pushed"))]);
    const first = await begin();
    const viewer = await attach(first.sessionId, { user: "vic", role: "viewer" });
    await first.say("go");
    const { id } = await viewer.client.asked();
    viewer.client.answer(id, once);
    for (const [method, params] of [
      ["add_user_message", { text: "no" }],
      ["interrupt_session", {}],
      ["update_session_settings", { autonomyLevel: "high" }],
      ["rename_session", { title: "no" }],
      ["fork_session", {}],
      ["load_session", { sessionId: first.sessionId, disabledToolIds: ["Read"] }],
    ] as const) {
      expect(errorOf(await viewer.client.request(`droid.${method}`, params))[0]).toBe(-32602);
    }
    expect(kit.host.commands).toEqual([]);
    first.client.answer(id, once);
    await viewer.client.notice("permission_resolved");
    go.give();
    await viewer.client.state("idle");
    expect(textOf(viewer)).toBe("pushed");
    expect((await viewer.client.request("droid.get_context_stats", {})).result).toMatchObject({ limit: 200_000 });
  });

  test("cannot be asked, and ends nothing by closing the session", async () => {
    const go = createSignal();
    const { begin, attach, pool, kit } = share([waitsBetween([], go.come, push), says("never")]);
    const first = await begin();
    const viewer = await attach(first.sessionId, { user: "vic", role: "viewer" });
    await first.say("go");
    first.cut();
    await first.over;
    expect((await viewer.client.request("droid.close_session", {})).result).toEqual({});
    const again = await attach(first.sessionId, { user: "vic", role: "viewer" });
    expect(again.loaded.isAgentLoopInProgress).toBe(true);
    kit.clock.advance(idleMs);
    go.give();
    await again.client.state("idle");
    expect(only(again, "agent_turn_completed").map(({ reason }) => reason)).toEqual(["no_approver_available"]);
    expect(pool.all()).toHaveLength(1);
  });
});

describe("ownership", () => {
  test("a session and its forks belong to its creator; other users cannot find them", async () => {
    const { begin, connect, attach, pool } = share([says("hello")]);
    const ann = await begin();
    await ann.say("go");
    await ann.client.state("idle");
    const { result } = await ann.client.request("droid.fork_session", {});
    const fork = String((result as { readonly newSessionId?: string }).newSessionId);
    expect(pool.get(ann.sessionId)?.settings.owner).toBe("ann");
    const bob = connect({ user: "bob" });
    await bob.init();
    for (const sessionId of [ann.sessionId, fork]) {
      const answer = await bob.client.request("droid.load_session", { sessionId });
      expect(errorOf(answer)).toEqual([-32004, "Session not found"]);
    }
    const admin = await attach(fork, { user: "eve", role: "admin" });
    expect(admin.loaded.session.messages).toHaveLength(2);
    expect(pool.get(fork)?.settings.owner).toBe("ann");
    await pool.end(ann.sessionId);
    expect(errorOf(await bob.client.request("droid.load_session", { sessionId: ann.sessionId }))[0]).toBe(-32004);
    // Rejected, and still in its previous session.
    expect((await bob.client.request("droid.rename_session", { title: "Bob's" })).result).toEqual({ success: true });
    expect((await load(ann, ann.sessionId)).session.messages).toHaveLength(2);
  });

  test("a taken id does not reveal its owner", async () => {
    const { begin, connect } = share([]);
    const { sessionId } = await begin();
    const answer = await connect({ user: "bob" }).init({ sessionId });
    expect(answer.result?.sessionId).not.toBe(sessionId);
  });
});
