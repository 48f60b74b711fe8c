import { describe, expect, test } from "vitest";
import { deferred } from "../../../src/async/promises.ts";
import type { Answer, Interaction } from "../../../src/engine/interaction.ts";
import type { Session } from "../../../src/engine/session/session.ts";
import type { RunOptions, SessionSettings } from "../../../src/engine/settings.ts";
import { ask, calls, createKit, says, settings, until } from "../../fakes/kit.ts";
import { createFakeServers } from "../../fakes/tool-servers.ts";

function names(request: { readonly tools: readonly { readonly name: string }[] } | undefined): readonly string[] {
  return request?.tools.map(({ name }) => name).filter((name) => name.includes("___")) ?? [];
}

/** Attaches a client that gives these answers in order, and returns what it was asked. */
function answering(session: Session, ...answers: readonly Answer[]): Interaction[] {
  const asked: Interaction[] = [];
  const attachment = session.attach({ approve: true, answer: true, onDetach: "cancel" });
  void (async () => {
    for await (const event of attachment.events()) {
      if (event.type !== "request.opened") continue;
      attachment.answer(event.requestId, answers[asked.length] ?? { kind: "cancel" });
      asked.push(event.interaction);
    }
  })();
  return asked;
}

const create = { server: "linear", tool: "create" };
const open = (kit: ReturnType<typeof createKit>, changes: Partial<SessionSettings>, run: RunOptions = {}) =>
  kit.engine.create({ cwd: "/ws", settings: { ...settings, ...changes }, run });

describe("a session's servers", () => {
  test("open with the first use, get the client's servers, and close with the session", async () => {
    const servers = createFakeServers(create);
    const kit = createKit([says("ok")], { servers: servers.open });
    const given = [{ name: "x", entry: { kind: "stdio", command: "x", args: [], env: {} } }] as const;
    const session = await open(kit, {}, { servers: given });
    expect(servers.opened).toEqual([]);
    await ask(session, "go");
    expect(servers.opened).toMatchObject([{ sessionId: session.id, cwd: "/ws", given }]);
    expect(names(kit.requests[0])).toEqual(["linear___create"]);
    await session.close();
    expect(servers.closed).toEqual([session.id]);
  });

  test("do not open for a client that only watches, or that runs all tools itself", async () => {
    const servers = createFakeServers(create);
    const kit = createKit([says("ok")], { servers: servers.open });
    const watched = await open(kit, {});
    watched.attach({ approve: false, answer: false, onDetach: "cancel" });
    const own = await open(kit, { clientRunsTools: true });
    await ask(own, "go");
    expect(servers.opened).toEqual([]);
    await Promise.all([watched.close(), own.close()]);
  });

  test("are waited for before the first model call, but an interrupt cuts through", async () => {
    const servers = createFakeServers();
    const connected = deferred<void>();
    servers.connecting = connected.promise;
    const kit = createKit([says("ok")], { servers: servers.open });
    const session = await open(kit, {});
    const turn = ask(session, "go");
    await until(() => servers.opened.length === 1);
    expect(kit.requests).toEqual([]);
    servers.set(create);
    connected.resolve();
    expect(await turn).toMatchObject({ reason: "completed" });
    expect(names(kit.requests[0])).toEqual(["linear___create"]);

    servers.connecting = new Promise(() => undefined);
    const second = ask(session, "again");
    await until(() => session.isWorking);
    await session.interrupt();
    expect(await second).toMatchObject({ reason: "interrupted" });
    expect(kit.requests.length).toBe(1);
    await session.close();
  });
});

describe("a call of a server's tool", () => {
  test("is denied below its class without an approver, and named as what it is", async () => {
    const servers = createFakeServers(create);
    const kit = createKit([calls(["linear___create", { title: "x" }])], { servers: servers.open });
    const session = await open(kit, { autonomy: "medium" });
    expect(await ask(session, "go")).toMatchObject({
      reason: "denied",
      denials: [
        {
          tool: "linear___create",
          class: "high",
          rule: "mcp-tool",
          why:
            'linear___create calls "create" of the MCP server "linear". ' +
            "This run has no permission for that and no approver to ask.",
        },
      ],
    });
    expect(servers.ran).toEqual([]);
    await session.close();
  });

  test.each([
    ["low", "low"],
    ["medium", "medium"],
    ["high", "high"],
  ] as const)("of class %s runs unasked at level %s", async (kind, autonomy) => {
    const servers = createFakeServers({ ...create, class: kind });
    const kit = createKit([calls(["linear___create", {}]), says("ok")], { servers: servers.open });
    const session = await open(kit, { autonomy });
    await ask(session, "go");
    expect(servers.ran).toEqual(["linear___create"]);
    await session.close();
  });

  test("runs in spec mode only if the user's configuration calls it read", async () => {
    const servers = createFakeServers({ server: "a", tool: "look", class: "read" }, { ...create, class: "low" });
    const replies = [calls(["a___look", {}], ["linear___create", {}]), calls(["a___look", {}]), says("ok")];
    const kit = createKit(replies, { servers: servers.open });
    const session = await open(kit, { mode: "spec" });
    await ask(session, "go");
    expect(servers.ran).toEqual(["a___look", "a___look"]);
    await session.close();
  });

  test("is allowed by name, or by a pattern for its server", async () => {
    const servers = createFakeServers(create, { server: "linearity", tool: "create" });
    const replies = [calls(["linear___create", {}]), calls(["linearity___create", {}])];
    const kit = createKit(replies, { servers: servers.open });
    const session = await open(kit, { autonomy: "off" }, { enabledTools: ["linear___*"] });
    expect(await ask(session, "go")).toMatchObject({ reason: "denied", denials: [{ tool: "linearity___create" }] });
    expect(servers.ran).toEqual(["linear___create"]);
    await session.close();
  });
});

describe("always", () => {
  const other = { server: "linear", tool: "remove" };
  const replies = [
    calls(["linear___create", {}]),
    calls(["linear___create", {}]),
    calls(["linear___remove", {}]),
    says("ok"),
  ];

  test.each([
    ["tools", 2],
    ["server", 1],
    [true, 2],
  ] as const)("%s asks %i times for two calls of one tool and one of another", async (always, times) => {
    const servers = createFakeServers(create, other);
    const kit = createKit(replies, { servers: servers.open });
    const session = await open(kit, { autonomy: "low" });
    const asked = answering(session, { kind: "allow", always }, { kind: "allow" });
    await ask(session, "go");
    expect(asked.length).toBe(times);
    expect(servers.ran).toEqual(["linear___create", "linear___create", "linear___remove"]);
    // Trust in a server is no reason to run commands unasked.
    expect(session.settings.autonomy).toBe("low");
    await session.close();
  });

  test("ends when the server changes the tool", async () => {
    const servers = createFakeServers(create);
    const kit = createKit([calls(["linear___create", {}]), says("ok"), calls(["linear___create", {}]), says("ok")], {
      servers: servers.open,
    });
    const session = await open(kit, { autonomy: "low" });
    const asked = answering(session, { kind: "allow", always: "tools" }, { kind: "allow" });
    await ask(session, "go");
    servers.set({ ...create, version: 2 });
    await ask(session, "again");
    expect(asked.length).toBe(2);
    await session.close();
  });
});
