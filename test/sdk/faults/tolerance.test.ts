import { describe, expect, it } from "vitest";
import type { CommonOptions } from "../../../src/sdk/api.ts";
import { createSession } from "../../../src/sdk/node.ts";
import type { TurnEvent, TurnResult } from "../../../src/sdk/types.ts";
import {
  type Answers,
  busy,
  completed,
  createFakeBackend,
  delta,
  type FakeBackend,
  idle,
  message,
  obliging,
  says,
  settled,
  state,
  usage,
} from "../fakes/fake-backend.ts";
import { createNaiveClient, type NaiveTurn, standOf } from "../fakes/naive-client.ts";

/* Deviations of real backends: the SDK handles them, and a first client does not. */

const toolUse = { type: "tool_use", id: "c-1", name: "LS", input: { directory_path: "." } };
const called = message("m-1", "assistant", { type: "text", text: "Looking." }, toolUse);
const announced = (input: object) => ({ type: "tool_call", toolUse: { ...toolUse, input } });
const result = { type: "tool_result", toolUseId: "c-1", messageId: "r-1", content: "a.txt", isError: false };
const used = { type: "session_token_usage_changed", tokenUsage: usage };

const nothing: NaiveTurn = { text: "", messages: [], calls: 0, results: 0, usage: undefined };
const done = (text: string): TurnResult => ({ status: "completed", reason: "completed", text, turnId: "t-1" });

/** How often everything is reported, and a reader's final text. */
function summaryOf(events: readonly TurnEvent[]) {
  const count = (type: TurnEvent["type"]): number => events.filter((event) => event.type === type).length;
  return { messages: count("message"), calls: count("tool_call"), results: count("tool_result"), ends: count("end") };
}

type Play = (backend: FakeBackend) => void | Promise<void>;

async function withSdk(play: Play, options: CommonOptions = {}, answers?: Answers) {
  const backend = createFakeBackend(answers);
  const warnings: string[] = [];
  const session = await createSession({
    connect: backend.connect,
    timeouts: { grace: 20 },
    onWarning: (words) => warnings.push(words),
    ...options,
  });
  const turn = session.stream("go", { id: "t-1" });
  const events: TurnEvent[] = [];
  const told = (async () => {
    for await (const event of turn) events.push(event);
  })();
  await backend.next("droid.add_user_message");
  await play(backend);
  await told;
  const outcome = await turn.result;
  await settled();
  await session.close();
  return { outcome, events, summary: summaryOf(events), session, backend, warnings };
}

async function withNaive(play: Play, endsWith?: "idle" | "agent_turn_completed", answers?: Answers) {
  const backend = createFakeBackend(answers);
  const client = await createNaiveClient(backend.connect, endsWith);
  await client.request("droid.initialize_session", { machineId: "m", cwd: "/" });
  const turn = client.prompt("go");
  await backend.next("droid.add_user_message");
  await settled();
  await play(backend);
  const outcome = await standOf(turn);
  await client.close();
  return { outcome, crash: client.crash, backend };
}

interface Row {
  readonly notices: readonly (object | string)[];
  readonly text: string;
  readonly summary?: Partial<ReturnType<typeof summaryOf>>;
  readonly naive: NaiveTurn | "pending";
  readonly crash?: RegExp;
  readonly endsWith?: "agent_turn_completed";
}

const rows: Readonly<Record<string, Row>> = {
  "idle before the message, after some of its pieces": {
    notices: [busy, delta("m", "He"), idle, says("m", "Hello")],
    text: "Hello",
    naive: { ...nothing, text: "He" },
  },
  "idle before a message that comes in one piece": {
    notices: [busy, idle, says("m", "Hello")],
    text: "Hello",
    naive: nothing,
  },
  "idle behind a tool's result, before the message": {
    notices: [busy, called, state("executing_tool"), result, idle, says("m", "Hello")],
    text: "Hello",
    summary: { messages: 2, calls: 1, results: 1 },
    naive: { ...nothing, messages: ["Looking."], results: 1 },
  },
  "every message twice": {
    notices: [busy, says("m", "Hello"), says("m", "Hello"), idle],
    text: "Hello",
    naive: { ...nothing, messages: ["Hello", "Hello"] },
  },
  "every result twice": {
    notices: [busy, called, result, result, says("m", "Hello"), idle],
    text: "Hello",
    summary: { messages: 2, calls: 1, results: 1 },
    naive: { ...nothing, messages: ["Looking.", "Hello"], results: 2 },
  },
  "pieces that begin again under the same id": {
    notices: [busy, delta("m", "Hel"), delta("m", "Hel"), delta("m", "lo"), says("m", "Hello"), idle],
    text: "Hello",
    naive: { ...nothing, text: "HelHello", messages: ["Hello"] },
  },
  "token usage behind idle": {
    notices: [busy, says("m", "Hello"), idle, used],
    text: "Hello",
    naive: { ...nothing, messages: ["Hello"] },
  },
  "a call that is announced over and over": {
    notices: [
      busy,
      ...[announced({}), announced({}), announced(toolUse.input), called, announced(toolUse.input), result],
      ...[announced(toolUse.input), says("m", "Hello"), idle],
    ],
    text: "Hello",
    summary: { messages: 2, calls: 1, results: 1 },
    naive: { ...nothing, messages: ["Looking.", "Hello"], calls: 5, results: 1 },
  },
  "notifications of unknown types": {
    notices: [busy, { type: "news_of_tomorrow", list: [] }, says("m", "Hello"), idle],
    text: "Hello",
    naive: "pending",
    crash: /unknown notification news_of_tomorrow/,
  },
  "lines that are no JSON": {
    notices: [busy, "Debugger attached.", says("m", "Hello"), '{"cut', "", "[]", "null", "17", idle],
    text: "Hello",
    naive: "pending",
    crash: /JSON/,
  },
  "no agent_turn_completed, for who waits for it": {
    notices: [busy, says("m", "Hello"), idle],
    text: "Hello",
    naive: "pending",
    endsWith: "agent_turn_completed",
  },
  "the agent_turn_completed of another turn": {
    notices: [busy, completed("t-0"), says("m", "Hello"), idle],
    text: "Hello",
    naive: nothing,
    endsWith: "agent_turn_completed",
  },
  "idle of the turn before": {
    notices: [idle, busy, says("m", "Hello"), idle],
    text: "Hello",
    naive: nothing,
  },
};

const send =
  (notices: readonly (object | string)[]): Play =>
  (backend) => {
    for (const notice of notices) typeof notice === "string" ? backend.line(notice) : backend.notify(notice);
  };

describe("a turn survives", () => {
  it.each(Object.entries(rows))("%s", async (_, { notices, text, summary = {}, naive, crash, endsWith }) => {
    const { outcome, ...sdk } = await withSdk(send(notices));
    expect([outcome, sdk.summary]).toEqual([done(text), { messages: 1, calls: 0, results: 0, ends: 1, ...summary }]);
    const first = await withNaive(send(notices), endsWith);
    expect(first.outcome).toEqual(naive);
    if (crash === undefined) expect(first.crash).toBeUndefined();
    else expect(first.crash).toMatch(crash);
  });

  it("token usage after idle, for the session", async () => {
    const { session } = await withSdk(async (backend) => {
      await send([busy, says("m", "Hello"), idle])(backend);
      await settled();
      backend.notify(used);
    });
    expect(session.usage).toEqual(usage);
  });

  it("strange lines, and reports them", async () => {
    const { warnings } = await withSdk(send(["stray", busy, says("m", "Hello"), idle]));
    expect(warnings).toEqual(["Skipped a line that is not a message: stray"]);
  });
});

const permission = {
  toolUses: [{ toolUse, confirmationType: "exec", details: { type: "exec", fullCommand: "rm -rf /" } }],
  options: ["proceed_once", "proceed_always", "cancel"].map((value) => ({ value, label: value })),
};
const questions = {
  toolCallId: "c-1",
  questions: [{ index: 1, topic: "Q1", question: "Which?", options: ["a", "b"] }],
};

describe("a request without a handler", () => {
  const asks = (method: string, params: object): Play => {
    return async (backend) => {
      backend.notify(busy);
      backend.ask("q-1", method, params);
      await settled();
      backend.notify(says("m", "Hello"), idle);
    };
  };
  const answersOf = ({ received }: FakeBackend) =>
    received.filter(({ type }) => type === "response").map(({ id, result, error }) => ({ id, result, error }));

  it.each([
    [
      "permission",
      "droid.request_permission",
      permission,
      { selectedOption: "cancel" },
      { selectedOption: "proceed_once" },
    ],
    ["an answer", "droid.ask_user", questions, { cancelled: true, answers: [] }, undefined],
  ])("about %s is answered with cancel", async (_, method, params, right, wrong) => {
    const sdk = await withSdk(asks(method, params));
    expect(answersOf(sdk.backend)).toEqual([{ id: "q-1", result: right, error: undefined }]);
    const naive = await withNaive(asks(method, params));
    expect(answersOf(naive.backend)).toEqual(
      wrong === undefined ? [] : [{ id: "q-1", result: wrong, error: undefined }],
    );
  });

  it("of an unknown kind is rejected, so that the backend does not wait", async () => {
    const sdk = await withSdk(asks("droid.read_mind", {}));
    expect(answersOf(sdk.backend)).toEqual([
      { id: "q-1", result: undefined, error: { code: -32601, message: "Method not found: droid.read_mind" } },
    ]);
    const naive = await withNaive(asks("droid.read_mind", {}));
    expect(answersOf(naive.backend)).toEqual([]);
  });
});

describe("errors", () => {
  const refusing: Answers = { "droid.initialize_session": obliging["droid.initialize_session"] ?? (() => ({})) };

  it("without an id reach the right caller", async () => {
    const backend = createFakeBackend(refusing);
    const session = await createSession({ connect: backend.connect, timeouts: { grace: 20 } });
    const prompt = session.send("go");
    await backend.next("droid.add_user_message");
    backend.error(null, { code: -32600, message: "Invalid request format" });
    await expect(prompt).rejects.toMatchObject({
      name: "RequestError",
      method: "droid.add_user_message",
      code: -32600,
      isAssigned: true,
    });
    await session.close();

    const naive = await withNaive(
      (far) => far.error(null, { code: -32600, message: "Invalid request format" }),
      "idle",
      refusing,
    );
    expect(naive.outcome).toBe("pending");
  });

  it("after an accepted prompt end its turn", async () => {
    const play: Play = async (backend) => {
      const { id } = backend.received.at(-1) ?? {};
      await settled();
      backend.error(id ?? null, { code: -32603, message: "The image is broken." });
    };
    const sdk = await withSdk(play);
    expect(sdk.outcome).toEqual({
      status: "failed",
      reason: "error",
      text: "",
      turnId: "t-1",
      error: { message: "The image is broken." },
    });
    expect((await withNaive(play)).outcome).toBe("pending");
  });

  it("that never come are not awaited", async () => {
    const backend = createFakeBackend(refusing);
    const session = await createSession({ connect: backend.connect, timeouts: { request: 20 } });
    await expect(session.send("go")).rejects.toMatchObject({
      name: "TimeoutError",
      message: "add user message: the backend did not answer within 20 ms.",
    });
    const naive = await withNaive(() => {}, "idle", refusing);
    expect(naive.outcome).toBe("pending");
    await session.close();
  });

  it("of a backend that is gone reach every caller", async () => {
    const play: Play = (backend) => {
      backend.notify(busy);
      backend.end();
    };
    await expect(withSdk(play)).rejects.toMatchObject({ name: "BackendGoneError" });
    expect((await withNaive(play)).outcome).toBe("pending");
  });
});

describe("a second prompt", () => {
  it("waits for the first, which is not lost", async () => {
    const backend = createFakeBackend();
    const session = await createSession({ connect: backend.connect });
    const first = session.send("one", { id: "t-1" });
    const second = session.send("two", { id: "t-2" });
    await backend.next("droid.add_user_message");
    await settled();
    expect(backend.received.filter(({ method }) => method === "droid.add_user_message")).toHaveLength(1);
    backend.notify(busy, says("m-1", "1"), idle);
    await backend.next("droid.add_user_message");
    backend.notify(idle, busy, says("m-2", "2"), idle, idle);
    expect(await Promise.all([first, second])).toEqual([done("1"), { ...done("2"), turnId: "t-2" }]);
    await session.close();

    const naiveBackend = createFakeBackend();
    const naive = await createNaiveClient(naiveBackend.connect);
    const [lost, mixed] = [naive.prompt("one"), naive.prompt("two")];
    await naiveBackend.next("droid.add_user_message");
    await naiveBackend.next("droid.add_user_message");
    await settled();
    naiveBackend.notify(busy, says("m-1", "1"), idle, busy, says("m-2", "2"), idle);
    expect([await standOf(lost), await standOf(mixed)]).toEqual(["pending", { ...nothing, messages: ["1"] }]);
    await naive.close();
  });
});

it("reports a backend's notices as events, whatever level they claim", async () => {
  const { events } = await withSdk((backend) =>
    backend.notify(
      busy,
      { type: "notice", level: "info", message: "One." },
      { type: "notice", level: "loud", message: "Two." },
      { type: "notice" },
      says("m-1", "OK"),
      completed("t-1"),
      idle,
    ),
  );
  expect(events.filter(({ type }) => type === "notice" || type === "other")).toEqual([
    { type: "notice", level: "info", message: "One." },
    { type: "notice", level: "warning", message: "Two." },
    { type: "other", name: "notice", given: { type: "notice" } },
  ]);
});

it("joins characters that a backend splits", async () => {
  const { events } = await withSdk((backend) =>
    backend.notify(busy, delta("m-1", "a\ud83d"), delta("m-1", "\ude00"), says("m-1", "a😀"), completed("t-1"), idle),
  );
  expect(events.flatMap((event) => (event.type === "text" ? [event.text] : []))).toEqual(["a", "😀"]);
});
