import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { CommonOptions } from "../../../src/sdk/api.ts";
import { createSession } from "../../../src/sdk/node.ts";
import type { TurnEvent, TurnResult } from "../../../src/sdk/types.ts";
import {
  busy,
  completed,
  createFakeBackend,
  delta,
  idle,
  message,
  says,
  settled,
  state,
  usage,
} from "../fakes/fake-backend.ts";

/* When a turn is over, and what belongs to it. */

const done: TurnResult = { status: "completed", reason: "completed", text: "Hello", turnId: "t-1" };

async function open(options: CommonOptions = {}) {
  const backend = createFakeBackend();
  const all: TurnEvent[] = [];
  const session = await createSession({
    connect: backend.connect,
    timeouts: { grace: 20 },
    onEvent: (event) => all.push(event),
    ...options,
  });
  async function prompt(id: string) {
    const turn = session.stream("go", { id });
    const events: TurnEvent[] = [];
    const told = (async () => {
      for await (const event of turn) events.push(event);
    })();
    await backend.next("droid.add_user_message");
    await settled();
    return {
      turn,
      events,
      async end() {
        await told.catch(() => {});
        return turn.result;
      },
    };
  }
  return { backend, session, all, prompt };
}

const toolUse = { type: "tool_use", id: "c-1", name: "LS", input: {} };
const result = { type: "tool_result", toolUseId: "c-1", messageId: "r-1", content: "a.txt", isError: false };
const permission = {
  toolUses: [{ toolUse, confirmationType: "exec", details: { type: "exec", fullCommand: "ls" } }],
  options: ["proceed_once", "cancel"].map((value) => ({ value, label: value })),
};

const failure = { type: "error", message: "500" };

/** A session's first prompt: its events, and how it ends. */
const ends: Readonly<Record<string, readonly [readonly object[], TurnResult]>> = {
  "with idle": [[busy, says("m", "Hello"), idle], done],
  "with its agent_turn_completed, before idle": [[busy, says("m", "Hello"), completed("t-1")], { ...done, usage }],
  "with an agent_turn_completed that has no turnId": [
    [busy, says("m", "Hello"), { type: "agent_turn_completed", reason: "completed" }],
    done,
  ],
  "with one that names the prompt's message by an id of the backend's own": [
    [busy, message("u-1", "user", { type: "text", text: "go" }), says("m", "Hello"), completed("u-1")],
    { ...done, usage },
  ],
  "not with one that names another turn": [[busy, completed("t-0"), says("m", "Hello"), idle], done],
  "with one that comes before the message, and waits for it": [
    [busy, delta("m", "He"), completed("t-1"), idle, says("m", "Hello")],
    { ...done, usage },
  ],
  "with the reason that it gives": [
    [busy, says("m", "Hello"), completed("t-1", "model_usage_exhausted")],
    {
      ...done,
      usage,
      status: "failed",
      reason: "model_usage_exhausted",
      error: { message: "The turn ended with model_usage_exhausted." },
    },
  ],
  "with the pieces of a message that does not come": [[busy, delta("m", "Hel"), delta("m", "lo"), idle], done],
  "without text, if nothing comes": [[busy, idle], { ...done, text: "" }],
  "with the last message that has text": [
    [busy, says("m", "Hello"), message("n", "assistant", toolUse), result, idle],
    done,
  ],
  "with an error": [
    [busy, { type: "error", message: "500", errorType: "Error" }, idle],
    { ...done, text: "", status: "failed", reason: "error", error: { message: "500", type: "Error" } },
  ],
  "successfully, if it continued after an error": [
    [busy, { type: "error", message: "500" }, says("m", "Hello"), idle],
    done,
  ],
  ...Object.fromEntries(
    Object.entries({
      "idle, message": [idle, says("m", "Hello")],
      "message, idle": [says("m", "Hello"), idle],
      "with idle, message, and idle again": [idle, says("m", "Hello"), idle, says("m", "Hello")],
    }).map(([order, notices]) => [
      `with an error behind the pieces of its last message: ${order}`,
      [
        [busy, delta("m", "Hel"), failure, ...notices],
        { ...done, status: "failed", reason: "error", error: { message: "500" } },
      ],
    ]),
  ),
  "with an error and its reason, if the last message comes after idle": [
    [busy, delta("m", "Hello"), failure, idle, completed("t-1", "prompt_rejected"), says("m", "Hello")],
    { ...done, usage, status: "failed", reason: "prompt_rejected", error: { message: "500" } },
  ],
  "successfully, if it restarted after an error under another id": [
    [busy, delta("m-0", "Hel"), failure, delta("m", "Hello"), idle, says("m", "Hello")],
    done,
  ],
  "successfully, if it restarted after an error under the same id": [
    [busy, delta("m", "Hel"), failure, delta("m", "Hel"), delta("m", "lo"), idle, says("m", "Hello")],
    done,
  ],
  "successfully, if it became busy again after an error": [
    [busy, delta("m", "Hel"), failure, busy, idle, says("m", "Hello")],
    done,
  ],
  "with the reply that replaced one under another id": [
    [busy, delta("m-0", "Broken"), delta("m-1", "Hel"), says("m-1", "Hello"), idle],
    done,
  ],
  "with the complete reply that replaced a partial one": [
    [busy, delta("m-0", "Broken"), says("m-1", "Hello"), idle],
    done,
  ],
  "with pieces that follow a late message": [
    [busy, delta("m-1", "One"), delta("m-2", "Hello"), says("m-1", "One"), idle],
    done,
  ],
};

describe("a turn ends", () => {
  it.each(Object.entries(ends))("%s", async (_, [notices, expected]) => {
    const { backend, prompt, session } = await open();
    const turn = await prompt("t-1");
    backend.notify(...notices);
    expect(await turn.end()).toEqual(expected);
    expect(turn.events.filter(({ type }) => type === "end")).toEqual([{ type: "end", result: expected }]);
    await session.close();
  });

  it("with idle each time, even if the backend never reports busy", async () => {
    const { backend, prompt, session } = await open();
    for (const id of ["t-1", "t-2", "t-3"]) {
      const turn = await prompt(id);
      backend.notify(says(`m-${id}`, "Hello"), idle);
      expect(await turn.end()).toEqual({ ...done, turnId: id });
    }
    await session.close();
  });

  it("with its own idle, not with copies of the previous one", async () => {
    const { backend, prompt, session } = await open();
    const first = await prompt("t-1");
    backend.notify(busy, busy, says("m-1", "Hello"), idle);
    await first.end();
    const second = await prompt("t-2");
    backend.notify(idle, idle, busy, busy, says("m-2", "Again"), idle, idle);
    expect(await second.end()).toEqual({ ...done, text: "Again", turnId: "t-2" });
    await session.close();
  });

  it("with its own agent_turn_completed, not with the previous one's", async () => {
    const { backend, prompt, session } = await open();
    const first = await prompt("t-1");
    backend.notify(busy, says("m-1", "Hello"), idle);
    await first.end();
    const second = await prompt("t-2");
    backend.notify(completed("t-1", "cancelled"), busy, completed("t-1"), says("m-2", "Again"), completed("t-2"));
    expect(await second.end()).toEqual({ ...done, text: "Again", turnId: "t-2", usage });
    await session.close();
  });

  it("when the backend continues after a no, not before", async () => {
    const { backend, prompt, session } = await open();
    const turn = await prompt("t-1");
    backend.notify(busy, message("m-1", "assistant", toolUse));
    backend.ask("q-1", "droid.request_permission", permission);
    await backend.next("response");
    backend.notify(busy, result, delta("m-2", "Hel"), idle, says("m-2", "Hello"));
    expect(await turn.end()).toEqual(done);
    const second = await prompt("t-2");
    backend.notify(busy, message("m-3", "assistant", { ...toolUse, id: "c-2" }));
    backend.ask("q-2", "droid.request_permission", {
      ...permission,
      toolUses: [{ toolUse: { ...toolUse, id: "c-2" } }],
    });
    await backend.next("response");
    backend.notify(busy, { ...result, toolUseId: "c-2" }, idle, says("m-4", "Hello"));
    expect(await second.end()).toEqual({ ...done, turnId: "t-2" });
    await session.close();
  });

  it("as refused if a no was the last event", async () => {
    const { backend, prompt, session } = await open();
    const turn = await prompt("t-1");
    backend.notify(busy, message("m-1", "assistant", toolUse));
    backend.ask("q-1", "droid.request_permission", permission);
    await backend.next("response");
    backend.notify(busy, result, idle);
    expect(await turn.end()).toEqual({ ...done, text: "", status: "interrupted", reason: "permission_rejected" });
    await session.close();
  });
});

describe("the wait for the last message", () => {
  it("is skipped with a grace of 0", async () => {
    const { backend, prompt, session } = await open({ timeouts: { grace: 0 } });
    const turn = await prompt("t-1");
    backend.notify(busy, delta("m", "Hello"), idle);
    expect(await turn.end()).toEqual(done);
    await session.close();
  });

  it("is endless with a grace of Infinity", async () => {
    const { backend, prompt, session } = await open({ timeouts: { grace: Number.POSITIVE_INFINITY } });
    const turn = await prompt("t-1");
    backend.notify(busy, delta("m", "Hel"), idle);
    await sleep(20);
    expect(session.isBusy).toBe(true);
    backend.notify(says("m", "Hello"));
    expect(await turn.end()).toEqual(done);
    await session.close();
  });
});

const piecesOf = (events: readonly TurnEvent[], id: string): string => {
  let text = "";
  for (const event of events) {
    if (event.type === "text_reset" && event.messageId === id) text = "";
    if (event.type === "text" && event.messageId === id) text += event.text;
  }
  return text;
};

describe("a message that comes after its turn", () => {
  it("is reported to the session's listeners, and is not the next turn's", async () => {
    const { backend, prompt, session, all } = await open();
    const first = await prompt("t-1");
    backend.notify(busy, delta("m-1", "Hel"));
    await first.turn.interrupt();
    backend.notify(idle);
    expect(await first.end()).toEqual({ ...done, text: "Hel", status: "interrupted", reason: "interrupted" });
    const second = await prompt("t-2");
    backend.notify(idle, delta("m-1", "lo"), says("m-1", "Hello!"), says("m-1", "Hello!"), idle, busy);
    backend.notify(says("m-2", "Again"), idle);
    expect(await second.end()).toEqual({ ...done, text: "Again", turnId: "t-2" });
    const ofFirst = (event: TurnEvent): boolean => JSON.stringify(event).includes("m-1");
    expect(second.events.filter(ofFirst)).toEqual([]);
    expect(piecesOf(all, "m-1")).toBe("Hello!");
    expect(all.filter((event) => ofFirst(event) && event.type === "message")).toHaveLength(1);
    await session.close();
  });

  it("between turns", async () => {
    const { backend, prompt, session, all } = await open();
    const first = await prompt("t-1");
    backend.notify(busy, delta("m-1", "Hel"), idle);
    expect(await first.end()).toEqual({ ...done, text: "Hel" });
    backend.notify(says("m-1", "Other"));
    await settled();
    expect(piecesOf(all, "m-1")).toBe("Other");
    expect(session.isBusy).toBe(false);
    await session.close();
  });
});

describe("a turn's events", () => {
  it.each<readonly [string, readonly object[]]>([
    ["pieces that restart", [delta("m", "Hel"), delta("m", "H"), delta("m", "ello"), says("m", "Hello")]],
    ["pieces that stop early", [delta("m", "Hel"), says("m", "Hello")]],
    ["no pieces", [says("m", "Hello")]],
    ["pieces after the message", [delta("m", "Hel"), says("m", "Hello"), delta("m", "lo")]],
    ["a message that changes", [delta("m", "Hel"), says("m", "Help"), says("m", "Hello")]],
    ["a message that grows", [says("m", "Hel"), says("m", "Hello")]],
    ["other pieces", [delta("m", "Bye"), says("m", "Hello")]],
  ])("have the message's text in its deltas: %s", async (_, notices) => {
    const { backend, prompt, session } = await open();
    const turn = await prompt("t-1");
    backend.notify(busy, ...notices, idle);
    expect(await turn.end()).toEqual(done);
    expect(piecesOf(turn.events, "m")).toBe("Hello");
    await session.close();
  });

  const callsOf = (events: readonly TurnEvent[]) =>
    events.flatMap((event) =>
      event.type === "tool_call" || event.type === "tool_result" ? [`${event.type} ${event.id}`] : [],
    );

  it("have each call once, even if it is asked about before its message, or its message comes last", async () => {
    const { backend, prompt, session } = await open();
    const turn = await prompt("t-1");
    backend.notify(busy);
    backend.ask("q-1", "droid.request_permission", permission);
    await backend.next("response");
    backend.notify(result, message("m-1", "assistant", toolUse), message("m-1", "assistant", toolUse, toolUse));
    backend.notify(says("m-2", "Hello"), idle);
    await turn.end();
    expect(callsOf(turn.events)).toEqual(["tool_call c-1", "tool_result c-1"]);
    await session.close();
  });

  it("have a call again if a later message reuses its id", async () => {
    const { backend, prompt, session } = await open();
    const turn = await prompt("t-1");
    const announced = { type: "tool_call", toolUse };
    backend.notify(busy);
    for (const id of ["m-1", "m-2"]) {
      backend.notify(announced, message(id, "assistant", toolUse), announced, result, result, announced);
    }
    backend.notify(says("m-3", "Hello"), idle);
    await turn.end();
    expect(callsOf(turn.events)).toEqual(["tool_call c-1", "tool_result c-1", "tool_call c-1", "tool_result c-1"]);
    await session.close();
  });

  it("have a call that is only announced and answered", async () => {
    const { backend, prompt, session } = await open();
    const turn = await prompt("t-1");
    backend.notify(busy, { type: "tool_call", toolUse }, result, says("m", "Hello"), idle);
    await turn.end();
    expect(callsOf(turn.events)).toEqual(["tool_call c-1", "tool_result c-1"]);
    await session.close();
  });

  it("have unknown events unchanged, and ignore unknown fields", async () => {
    const { backend, prompt, session } = await open();
    const turn = await prompt("t-1");
    const strange = { type: "news", list: [1] };
    backend.line(JSON.stringify({ jsonrpc: "2.0", method: "droid.other", params: { a: 1 } }));
    backend.line(JSON.stringify({ type: "notification", method: "droid.session_notification", params: {} }));
    backend.notify({ ...busy, more: 1 }, strange, { ...says("m", "Hello"), more: {} }, state("pondering"), idle);
    expect(await turn.end()).toEqual(done);
    expect(turn.events.filter(({ type }) => type === "other")).toEqual([
      { type: "other", name: "droid.other", given: { type: "droid.other", a: 1 } },
      { type: "other", name: "news", given: strange },
    ]);
    await session.close();
  });

  it("can have the previous turn's usage, which is the session's", async () => {
    const { backend, prompt, session } = await open();
    const first = await prompt("t-1");
    backend.notify(busy, says("m-1", "Hello"), idle);
    await first.end();
    const second = await prompt("t-2");
    backend.notify({ type: "session_token_usage_changed", tokenUsage: usage });
    await settled();
    expect([session.usage, session.isBusy]).toEqual([usage, true]);
    backend.notify(busy, says("m-2", "Again"), idle);
    expect(await second.end()).toEqual({ ...done, text: "Again", turnId: "t-2" });
    await session.close();
  });
});
