import { tmpdir } from "node:os";
import type { ContentBlock, SessionUpdate } from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import type { Client } from "../../../../src/frontends/acp/client.ts";
import { createSessions } from "../../../../src/frontends/acp/session/sessions.ts";
import { createGate } from "../../../../src/rpc/gate.ts";
import { until } from "../../../fakes/kit.ts";
import {
  type Answers,
  busy,
  createFakeBackend,
  type FakeBackend,
  idle,
  obliging,
  settings,
  settled,
} from "../../../sdk/fakes/fake-backend.ts";

/* Sessions over backends in this process, one per connection, in the given order. */

const wanted = { cwd: tmpdir() };
const { signal } = new AbortController();
const ready: Answers = {
  ...obliging,
  "droid.list_models": () => ({ models: [] }),
  "droid.list_commands": () => ({ commands: [] }),
  "droid.get_context_stats": () => ({}),
  "droid.update_session_settings": () => ({}),
};
const opens = (sessionId: string): Answers => ({
  "droid.initialize_session": () => ({ sessionId, session: { messages: [] }, settings }),
});

function opened(...answers: readonly Answers[]) {
  const updates: SessionUpdate[] = [];
  const backends: FakeBackend[] = [];
  let asked = 0;
  let room: Promise<void> = Promise.resolve();
  const client: Client = {
    capabilities: { session: { notices: {} } },
    update: (_, update) => {
      updates.push(update);
      return room;
    },
    choose: async () => {
      asked += 1;
      return "proceed_once";
    },
    elicit: async () => ({ action: "cancel" }),
    completed: () => undefined,
  };
  const sessions = createSessions(
    {
      settings: {},
      connect: () => (given) => {
        const backend = createFakeBackend({ ...ready, ...answers[backends.length] });
        backends.push(backend);
        return backend.connect(given);
      },
      prepare: () => undefined,
      authenticate: async () => undefined,
      close: async () => undefined,
    },
    () => client,
    () => undefined,
  );
  return {
    sessions,
    backends,
    updates,
    asked: () => asked,
    /** The client has no room until then. */
    full: (end: Promise<void>) => {
      room = end;
    },
    /** Which backends are still connected. */
    connected: () => backends.map(({ far }) => !far.gone.aborted),
  };
}

const heard = ({ received }: FakeBackend, method: string) => received.some((each) => each.method === method);

test("opens one session for two simultaneous requests in sequence", async () => {
  const { sessions, connected } = opened();
  const connections = Promise.all([1, 2, 3].map(() => sessions.open("s", wanted, signal)));
  const [first, second, third] = await connections;
  expect(new Set([first, second, third]).size).toBe(3);
  expect([sessions.of("s"), connected()]).toEqual([third, [false, false, true]]);
  await sessions.closeAll();
});

test("finishes a replay before reopening its session", async () => {
  const messages = ["one", "two"].map((text) => ({ id: text, role: "assistant", content: [{ type: "text", text }] }));
  const { sessions, backends, updates, full } = opened({
    "droid.load_session": () => ({ session: { messages }, settings }),
  });
  const gate = createGate();
  const first = await sessions.open("s", wanted, signal);
  full(gate.wait());
  const replayed = first.replay();
  const again = sessions.open("s", wanted, signal);
  await settled();
  expect([updates.length, backends.length]).toEqual([1, 1]);
  full(Promise.resolve());
  gate.open();
  await replayed;
  expect(updates.length).toBe(2);
  await again;
  expect(backends.length).toBe(2);
  await sessions.closeAll();
});

test("a prompt waits until the conversation before it is replayed", async () => {
  const messages = [{ id: "m", role: "assistant", content: [{ type: "text", text: "Before." }] }];
  const { sessions, backends, full } = opened({ "droid.load_session": () => ({ session: { messages }, settings }) });
  const gate = createGate();
  const session = await sessions.open("s", wanted, signal);
  full(gate.wait());
  const replayed = session.replay();
  const answer = session.prompt([{ type: "text", text: "Now." }], signal);
  await settled();
  const [backend] = backends as [FakeBackend];
  expect(heard(backend, "droid.add_user_message")).toBe(false);
  full(Promise.resolve());
  gate.open();
  await replayed;
  await backend.next("droid.add_user_message");
  backend.notify(busy, idle);
  expect(await answer).toEqual({ stopReason: "end_turn" });
  await sessions.closeAll();
});

test("rejects a backend that takes another session's id, before it can ask in its name", async () => {
  const toolUse = { type: "tool_use", id: "c", name: "Execute", input: { command: "ls" } };
  const question = {
    sessionId: "s",
    toolUses: [{ toolUse, confirmationType: "exec", details: { type: "exec", fullCommand: "ls", impactLevel: "low" } }],
    options: [{ value: "proceed_once", label: "Yes" }],
  };
  const { sessions, backends, asked, updates, connected } = opened(opens("s"), {
    ...opens("s"),
    // The last request before a session is open: its response, and questions right after it.
    "droid.list_models": () => {
      void (async () => {
        for (let moment = 0; moment < 50; moment += 1) {
          await Promise.resolve();
          backends[1]?.ask(`q${moment}`, "droid.request_permission", question);
        }
      })();
      return { models: [] };
    },
  });
  const first = await sessions.create(wanted, signal);
  await expect(sessions.create(wanted, signal)).rejects.toThrow("The backend returned s, which is already open.");
  await settled();
  expect([asked(), updates, sessions.of("s"), connected()]).toEqual([0, [], first, [true, false]]);
  // It is free once closed.
  await sessions.close("s");
  expect((await sessions.open("s", wanted, signal)).id).toBe("s");
  await sessions.closeAll();
});

test("rejects a copy with another session's id, which stays open", async () => {
  const { sessions, connected } = opened(opens("a"), {
    ...opens("b"),
    "droid.fork_session": () => ({ newSessionId: "a" }),
  });
  const first = await sessions.create(wanted, signal);
  const second = await sessions.create(wanted, signal);
  await expect(sessions.fork("b", wanted, signal)).rejects.toThrow("The backend returned a, which is already open.");
  expect([sessions.of("a"), sessions.of("b")]).toEqual([first, second]);
  expect(connected().slice(0, 2)).toEqual([true, true]);
  await sessions.closeAll();
});

test.each<ContentBlock>([
  { type: "image", mimeType: "image/png", data: "AA==" },
  { type: "resource", resource: { uri: "file:///a", text: "words" } },
])("a command with an attachment ($type) is a prompt", async (attached) => {
  const { sessions, backends } = opened(opens("s"));
  const session = await sessions.create(wanted, signal);
  expect(await session.prompt([{ type: "text", text: "/mode" }], signal)).toEqual({ stopReason: "end_turn" });
  const [backend] = backends as [FakeBackend];
  expect(heard(backend, "droid.add_user_message")).toBe(false);
  const answer = session.prompt([{ type: "text", text: "/mode" }, attached], signal);
  expect((await backend.next("droid.add_user_message")).params).toMatchObject({
    text: expect.stringMatching(/^\/mode/),
  });
  backend.notify(busy, idle);
  expect(await answer).toEqual({ stopReason: "end_turn" });
  await sessions.closeAll();
});

test("delivers a backend's early events once the editor knows the session", async () => {
  const { sessions, backends, updates } = opened({
    "droid.load_session": () => {
      backends[0]?.notify({ type: "notice", level: "warning", message: "Look out." });
      return { session: { messages: [] }, settings };
    },
  });
  const session = await sessions.open("s-1", wanted, signal);
  expect(updates).toEqual([]);
  await session.introduce();
  expect(updates).toContainEqual({ sessionUpdate: "notice", severity: "warning", title: "Look out." });
  await sessions.closeAll();
});

test("retries without MCP servers for a backend that rejects them", async () => {
  const { sessions, backends, updates } = opened({ "droid.initialize_session": undefined as never }, opens("s-1"));
  const opening = sessions.create(
    { ...wanted, mcpServers: [{ name: "files", command: "x", args: [], env: [] }] },
    signal,
  );
  await until(() => backends.length === 1);
  const request = await backends[0]?.next("droid.initialize_session");
  backends[0]?.error(request?.id ?? "", { code: -32602, message: "mcpServers is not supported" });
  const session = await opening;
  await session.introduce();
  expect(backends[1]?.received[0]?.params).not.toHaveProperty("mcpServers");
  expect(updates).toContainEqual({
    sessionUpdate: "notice",
    severity: "warning",
    title: "The session opened without its MCP servers (files): mcpServers is not supported",
  });
  await sessions.closeAll();
});
