import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { calls, type Example, fromClient, fromServer } from "../../fakes/rpc/published-examples.ts";
import { orderFaults } from "../../fakes/rpc/sdk-order.ts";
import { checkAll } from "../../fakes/rpc/sdk-strict.ts";
import type { Received, Wire } from "../../fakes/rpc/wire.ts";
import { openWire } from "../../fakes/rpc/wire.ts";
import { type Bench, createBench } from "../tinman.ts";
import { differences, type ShapeOptions } from "./same-shape.ts";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

let bench: Bench;
/** A client that sends exactly the examples: the older dialect. */
let wire: Wire;
let ids = 0;

beforeAll(async () => {
  bench = await createBench();
  await mkdir(join(bench.root, "tmp"));
  const git = "git init -q . && git remote add origin https://example.com/some-owner/some-repo.git";
  expect(await bench.shell(git)).toMatchObject({ code: 0 });
  wire = openWire(bench, { env: { TMPDIR: join(bench.root, "tmp") } });
});
afterAll(async () => {
  wire.eof();
  const exit = await wire.exit().finally(() => bench.remove());
  expect(exit).toEqual({ code: 0, signal: null, stderr: "" });
  expect(checkAll(wire.received, wire.sent, { old: true })).toEqual([]);
  expect(orderFaults(wire.received, wire.sent)).toEqual([]);
});

/** Sends an example under its own id, with values of this machine. */
async function send({ method, params }: Example, changes: Example = {}): Promise<Received> {
  ids += 1;
  return wire.request(String(method), { ...(params as Example), ...changes }, { id: String(ids) });
}

/** A session with this scripted model. */
async function session(replies: readonly object[], changes: Example = {}): Promise<Received> {
  const modelId = await bench.script(replies);
  return send(fromClient.initialize, { cwd: bench.cwd, sessionId: undefined, modelId, ...changes });
}

/** Sends a prompt and returns everything up to the end of its turn, answering as given. */
async function turn(text: string, answer: (request: Received) => Example = () => ({})): Promise<readonly Received[]> {
  const from = wire.received.length;
  const stop = wire.subscribe((message) => {
    if (message.type === "request") wire.answer(message, answer(message));
  });
  expect(differences(await send(fromClient.addUserMessage, { text }), fromServer.success)).toEqual([]);
  await wire.waitForNotice("droid_working_state_changed", from, { newState: "idle" });
  stop();
  return wire.received.slice(from);
}

const given =
  ({ result }: Example) =>
  (): Example =>
    result as Example;

/** One of the messages matches the example. */
function expectOneLike(messages: readonly Received[], example: Example, options: ShapeOptions = {}): Received {
  const type = (message: Example): unknown =>
    (message as Received).params?.notification?.type ?? (message as Received).method;
  const candidates = messages.filter((message) => type(message) === type(example));
  const found = candidates.map((message) => ({ message, different: differences(message, example, options) }));
  const right = found.find(({ different }) => different.length === 0);
  expect(right, JSON.stringify(found, null, 2).slice(0, 6000)).toBeDefined();
  return right?.message ?? {};
}

const typesIn = (messages: readonly Received[]): readonly (string | undefined)[] =>
  messages.map(({ params }) => params?.notification?.type);

test("opens, changes and interrupts a session, and rejects unknown methods", async () => {
  const from = wire.received.length;
  const initialized = await send(fromClient.initialize, { cwd: bench.cwd, sessionId: "probe-4711" });
  expect(differences(initialized, fromServer.initialized)).toEqual([]);
  expect(initialized.result).toMatchObject({
    sessionId: "probe-4711",
    settings: (fromServer.initialized.result as Example).settings,
    gitRepo: { owner: "some-owner", repoName: "some-repo" },
  });
  expect(Object.keys(initialized.result?.settings as Example).sort()).toEqual(
    Object.keys(fromServer.initialized.result.settings).sort(),
  );
  expectOneLike(wire.received.slice(from), fromServer.settingsUpdated);
  expect(differences(await send(fromClient.updateEffort), fromServer.success)).toEqual([]);
  expect(differences(await send(fromClient.interrupt), fromServer.success)).toEqual([]);
});

describe("responses to malformed requests have no id", () => {
  const withoutVersion = (example: Example): Example => ({ ...example, factoryApiVersion: undefined });
  const rows: readonly (readonly [string, Example, Example])[] = [
    ["an unknown method", fromClient.unknownMethod, fromServer.invalidRequest],
    ["an unknown level", fromClient.bogusLevel, fromServer.invalidRequest],
    ["a message without its version", withoutVersion(fromClient.interrupt), fromServer.invalidMessage],
  ];
  test.each(rows)("%s", async (what, request, expected) => {
    const from = wire.received.length;
    wire.sendRaw(`${JSON.stringify({ ...request, id: "not-understood" })}\n`);
    const answer = await wire.waitFor(({ type }) => type === "response", what, from);
    expect(differences(answer, expected)).toEqual([]);
    expect(answer.error?.data).toEqual({ requestId: "not-understood" });
    expect(wire.received.length).toBe(from + 1);
  });
});

test("without a level, the session starts in spec mode", async () => {
  const { result } = await session([{ text: "OK" }], { autonomyLevel: undefined, reasoningEffort: undefined });
  expect(result?.settings).toMatchObject({ autonomyLevel: "spec" });
});

test("a plain turn", async () => {
  await session([{ text: "OK", usage: { input: 15117, output: 11 } }]);
  const messages = await turn("Just reply OK.");
  expectOneLike(messages, fromServer.userMessage);
  expectOneLike(messages, fromServer.titleUpdated);
  expectOneLike(messages, fromServer.textDelta);
  expectOneLike(messages, fromServer.tokenUsage);
});

test("a command that needs approval", async () => {
  const command = `echo 'hello' > ${join(bench.root, "tmp", "droid-perm-test-1.txt")}`;
  await session([
    { tool_calls: [{ ...calls.execute, input: { ...calls.execute.input, command } }] },
    { tool_calls: [calls.failing] },
    { text: "OK" },
  ]);
  const messages = await turn("Write it.", given(fromClient.allowOnce));
  const request = expectOneLike(messages, fromServer.requestPermission);
  const resolved = expectOneLike(messages, fromServer.permissionResolved);
  expect(resolved.params?.notification?.requestId).toBe(request.id);
  expectOneLike(messages, fromServer.executing);
  // The example's command prints nothing while it runs; the next one does.
  expectOneLike(messages, fromServer.toolProgress, { own: ["toolUseId"] });
  expectOneLike(messages, fromServer.toolResult);
  expectOneLike(messages, fromServer.failedToolResult);
});

test("a command that needs none", async () => {
  await session([{ tool_calls: [calls.pwd] }, { text: "OK" }]);
  const messages = await turn("Where are we?");
  expectOneLike(messages, fromServer.assistantMessage);
  expect(messages.filter(({ type }) => type === "request")).toEqual([]);
});

describe("a question", () => {
  const replies = [{ tool_calls: [calls.ask] }, { text: "{{tool_result}}" }];
  const result = (messages: readonly Received[]): unknown =>
    messages.map(({ params }) => params?.notification).find((notice) => notice?.type === "tool_result")?.content;

  test("can be answered with objects", async () => {
    await session(replies);
    const messages = await turn("Ask me.", given(fromClient.answerQuestion));
    expectOneLike(messages, fromServer.askUser);
    expect(result(messages)).toBe("1. [question] Which color do you want?\n[answer] Red");
  });

  test("does not hang on plain strings", async () => {
    await session(replies);
    const messages = await turn("Ask me.", () => ({ cancelled: false, answers: ["Red"] }));
    expect(result(messages)).toBe("1. [question] Which color do you want?\n[answer] Red");
  });
});

describe("a plan", () => {
  const spec = { autonomyLevel: "spec" };

  test("with one option is approved", async () => {
    const { result } = await session([{ tool_calls: [calls.onePlan] }, { text: "OK" }], spec);
    expect(result?.settings).toMatchObject({ autonomyLevel: "spec" });
    const messages = await turn("Make a plan.", given(fromClient.approvePlan));
    const request = expectOneLike(messages, fromServer.onePlan);
    expect(request.params?.toolUses).toEqual((fromServer.onePlan.params as Example).toolUses);
    expect(request.params?.options).toEqual((fromServer.onePlan.params as Example).options);
    const around = ["settings_updated", "permission_resolved", "tool_result"];
    expect(typesIn(messages).filter((type) => around.includes(String(type)))).toEqual(around);
    const changed = messages.find(({ params }) => params?.notification?.type === "settings_updated");
    expect(changed?.params?.notification?.settings).toMatchObject({ autonomyLevel: "normal" });
  });

  test("with two options is sent back", async () => {
    await session([{ tool_calls: [calls.twoPlans] }, { text: "not reached" }], spec);
    const messages = await turn("Make a plan.", () => ({ selectedOption: "cancel" }));
    expectOneLike(messages, fromServer.twoPlans);
    expect(typesIn(messages)).not.toContain("settings_updated");
  });
});

test("reports the named servers", async () => {
  const from = wire.received.length;
  const mcpServers = ["linear", "apikit"].map((name) => ({ type: "http", name, url: "http://127.0.0.1:9/mcp" }));
  const { result } = await session([{ text: "OK" }], { mcpServers });
  expect(result?.mcpServers).toMatchObject([{ name: "linear" }, { name: "apikit" }]);
  // They come from the client, and nobody has signed in.
  const own = ["source", "hasAuthTokens"];
  expectOneLike(wire.received.slice(from), fromServer.mcpStatus, { own });
});

interface Spoken {
  readonly content: readonly { readonly type: string; readonly text: string }[];
}

/** The number of reminders varies, and they come first; the example shows one. */
function withOneReminder(message: Spoken): Spoken {
  const own = message.content.findIndex(({ text }) => !/^<system-reminder>[\s\S]*<\/system-reminder>$/.test(text));
  return { ...message, content: message.content.slice(Math.max(0, own - 1)) };
}

describe("an earlier session", () => {
  const words = "The password is DOLPHIN-2288. Just reply OK.";
  let old: Received;

  beforeAll(async () => {
    old = await session([{ text: "OK" }]);
    await turn(words);
  });
  const load = (sessionId: unknown): Promise<Received> => send(fromClient.load, { sessionId });

  test("is opened under an id that the program chose", () => {
    expect(old.result?.sessionId).toMatch(uuid);
  });

  test("is loaded with its messages", async () => {
    await session([{ text: "OK" }]);
    const loaded = await load(old.result?.sessionId);
    const { messages } = (loaded.result?.session ?? { messages: [] }) as { messages: readonly Spoken[] };
    const shown = { ...loaded, result: { ...loaded.result, session: { messages: messages.map(withOneReminder) } } };
    // This test's model is a script, with the one effort that scripts have.
    expect(differences(shown, fromServer.loaded, { own: ["modelId", "reasoningEffort"] })).toEqual([]);
    expect(loaded.result?.cwd).toBe(bench.cwd);
    expect(messages).toHaveLength(2);
  });

  test("opening it again by its id starts a new session", async () => {
    const { result } = await session([{ text: "OK" }], { sessionId: old.result?.sessionId });
    expect(result).toMatchObject({ sessionId: expect.stringMatching(uuid), session: { messages: [] } });
    expect(result?.sessionId).not.toBe(old.result?.sessionId);
  });

  test("cannot be loaded if the client chose its id", async () => {
    const { result } = await session([{ text: "OK" }], { sessionId: "my-session-1" });
    expect(result).toMatchObject({ sessionId: "my-session-1", session: { messages: [] } });
    await turn(words);
    const { error } = await load("my-session-1");
    expect(error).toMatchObject({ code: -32004, message: "Session not found" });
  });
});

test("without a session, a method says so", async () => {
  const other = openWire(bench);
  const { params, method } = fromClient.addUserMessage;
  const { error } = await other.request(String(method), params as Example);
  expect(error).toMatchObject({ message: "No active session. Call initialize_session or load_session first." });
  other.eof();
  expect(await other.exit()).toEqual({ code: 0, signal: null, stderr: "" });
});
