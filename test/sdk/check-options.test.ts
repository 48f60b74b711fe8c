import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import * as browser from "../../src/sdk/browser.ts";
import * as node from "../../src/sdk/node.ts";
import { busy, completed, createFakeBackend, says } from "./fake-backend.ts";

/* What callers without types get wrong. */

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
];

test.each([
  ["node", node],
  ["browser", browser],
])("a wrong option is refused by name: %s", async (_, sdk) => {
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
  // @ts-expect-error likewise
  expect(await failureOf(() => sdk.query("x", "y"))).toBe("TypeError: The options of query must be an object.");
});

test("in a browser, connect must be given", async () => {
  const told = "needs the option connect here: nothing can be started in a browser.";
  // @ts-expect-error no options
  expect(await failureOf(() => browser.createSession())).toBe(`TypeError: createSession ${told}`);
  // @ts-expect-error no connect
  expect(await failureOf(() => browser.resumeSession("s", {}))).toBe(`TypeError: resumeSession ${told}`);
  // @ts-expect-error no connect
  expect(await failureOf(() => browser.query("x", {}))).toBe(`TypeError: query ${told}`);
});

test("what connect gives must be a connection", async () => {
  const [connection] = node.linkedConnection();
  const { send: _, ...mute } = connection;
  const given: readonly [unknown, string][] = [
    [undefined, "incoming, send, close, ended"],
    [{ ...connection, incoming: [], ended: true }, "incoming, ended"],
    [mute, "send"],
  ];
  for (const [value, lacking] of given) {
    expect(await failureOf(() => node.createSession({ connect: async () => value as node.Connection }))).toBe(
      `TypeError: What connect gave is no connection: it lacks ${lacking}.`,
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
