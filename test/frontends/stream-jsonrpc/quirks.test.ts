import { describe, expect, test } from "vitest";
import { AgentError } from "../../../src/engine/errors.ts";
import type { ModelEvent } from "../../../src/engine/ports.ts";
import { Connection } from "../../../src/frontends/stream-jsonrpc/connection.ts";
import { createQuirks } from "../../../src/frontends/stream-jsonrpc/quirks.ts";
import type { Frame } from "../../../src/rpc/framing.ts";
import { createLinkedPair } from "../../../src/rpc/transport.ts";
import type { FakeReply } from "../../fakes/kit.ts";
import { calls, createKit, says } from "../../fakes/kit.ts";
import type { LinkedClient } from "../../fakes/rpc/linked-client.ts";
import { createLinkedClient, storyOf } from "../../fakes/rpc/linked-client.ts";
import type { Received } from "../../fakes/rpc/wire.ts";
import { noticesIn } from "../../fakes/rpc/wire.ts";
import { end, hangsAfter, sessionIds } from "./connection/served.ts";

interface Scene {
  readonly replies: readonly FakeReply[];
  /** Whether the client names its protocol. Default: yes. */
  readonly later?: boolean;
  act(client: LinkedClient): Promise<void>;
}

interface Heard {
  readonly raw: readonly string[];
  readonly received: readonly Received[];
  readonly story: readonly string[];
}

/** Plays a scene to its end, and returns what the client got. */
async function play({ replies, later = true, act }: Scene, ...names: readonly string[]): Promise<Heard> {
  const kit = createKit(replies, { ids: sessionIds() });
  const [here, there] = createLinkedPair();
  const connection = new Connection(kit.engine, names.length === 0 ? here : createQuirks(names).over(here), {
    defaults: { modelId: "fake", reasoningEffort: "none" },
    run: {},
    folder: (path) => path,
    repository: async () => undefined,
    log: { warn: async () => undefined, event: async () => undefined },
  });
  const raw: string[] = [];
  const client = createLinkedClient({ ...there, incoming: messagesIn(there.incoming, raw) }, { later });
  const over = connection.run().then(() => here.end());
  await act(client);
  client.end();
  await over;
  return { raw, received: client.received, story: storyOf(client.received) };
}

/** The JSON lines, for a client that also gets others. `raw` gets all of them. */
async function* messagesIn(incoming: AsyncIterable<Frame>, raw: string[]): AsyncGenerator<Frame> {
  for await (const frame of incoming) {
    if (frame.type !== "line") continue;
    raw.push(frame.text);
    if (isJson(frame.text)) yield frame;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

async function open(client: LinkedClient, params: object = {}): Promise<void> {
  client.ask("droid.initialize_session", { machineId: "m", cwd: "/ws", autonomyLevel: "high", ...params });
}

async function turn(client: LinkedClient): Promise<void> {
  await open(client);
  client.ask("droid.add_user_message", { text: "go" });
  await client.state("idle");
}

const opened = ["settings_updated", "mcp_status_changed", "result r1"];
const begun = ["result r2", "state streaming_assistant_message", "create_message user", "session_title_updated"];
const called = ["tool_call", "create_message assistant", "state executing_tool", "session_token_usage_changed"];
const said = ["state streaming_assistant_message", "assistant_text_delta", "assistant_text_complete"];
const closed = ["session_token_usage_changed", "agent_turn_completed", "state idle"];

/** A turn with a call and a final text. */
const work: Scene = { replies: [calls(["Read", { file_path: "readme.md" }]), says("done")], act: turn };
const workStory = [...opened, ...begun, ...called, "tool_result", ...said, "create_message assistant", ...closed];

test("a turn without quirks, for comparison", async () => {
  const plain = await play(work);
  expect(plain.story).toEqual(workStory);
});

describe("early-idle", () => {
  test("the turn's last message comes after idle", async () => {
    const { story } = await play(work, "early-idle");
    expect(story).toEqual([
      ...opened,
      ...begun,
      ...called,
      "tool_result",
      ...said,
      ...closed,
      "create_message assistant",
    ]);
  });

  test("a reply after which the turn continues keeps its place", async () => {
    const cutShort: ModelEvent[] = [
      { type: "text", text: "one" },
      { type: "end", stop: "length" },
    ];
    const { story } = await play({ replies: [cutShort, says("two")], act: turn }, "early-idle");
    const isTold = (line: string): boolean => /^(create_message|assistant_text_delta|state idle)/.test(line);
    expect(story.filter(isTold)).toEqual([
      "create_message user",
      "assistant_text_delta",
      "create_message assistant",
      "assistant_text_delta",
      "state idle",
      "create_message assistant",
    ]);
  });
});

test("usage-after-idle: the turn's token counts come once, after idle", async () => {
  const { story, received } = await play(work, "usage-after-idle");
  const without = workStory.filter((line) => line !== "session_token_usage_changed");
  expect(story).toEqual([...without, "session_token_usage_changed"]);
  expect(noticesIn(received).at(-1)).toMatchObject({ tokenUsage: { inputTokens: 20, outputTokens: 10 } });
});

test("duplicates: messages, results and states come twice", async () => {
  const { story } = await play(work, "duplicates");
  const isTwice = (line: string): boolean => /^(create_message|tool_result|state)\b/.test(line);
  expect(story).toEqual(workStory.flatMap((line) => (isTwice(line) ? [line, line] : [line])));
});

test("repeated-tool-calls: a call is announced again before its result", async () => {
  const { story, received } = await play(work, "repeated-tool-calls");
  expect(story).toEqual(workStory.flatMap((line) => (line === "tool_result" ? ["tool_call", line] : [line])));
  const announced = noticesIn(received).filter(({ type }) => type === "tool_call");
  expect(announced[1]).toEqual(announced[0]);
});

test("no-turn-end: only idle ends a turn", async () => {
  const { story } = await play(work, "no-turn-end");
  expect(story).toEqual(workStory.filter((line) => line !== "agent_turn_completed"));
});

test("restart-deltas: earlier text is sent again after a retry that is not reported", async () => {
  const retry: ModelEvent = {
    type: "retry",
    attempt: 1,
    delayMs: 0,
    failure: { code: "model_overloaded", message: "busy", cause: "overloaded" },
  };
  const [one, two, three] = ["One ", "two ", "three."].map((text): ModelEvent => ({ type: "text", text }));
  const scene: Scene = { replies: [[one, two, retry, three, ...end] as ModelEvent[]], act: turn };
  const heard = async (...names: string[]) => {
    const { received, story } = await play(scene, ...names);
    const deltas = noticesIn(received).filter(({ type }) => type === "assistant_text_delta");
    return {
      deltas: deltas.map(({ textDelta }) => textDelta),
      ids: new Set(deltas.map(({ messageId }) => messageId)).size,
      retries: story.filter((line) => line === "llm_retry").length,
      message: noticesIn(received).findLast(({ type }) => type === "create_message")?.message,
    };
  };
  const content = [{ type: "text", text: "One two three." }];
  const message = expect.objectContaining({ role: "assistant", content });
  expect(await heard()).toEqual({ deltas: ["One ", "two ", "three."], ids: 1, retries: 1, message });
  const again = ["One ", "two ", "One ", "two ", "three."];
  expect(await heard("restart-deltas")).toEqual({ deltas: again, ids: 1, retries: 0, message });
});

describe("silent-cancel", () => {
  const cut: Scene = {
    replies: [hangsAfter({ type: "text", text: "half a" })],
    async act(client) {
      await open(client);
      client.ask("droid.add_user_message", { text: "go" });
      await client.notice("assistant_text_delta");
      client.ask("droid.interrupt_session", {});
      await client.state("idle");
    },
  };
  const before = [...opened, ...begun, "assistant_text_delta", "result r3", "assistant_text_complete"];

  test("an interrupted reply has no message", async () => {
    expect((await play(cut)).story).toEqual([...before, "create_message assistant", ...closed]);
    expect((await play(cut, "silent-cancel")).story).toEqual([...before, ...closed]);
    expect((await play(cut, "silent-cancel", "no-turn-end")).story).toEqual([
      ...before,
      "session_token_usage_changed",
      "state idle",
    ]);
  });

  test("a turn without an interrupt is unchanged", async () => {
    expect((await play(work, "silent-cancel")).story).toEqual(workStory);
  });
});

describe.each([
  ["later", { autonomyLevel: "high" }, { autonomyLevel: "off", autonomyMode: "normal" }],
  ["early", { autonomyLevel: "auto-high" }, { autonomyLevel: "normal" }],
] as const)("late-settings in the %s dialect", (dialect, level, stale) => {
  const scene: Scene = {
    replies: [],
    later: dialect === "later",
    async act(client) {
      await open(client, level);
      await client.waitFor(({ id }) => id === "r1");
      await client.request("droid.update_session_settings", { reasoningEffort: "low" });
    },
  };

  test("settings come several times while a session is opened, the first time without the requested level", async () => {
    const { story, received } = await play(scene, "late-settings");
    const settings = noticesIn(received).flatMap((notice) => (notice.type === "settings_updated" ? [notice] : []));
    expect(story).toEqual([
      "settings_updated",
      "settings_updated",
      "settings_updated",
      "mcp_status_changed",
      "mcp_status_changed",
      "result r1",
      "settings_updated",
      "result r2",
    ]);
    expect(settings[0]?.settings).toMatchObject(stale);
    expect(settings[1]?.settings).toMatchObject(level);
    expect(settings[2]).toEqual(settings[1]);
    const plain = await play(scene);
    expect(plain.story).toEqual([
      "settings_updated",
      "mcp_status_changed",
      "result r1",
      "settings_updated",
      "result r2",
    ]);
  });
});

test("unknown-types: unknown fields, types and methods are added", async () => {
  const { received, story } = await play(work, "unknown-types");
  const plain = await play(work);
  const isStrange = ({ method, params }: Received): boolean =>
    method === "droid.quirk_notification" || params?.notification?.type === "quirk_of_the_day";
  expect(storyOf(received.filter((message) => !isStrange(message)))).toEqual(workStory);
  const states = story.filter((line) => line.startsWith("state "));
  expect(received.filter(isStrange)).toHaveLength(2 * states.length);
  const withoutField = (key: string, value: unknown): unknown => (key === "quirk" ? undefined : value);
  const bare = received
    .filter((message) => !isStrange(message))
    .map(({ _meta, ...message }) => JSON.parse(JSON.stringify(message, withoutField)) as object);
  expect(bare).toEqual(plain.received.map(({ _meta, ...message }) => message));
  expect(received.filter((message) => !isStrange(message) && !("quirk" in message))).toEqual([]);
});

describe("errors", () => {
  const mistakes: Scene = {
    replies: [],
    async act(client) {
      client.ask("droid.add_user_message", { text: "too early" });
      client.ask("droid.load_session", { sessionId: "nobody" });
      client.sendRaw("nonsense");
    },
  };
  const answers = async (...names: string[]): Promise<readonly object[]> =>
    (await play(mistakes, ...names)).received.map(({ id, result, error }) =>
      result === undefined ? { id, code: error?.code, data: error?.data } : { id, result },
    );
  const noSession = { code: -32603, data: undefined };
  const notFound = { code: -32004, data: undefined };
  const noJson = { id: null, code: -32700, data: undefined };

  test("have the request's id, and are sent once", async () => {
    expect(await answers()).toEqual([{ id: "r1", ...noSession }, { id: "r2", ...notFound }, noJson]);
  });

  test("null-ids: name no request", async () => {
    expect(await answers("null-ids")).toEqual([{ id: null, ...noSession }, { id: null, ...notFound }, noJson]);
  });

  test("null-ids: not in their data either", async () => {
    const early: Scene = { replies: [], later: false, act: async (client) => void client.ask("droid.wave", {}) };
    const of = async (...names: string[]) =>
      (await play(early, ...names)).received.map(({ id, error }) => ({ id, error }));
    const error = { code: -32600, message: "Invalid request format" };
    expect(await of()).toEqual([{ id: null, error: { ...error, data: { requestId: "r1" } } }]);
    expect(await of("null-ids")).toEqual([{ id: null, error }]);
  });

  test("second-answer: a rejected message was accepted before", async () => {
    const accepted = { id: "r1", result: {} };
    expect(await answers("second-answer")).toEqual([
      accepted,
      { id: "r1", ...noSession },
      { id: "r2", ...notFound },
      noJson,
    ]);
    expect((await answers("second-answer", "null-ids")).slice(0, 2)).toEqual([accepted, { id: null, ...noSession }]);
  });
});

test("stray-lines: an invalid line comes before the first message, and before every fourth after it", async () => {
  const { raw, story } = await play(work, "stray-lines");
  expect(story).toEqual(workStory);
  const places = raw.flatMap((line, index) => (isJson(line) ? [] : [index]));
  expect(places).toEqual(Array.from({ length: Math.ceil(workStory.length / 4) }, (_, index) => index * 5));
  expect((await play(work)).raw.every(isJson)).toBe(true);
});

test("several together, named in any order, still have the whole turn", async () => {
  const { names } = createQuirks(["stray-lines", "duplicates", "early-idle", "usage-after-idle", "duplicates"]);
  expect(names).toEqual(["usage-after-idle", "early-idle", "duplicates", "stray-lines"]);
  const { story } = await play(work, ...names);
  expect([...new Set(story)].sort()).toEqual([...new Set(workStory)].sort());
  expect(story.slice(-5)).toEqual([
    "state idle",
    "state idle",
    "create_message assistant",
    "create_message assistant",
    "session_token_usage_changed",
  ]);
});

test("an unknown name is a usage error with the list", () => {
  const list =
    "silent-cancel, no-turn-end, usage-after-idle, early-idle, restart-deltas, repeated-tool-calls, late-settings, " +
    "duplicates, unknown-types, second-answer, null-ids, stray-lines";
  const wrong = () => createQuirks(["duplicates", "toString"]);
  expect(wrong).toThrow(new AgentError("usage", `Unknown quirk "toString". Available: ${list}.`));
});
