import { describe, expect, test } from "vitest";
import { roleRules } from "../../../../src/frontends/stream-jsonrpc/role-rules.ts";
import { clientParams } from "../../../../src/protocol/droid/params.ts";
import { calls, says } from "../../../fakes/kit.ts";
import { createSignal, waitsBetween } from "../connection/served.ts";
import { errorOf, idleMs, load, only, share, textOf } from "./sharing.ts";

const push = calls(["Execute", { command: "git push" }]);
const once = { selectedOption: "proceed_once" };

describe("what a role may ask for", () => {
  const methods = Object.keys(clientParams);
  const allowed = (role: string): string[] => methods.filter((method) => roleRules(role)(method, {}) === undefined);

  test("admin and user: every method; a viewer, and a role that nobody knows: to look on", () => {
    expect(allowed("admin")).toEqual(methods);
    expect(allowed("user")).toEqual(methods);
    const looking = [
      "droid.load_session",
      "droid.close_session",
      "droid.get_context_stats",
      "droid.list_tools",
      "droid.list_models",
      "droid.list_skills",
      "droid.list_commands",
    ];
    expect(allowed("viewer").sort()).toEqual([...looking].sort());
    expect(allowed("root").sort()).toEqual([...looking].sort());
  });

  const url = { name: "a", type: "http", url: "https://example.org" };
  test.each([
    ["droid.initialize_session", { skipPermissionsUnsafe: true }, true],
    ["droid.initialize_session", { skipPermissionsUnsafe: false }, false],
    ["droid.initialize_session", { mcpServers: [url] }, false],
    ["droid.initialize_session", { mcpServers: [url, { name: "b", command: "rm" }] }, true],
    ["droid.load_session", { mcpServers: [{ name: "b" }] }, true],
    ["droid.load_session", { mcpServers: [{ ...url, type: "stdio" }] }, true],
    ["droid.load_session", { mcpServers: [{ ...url, command: "rm" }] }, true],
    ["droid.initialize_session", { modelId: "script:/dev/zero" }, true],
    ["droid.update_session_settings", { modelId: "script:a.yaml" }, true],
    ["droid.update_session_settings", { specModeModelId: "script:a.yaml" }, true],
    ["droid.update_session_settings", { modelId: "offline" }, false],
  ])("%s with %j is refused to users: %s", (method, params, isRefused) => {
    expect(roleRules("user")(method, params) !== undefined).toBe(isRefused);
    expect(roleRules("admin")(method, params)).toBeUndefined();
  });

  test("the script that the server itself uses may be named by everybody", () => {
    const params = { modelId: "script:own.yaml" };
    expect(roleRules("user", "script:own.yaml")("droid.initialize_session", params)).toBeUndefined();
    expect(roleRules("user", "script:other.yaml")("droid.initialize_session", params)).toContain("admin");
  });

  test.each([true, false])("is said in words (later dialect: %s)", async (later) => {
    const { connect } = share([]);
    const answer = await connect({ later }).init({ skipPermissionsUnsafe: true });
    expect(errorOf(answer)).toEqual([-32602, "skipPermissionsUnsafe needs the role admin."]);
    const viewer = connect({ later, role: "viewer" });
    expect(errorOf(await viewer.init())).toEqual([-32602, "The role viewer may not use droid.initialize_session."]);
    const unknown = await viewer.client.request("droid.nothing", {});
    expect(unknown.error?.message).not.toContain("viewer");
  });
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

  test("is nobody who could be asked, and ends nothing when it closes the session", async () => {
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

describe("whose a session is", () => {
  test("it is the one's who began it, and so are its forks; nobody else finds them", async () => {
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
    // Refused, and still in the session that it was in.
    expect((await bob.client.request("droid.rename_session", { title: "Bob's" })).result).toEqual({ success: true });
    expect((await load(ann, ann.sessionId)).session.messages).toHaveLength(2);
  });

  test("a name that is taken tells nobody whose it is", async () => {
    const { begin, connect } = share([]);
    const { sessionId } = await begin();
    const answer = await connect({ user: "bob" }).init({ sessionId });
    expect(answer.result?.sessionId).not.toBe(sessionId);
  });
});
