import { expect, test } from "vitest";
import { AgentError } from "../../../src/engine/errors.ts";
import type { SessionStore } from "../../../src/engine/ports.ts";
import { ask, calls, createKit, info, listen, says, settings, until } from "../../fakes/kit.ts";
import { createMemoryStore } from "../../fakes/memory-store.ts";

test("a user's system prompt replaces ours, and appended text still follows", async () => {
  const kit = createKit([says("ok")]);
  const session = await kit.open({ systemPrompt: "You are a poet.", appendSystemPrompt: "In rhymes." });
  await ask(session, "hello");

  expect(kit.requests[0]?.system).toMatch(
    /^You are a poet\.\n\nIn rhymes\.\n\nSystem reminders are only the blocks that /,
  );
});

test("a session can be renamed, and keeps its title when it is reopened", async () => {
  const kit = createKit([says("ok")]);
  const session = await kit.open();
  await ask(session, "hello");
  await session.rename("  Two\n words ");
  expect(session.title).toBe("Two words");
  await expect(session.rename(" \n")).rejects.toMatchObject({ code: "usage" });
  await session.close();

  const again = await kit.engine.resume(session.id);
  expect(again.session.title).toBe("Two words");
});

test("a fork can have its own title", async () => {
  const kit = createKit([says("ok")]);
  const session = await kit.open();
  await ask(session, "hello");
  const { session: fork } = await kit.engine.fork(session.id, { title: "Another way" });

  expect([session.title, fork.title]).toEqual(["hello", "Another way"]);
});

test("tools can be removed between two model calls", async () => {
  const kit = createKit([says("a"), says("b")]);
  const session = await kit.open();
  await ask(session, "one");
  session.limitTools((name) => name === "Read" || name === "LS");
  await ask(session, "two");

  expect(kit.requests[1]?.tools.map(({ name }) => name)).toEqual(["Read", "LS"]);
});

test("a client that stops answering has its open request cancelled, and keeps listening", async () => {
  const kit = createKit([calls(["Create", { file_path: "/ws/a.txt", content: "a" }]), says("unreached")]);
  const session = await kit.open({ autonomy: "off" });
  const attachment = session.attach({ approve: true, answer: true, onDetach: "cancel" });
  const types: string[] = [];
  const heard = (async () => {
    for await (const event of attachment.events()) types.push(event.type);
  })();
  const handle = session.prompt([{ type: "text", text: "create it" }]);
  await until(() => session.openRequests().size === 1);
  attachment.change({ approve: false, answer: false });

  expect((await handle.outcome).reason).toBe("denied");
  await session.close();
  await heard;
  expect(types.slice(-3)).toEqual(["tool.ended", "turn.ended", "session.closed"]);
});

test("reports how full the window is", async () => {
  const kit = createKit([says("ok")]);
  const session = await kit.open();
  const before = await session.contextUse();
  await ask(session, "x".repeat(4_000));
  const after = await session.contextUse();

  expect(before.budget.window).toBe(info.contextWindow);
  expect(after.tokens - before.tokens).toBeGreaterThan(1_000);
});

test("a session with an unknown model can still be opened for reading", async () => {
  let isKnown = true;
  const unknown = Object.assign(new Error("Unknown model"), { code: "model_unknown" });
  const port = { info, stream: () => (async function* () {})() };
  const models = {
    list: async () => [info],
    unusable: async () => [],
    resolve: async () => {
      if (!isKnown) throw unknown;
      return port;
    },
  };
  const kit = createKit([], { models });
  const session = await kit.open();
  await session.close();
  isKnown = false;

  await expect(kit.engine.resume(session.id)).rejects.toBe(unknown);
  expect((await kit.engine.resume(session.id, { toRead: true })).session.id).toBe(session.id);
});

test("announces every model call before it is made", async () => {
  const kit = createKit([calls(["LS", {}]), says("done")]);
  const session = await kit.open();
  const heard = listen(session);
  await ask(session, "look");
  await heard.stop();

  const order = heard.types().filter((type) => ["model.called", "message.started", "tool.ended"].includes(type));
  expect(order).toEqual(["model.called", "message.started", "tool.ended", "model.called", "message.started"]);
});

test("of two simultaneous prompts, the first one names the session", async () => {
  const kit = createKit([says("a"), says("b")]);
  const session = await kit.open();
  const heard = listen(session);
  const first = session.prompt([{ type: "text", text: "one" }]);
  const second = session.prompt([{ type: "text", text: "two" }]);
  await Promise.all([first.outcome, second.outcome]);
  await heard.stop();

  expect(heard.events.flatMap((event) => (event.type === "session.titled" ? [event.title] : []))).toEqual(["one"]);
});

test("a session whose folder is gone can still be opened for reading", async () => {
  const kit = createKit([says("ok")]);
  const session = await kit.engine.create({ cwd: "/gone", settings });
  await session.close();

  await expect(kit.engine.resume(session.id)).rejects.toMatchObject({ code: "usage" });
  expect((await kit.engine.resume(session.id, { toRead: true })).session.cwd).toBe("/gone");
});

test("a request that could not be stored is not closed either, whichever client leaves", async () => {
  const store = createMemoryStore();
  let leave = (): void => undefined;
  const create: SessionStore["create"] = async (first) => {
    const log = await store.create(first);
    return {
      ...log,
      append: async (events, options) => {
        if (!events.some(({ type }) => type === "request.opened")) return log.append(events, options);
        leave();
        throw new AgentError("storage_failed", "The disk is full.");
      },
    };
  };
  const push = calls(["Execute", { command: "git push", riskLevel: "high" }]);
  const session = await createKit([push], { store: { ...store, create } }).open({ autonomy: "off" });
  const attachment = session.attach({ approve: true, answer: true, onDetach: "cancel" });
  leave = () => attachment.detach();
  const { reason, failure } = await ask(session, "go");
  expect([reason, failure?.code]).toEqual(["failed", "storage_failed"]);
  const types = (await store.read(session.id)).events.map(({ type }) => type);
  expect(types.filter((type) => type.startsWith("request."))).toEqual([]);
});
