import { once } from "node:events";
import { expect, test } from "vitest";
import { createSession, resumeSession } from "../../src/sdk/browser.ts";
import { busy, completed, createFakeBackend, idle, obliging, says, settings, settled } from "./fakes/fake-backend.ts";

const methodsOf = (backend: ReturnType<typeof createFakeBackend>) => backend.received.map(({ method }) => method);

test("a prompt aborted before it was accepted is interrupted right after", async () => {
  const { "droid.add_user_message": _, ...answers } = obliging;
  const backend = createFakeBackend(answers);
  const session = await createSession({ connect: backend.connect });
  const abort = new AbortController();
  const sent = session.send("go", { signal: abort.signal });
  const prompt = await backend.next("droid.add_user_message");
  abort.abort(new Error("enough"));
  await expect(sent).rejects.toThrow("enough");
  await settled();
  expect(methodsOf(backend)).toEqual(["droid.initialize_session", "droid.add_user_message"]);
  backend.result(prompt, {});
  await backend.next("droid.interrupt_session");
  backend.notify(busy, idle);
  const second = session.send("go on");
  const { params } = await backend.next("droid.add_user_message");
  expect(params).toMatchObject({ text: "go on" });
  backend.notify(busy, says("m-2", "Fine."), idle);
  backend.result(backend.received.at(-1) as { id: string }, {});
  expect(await second).toMatchObject({ status: "completed", text: "Fine." });
  await session.close();
});

test("a session is resumed with other settings, or not at all", async () => {
  const change = { modelId: "n", autonomyLevel: "low", specModeModelId: null } as const;
  const backend = createFakeBackend({ ...obliging, "droid.update_session_settings": () => ({}) });
  const session = await resumeSession("s-1", { connect: backend.connect, ...change });
  expect(backend.received.map(({ method, params }) => [method, params])).toEqual([
    ["droid.load_session", { sessionId: "s-1" }],
    ["droid.update_session_settings", change],
  ]);
  expect(session.settings).toMatchObject({ modelId: "n", autonomyLevel: "low" });
  await session.close();

  const other = createFakeBackend();
  const refused = resumeSession("s-1", { connect: other.connect, modelId: "nobody" });
  const { id } = await other.next("droid.update_session_settings");
  other.error(id, { code: -32000, message: "There is no such model." });
  await expect(refused).rejects.toThrow("There is no such model.");
  expect(other.far.gone.aborted).toBe(true);
});

test("listeners to a session and its fork know the source of each event", async () => {
  const first = createFakeBackend({
    ...obliging,
    "droid.fork_session": () => ({ newSessionId: "s-2" }),
    "droid.update_session_settings": () => ({}),
  });
  const copy = createFakeBackend({ ...obliging, "droid.update_session_settings": () => ({}) });
  const backends = [first, copy];
  const told: unknown[] = [];
  const session = await createSession({
    connect: async () => (backends.shift() ?? copy).connect(),
    onEvent: (event, id) => event.type === "title" && told.push([event.title, id]),
  });
  const fork = await session.fork();
  const title = (words: string) => ({ type: "session_title_updated", title: words });
  first.notify(title("The first"));
  copy.notify(title("Its copy"));
  await settled();
  expect(told).toEqual([
    ["The first", "s-1"],
    ["Its copy", "s-2"],
  ]);
  await Promise.all([session.close(), fork.close()]);

  const opened = createFakeBackend({
    ...obliging,
    "droid.initialize_session": (request) => {
      opened.notify(title("Early"));
      return obliging["droid.initialize_session"]?.(request) ?? {};
    },
  });
  const ids: unknown[] = [];
  await (await createSession({ connect: opened.connect, onEvent: (_, id) => ids.push(id) })).close();
  expect(ids).toEqual([undefined]);
});

test("a fork leaves the first session unchanged, and has its settings", async () => {
  const first = createFakeBackend({
    ...obliging,
    "droid.fork_session": () => ({ newSessionId: "s-2" }),
    "droid.update_session_settings": () => ({}),
  });
  const copy = createFakeBackend({ ...obliging, "droid.update_session_settings": () => ({}) });
  const backends = [first, copy];
  const connect = async () => (backends.shift() ?? copy).connect();
  const session = await createSession({ connect, autonomyLevel: "low" });
  await session.updateSettings({ autonomyLevel: "medium" });
  const fork = await session.fork({ title: "Copy" });
  const wishes = { modelId: "m", autonomyLevel: "medium", interactionMode: "auto" };
  const calls = (backend: typeof first) => backend.received.map(({ method, params }) => [method, params]);
  expect(calls(first).slice(2)).toEqual([
    ["droid.fork_session", { title: "Copy" }],
    ["droid.load_session", { sessionId: "s-1" }],
    ["droid.update_session_settings", wishes],
  ]);
  expect(calls(copy)).toEqual([
    ["droid.load_session", { sessionId: "s-2" }],
    ["droid.update_session_settings", wishes],
  ]);
  expect([session, fork].map(({ id, settings: { autonomyLevel } }) => [id, autonomyLevel])).toEqual([
    ["s-1", "medium"],
    ["s-2", "medium"],
  ]);
  await Promise.all([session.close(), fork.close()]);
});

test("rejects a fork while a turn is running", async () => {
  const backend = createFakeBackend();
  const session = await createSession({ connect: backend.connect });
  const turn = session.stream("go");
  await expect(session.fork()).rejects.toMatchObject({ name: "BusyError" });
  backend.notify(busy, says("m-1", "Done."), completed(turn.id));
  expect((await turn.result).text).toBe("Done.");
  await session.close();
});

test("uses the models sent on opening if a backend cannot list them", async () => {
  const availableModels = [{ id: "a", displayName: "A", modelProvider: "openai", supportedReasoningEfforts: ["low"] }];
  const backend = createFakeBackend({
    ...obliging,
    "droid.initialize_session": () => ({ sessionId: "s-1", session: { messages: [] }, settings, availableModels }),
  });
  const session = await createSession({ connect: backend.connect, timeouts: { grace: 1 } });
  const listed = session.models({ includeDisabled: true });
  const { params } = await backend.next("droid.list_models");
  expect(params).toEqual({ includeDisabled: true });
  backend.error(null, { code: -32600, message: "Invalid request format" });
  expect(await listed).toEqual([
    {
      id: "a",
      displayName: "A",
      provider: "openai",
      reasoningEfforts: ["low"],
      isCustom: false,
      disabled: false,
    },
  ]);
  await session.close();
});

test("a session resumed in the middle of a turn takes no prompt before its end, and answers open requests", async () => {
  const toolUse = { type: "tool_use", id: "c-1", name: "Execute", input: { command: "ls" } };
  const details = { type: "exec", fullCommand: "ls", command: "ls", extractedCommands: ["ls"], impactLevel: "low" };
  const pending = {
    requestId: "r-1",
    toolUses: [{ toolUse, confirmationType: "exec", details }],
    options: [{ value: "proceed_once", label: "Yes" }],
  };
  const backend = createFakeBackend({
    ...obliging,
    "droid.load_session": () => ({
      session: { messages: [says("m-0", "Before.").message], title: "Earlier" },
      settings,
      isAgentLoopInProgress: true,
      cwd: "/ws",
      pendingPermissions: [pending],
    }),
  });
  const session = await resumeSession("s-1", { connect: backend.connect, onPermission: () => "proceed_once" });
  const { id, cwd, title, isBusy, history } = session;
  expect({ id, cwd, title, isBusy, texts: history.map(({ content }) => content) }).toEqual({
    id: "s-1",
    cwd: "/ws",
    title: "Earlier",
    isBusy: true,
    texts: [[{ type: "text", text: "Before." }]],
  });
  expect(await backend.next("response")).toMatchObject({ id: "r-1", result: { selectedOption: "proceed_once" } });
  const sent = session.send("and now");
  await settled();
  expect(methodsOf(backend)).not.toContain("droid.add_user_message");
  backend.notify(says("m-1", "Theirs."), idle);
  await backend.next("droid.add_user_message");
  backend.notify(busy, says("m-2", "Ours."), idle);
  expect(await sent).toMatchObject({ status: "completed", text: "Ours." });
  await session.close();
});

test("rejects invalid sessions and prompts with a message", async () => {
  const nameless = createFakeBackend({ "droid.initialize_session": () => ({ session: { messages: [] }, settings }) });
  await expect(createSession({ connect: nameless.connect })).rejects.toThrow(
    "The backend did not return the session's id.",
  );
  const session = await createSession({ connect: createFakeBackend().connect });
  // @ts-expect-error callers without types make such mistakes
  expect(() => session.stream(undefined)).toThrow("A prompt must be a string.");
  // @ts-expect-error callers without types make such mistakes
  await expect(session.send({ text: "hi" })).rejects.toThrow("A prompt must be a string.");
  await session.close();
});

test("does not hide an ignored rejection of send", async () => {
  const session = await createSession({ connect: createFakeBackend().connect });
  const unhandled = once(process, "unhandledRejection");
  const others = process.listeners("unhandledRejection").filter((listener) => listener.name !== "eventHandler");
  expect(others).not.toEqual([]);
  void session.send("never answered");
  await session.close();
  const [error] = await unhandled;
  expect(error).toMatchObject({ name: "ClosedError" });
});

test("a failed connection is gone, and no caller waits for it", async () => {
  const backend = createFakeBackend();
  const connection = await backend.connect();
  const failing = {
    async *[Symbol.asyncIterator]() {
      yield* connection.incoming;
      throw new Error("torn");
    },
  };
  const session = await createSession({ connect: async () => ({ ...connection, incoming: failing }) });
  const sent = session.send("go");
  backend.end();
  await expect(sent).rejects.toMatchObject({ name: "BackendGoneError", message: "The connection failed: torn" });
});

test.each([
  ["does not say that it has it", {}, ["The backend does not support systemPrompt, and ignores it."]],
  ["has it", { systemPrompt: "Be kind." }, []],
])("warns about a system prompt if the backend %s", async (_, told, expected) => {
  const warnings: string[] = [];
  const backend = createFakeBackend({
    ...obliging,
    "droid.initialize_session": () => ({ sessionId: "s-1", settings: { modelId: "m", ...told } }),
  });
  const session = await createSession({
    connect: backend.connect,
    systemPrompt: "Be kind.",
    onWarning: (words) => warnings.push(words),
  });
  expect(warnings).toEqual(expected);
  await session.close();
});
