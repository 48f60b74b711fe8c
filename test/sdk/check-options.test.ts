import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import * as browser from "../../src/sdk/browser.ts";
import * as node from "../../src/sdk/node.ts";
import { busy, completed, createFakeBackend, says } from "./fakes/fake-backend.ts";

/* Mistakes of callers without types. */

const neverCalled = () => Promise.reject(new Error("It was called."));

async function failureOf(act: () => unknown): Promise<string> {
  try {
    await act();
    return "none";
  } catch (error) {
    return String(error);
  }
}

const wrong: readonly [options: unknown, fault: string][] = [
  [{ onPermission: "proceed_once" }, "onPermission of % must be a function"],
  [{ onPlan: {} }, "onPlan of % must be a function"],
  [{ onQuestion: null }, "onQuestion of % must be a function"],
  [{ onEvent: 1 }, "onEvent of % must be a function"],
  [{ onWarning: true }, "onWarning of % must be a function"],
  [{ connect: "ws://x" }, "connect of % must be a function"],
  [{ whenBusy: "wait" }, 'whenBusy of % must be "queue" or "refuse"'],
  [{ timeouts: 5 }, "timeouts of % must be an object"],
  [{ timeouts: { turn: "5" } }, "timeouts.turn of % must be a number of at least 0"],
  [{ timeouts: { open: Number.NaN } }, "timeouts.open of % must be a number of at least 0"],
  [{ timeouts: { grace: -1 } }, "timeouts.grace of % must be a number of at least 0"],
  [{ signal: new AbortController() }, "signal of % must be an AbortSignal"],
  [{ cwd: 1 }, "cwd of % must be a string"],
  [{ sessionId: 1 }, "sessionId of % must be a string"],
  [{ modelId: ["m"] }, "modelId of % must be a string"],
  [{ interactionMode: "x" }, 'interactionMode of % must be "auto" or "spec"'],
  [{ autonomyLevel: "auto-low" }, 'autonomyLevel of % must be "off", "low", "medium" or "high"'],
  [{ specModeModelId: 5 }, "specModeModelId of % must be a string or null"],
  [{ enabledToolIds: "Read" }, "enabledToolIds of % must be a list of strings"],
  [{ systemPrompt: { prepend: "x" } }, "systemPrompt of % must be a string or { append }"],
  [{ tags: ["x"] }, "tags of % must be a list of { name }"],
  [{ mcpServers: { name: "x" } }, "mcpServers of % must be a list of { name, type }"],
];

test.each([
  ["node", node],
  ["browser", browser],
])("rejects a wrong option by name: %s", async (_, sdk) => {
  for (const [options, fault] of wrong) {
    const given = { connect: neverCalled, ...(options as object) };
    const told = (name: string): string => `TypeError: The option ${fault.replace("%", name)}.`;
    expect(await failureOf(() => sdk.createSession(given))).toBe(told("createSession"));
    expect(await failureOf(() => sdk.resumeSession("s", given))).toBe(told("resumeSession"));
    expect(await failureOf(() => sdk.query("x", given))).toBe(told("query"));
  }
  // @ts-expect-error no id
  expect(await failureOf(() => sdk.resumeSession(undefined, { connect: neverCalled }))).toBe(
    "TypeError: The id of a session must be a string.",
  );
  // @ts-expect-error no prompt
  expect(await failureOf(() => sdk.query({}, { connect: neverCalled }))).toBe("TypeError: A prompt must be a string.");
  // @ts-expect-error no options
  expect(await failureOf(() => sdk.createSession(null))).toBe(
    "TypeError: The options of createSession must be an object.",
  );
  // @ts-expect-error no options
  expect(await failureOf(() => sdk.query("x", "y"))).toBe("TypeError: The options of query must be an object.");
});

const wrongPrograms: readonly [options: object, fault: string][] = [
  [{ executable: 5 }, "executable of % must be the name or the path of a program"],
  [{ executable: "" }, "executable of % must be the name or the path of a program"],
  [{ args: "--more" }, "args of % must be a list of strings"],
  [{ args: [5] }, "args of % must be a list of strings"],
  [{ command: 5 }, "command of % must be a string"],
  [{ env: "x" }, "env of % must be an object"],
  [{ stderrBytes: -1 }, "stderrBytes of % must be a number of at least 0"],
  [{ stderrBytes: "a" }, "stderrBytes of % must be a number of at least 0"],
  [{ maxLineBytes: Number.NaN }, "maxLineBytes of % must be a number of at least 1"],
  [{ maxLineBytes: 0 }, "maxLineBytes of % must be a number of at least 1"],
  [{ maxLineBytes: -1 }, "maxLineBytes of % must be a number of at least 1"],
];

test.each(wrongPrograms)("does not start a program with %j", async (options, fault) => {
  const told = (name: string): string => `TypeError: The option ${fault.replace("%", name)}.`;
  expect(await failureOf(() => node.createSession(options))).toBe(told("createSession"));
  expect(await failureOf(() => node.resumeSession("s", options))).toBe(told("resumeSession"));
  expect(await failureOf(() => node.query("x", options))).toBe(told("query"));
  expect(await failureOf(() => node.spawnBackend(options))).toBe(told("spawnBackend"));
});

/** As called without types. */
const loose = (call: unknown) => call as (...given: readonly unknown[]) => unknown;

test("also for sockets and outputs", async () => {
  const socketTo = loose(node.webSocketConnection);
  const read = loose(node.readStreamJson);
  expect(
    await Promise.all(
      [
        () => socketTo(5),
        () => socketTo("ws://x", null),
        () => socketTo("ws://x", { protocols: [5] }),
        () => socketTo("ws://x", { openMs: Number.NaN }),
        () => socketTo("ws://x", { maxLineBytes: 0 }),
        () => socketTo("ws://x", { WebSocket: {} }),
        () => read(5),
        () => read(["{}"]),
        () => read("", null),
        () => read("", { maxLineBytes: Number.NaN }),
        () => read("", { signal: 5 }),
      ].map(failureOf),
    ),
  ).toEqual(
    [
      "What webSocketConnection connects to must be an address or a WebSocket.",
      "The options of webSocketConnection must be an object.",
      "The option protocols of webSocketConnection must be a string or a list of strings.",
      "The option openMs of webSocketConnection must be a number of at least 0.",
      "The option maxLineBytes of webSocketConnection must be a number of at least 1.",
      "The option WebSocket of webSocketConnection must be a function.",
      "What readStreamJson reads must be text, bytes or a stream of them.",
      "What readStreamJson reads must be text, bytes or a stream of them.",
      "The options of readStreamJson must be an object.",
      "The option maxLineBytes of readStreamJson must be a number of at least 1.",
      "The option signal of readStreamJson must be an AbortSignal.",
    ].map((words) => `TypeError: ${words}`),
  );
});

test("checks a session's options before the backend gets them", async () => {
  const backend = createFakeBackend();
  const session = await node.createSession({ connect: backend.connect });
  const asked = backend.received.length;
  const [send, stream, interrupt] = [loose(session.send), loose(session.stream), loose(session.interrupt)];
  const [update, rename, fork] = [loose(session.updateSettings), loose(session.rename), loose(session.fork)];
  const [models, tools, call] = [loose(session.models), loose(session.tools), loose(session.call)];
  expect(
    await Promise.all(
      [
        () => send(5),
        () => send("x", null),
        () => send("x", { signal: 5 }),
        () => stream("x", { id: 5 }),
        () => send("x", { images: "x" }),
        () => send("x", { files: [{ mediaType: "text/plain" }] }),
        () => interrupt({ signal: 5 }),
        () => update(),
        () => update({ interactionMode: "x" }),
        () => rename(),
        () => fork({ title: 5 }),
        () => models({ signal: 5 }),
        () => tools(null),
        () => call(),
        () => call("list_skills", "x"),
        () => call("list_skills", {}, { signal: 5 }),
      ].map(failureOf),
    ),
  ).toEqual(
    [
      "A prompt must be a string.",
      "The options of send must be an object.",
      "The option signal of send must be an AbortSignal.",
      "The option id of stream must be a string.",
      "The option images of send must be a list of { mediaType, data }.",
      "The option files of send must be a list of { mediaType, data }.",
      "The option signal of interrupt must be an AbortSignal.",
      "The options of updateSettings must be an object.",
      'The option interactionMode of updateSettings must be "auto" or "spec".',
      "A title must be a string.",
      "The option title of fork must be a string.",
      "The option signal of models must be an AbortSignal.",
      "The options of tools must be an object.",
      "The name of a method must be a string.",
      "The params of list_skills must be an object.",
      "The option signal of call must be an AbortSignal.",
    ].map((words) => `TypeError: ${words}`),
  );
  expect([backend.received.length, session.isBusy]).toEqual([asked, false]);
  await session.close();
});

test("in a browser, connect is required", async () => {
  const told = "needs the option connect: a browser cannot start programs.";
  // @ts-expect-error no options
  expect(await failureOf(() => browser.createSession())).toBe(`TypeError: createSession ${told}`);
  // @ts-expect-error no connect
  expect(await failureOf(() => browser.resumeSession("s", {}))).toBe(`TypeError: resumeSession ${told}`);
  // @ts-expect-error no connect
  expect(await failureOf(() => browser.query("x", {}))).toBe(`TypeError: query ${told}`);
});

test("connect must return a connection", async () => {
  const [connection] = node.linkedConnection();
  const { send: _, ...mute } = connection;
  const given: readonly [unknown, string][] = [
    [undefined, "incoming, send, close, ended"],
    [{ ...connection, incoming: [], ended: true }, "incoming, ended"],
    [mute, "send"],
  ];
  for (const [value, lacking] of given) {
    expect(await failureOf(() => node.createSession({ connect: async () => value as node.Connection }))).toBe(
      `TypeError: connect returned an invalid connection: it lacks ${lacking}.`,
    );
  }
});

test.each([Number.POSITIVE_INFINITY, 1e12, 0, undefined])("a time of %s never runs out", async (ms) => {
  const backend = createFakeBackend();
  const timeouts = { request: ms, open: ms, begin: ms, turn: ms, silence: ms } as node.Timeouts;
  const session = await node.createSession({ connect: backend.connect, timeouts });
  const sent = session.send("x", { id: "t" });
  await backend.next("droid.add_user_message");
  await sleep(10);
  backend.notify(busy);
  await sleep(10);
  backend.notify(says("m", "Done."), completed("t"));
  expect(await sent).toMatchObject({ status: "completed", text: "Done." });
  await session.close();
});
