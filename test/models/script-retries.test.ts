import { describe, expect, test } from "vitest";
import type { Message } from "../../src/engine/message.ts";
import type { ModelEvent, ModelPort } from "../../src/engine/ports.ts";
import { withRetries } from "../../src/models/retry.ts";
import { scriptPatience } from "../../src/models/scripted/script-attempts.ts";
import { createScriptedModel } from "../../src/models/scripted/scripted.ts";
import { assistantMessage, collect, createChat, instantClock, requestOf, userMessage } from "./harness.ts";

/** A model as one process has it, with retries and its own journal. */
function model(replies: readonly unknown[]): ModelPort {
  const clock = instantClock();
  const script = createScriptedModel({ id: "script:s.yaml", path: "s.yaml", script: { replies }, clock });
  return withRetries(script, clock, scriptPatience);
}

type Turn = readonly [text: string, failure?: string];

/** The replies to up to eight prompts, until the script is exhausted. */
async function conversation(open: () => ModelPort): Promise<readonly Turn[]> {
  const messages: Message[] = [];
  const turns: Turn[] = [];
  for (let turn = 1; turn <= 8; turn += 1) {
    const chat = createChat(open());
    chat.messages.push(...messages.splice(0));
    const { text, error } = await chat.say(`prompt ${turn}`);
    messages.push(...chat.messages);
    turns.push(error === undefined ? [text] : [text, error.failure.code]);
    if (error?.failure.code === "script_exhausted") break;
  }
  return turns;
}

const none: Turn = ["", "script_exhausted"];
const cut = (text: string) => ({ text, error: "cut" });
const tooLate = { status: 429, retry_after_ms: 120_000 };
const third = { text: "third" };

describe.each([
  ["one process", true],
  ["one process per prompt", false],
])("%s: each attempt uses one reply, and no reply is used twice", (_, isOne) => {
  test.each<[what: string, replies: readonly unknown[], turns: readonly Turn[]]>([
    ["a cut", [cut("Hello wor"), { text: "ld." }, third], [["Hello world."], ["third"], none]],
    [
      "a server error",
      [{ text: "Hello wor", error: { status: 500 } }, { text: "ld." }, third],
      [["Hello world."], ["third"], none],
    ],
    ["three cuts", [cut("a"), cut("b"), cut("c"), { text: "d" }, third], [["abcd"], ["third"], none]],
    ["a repeated cut", [{ ...cut("a"), times: 3 }, { text: "d" }, third], [["aaad"], ["third"], none]],
    [
      "silent errors after a cut",
      [cut("a"), { error: { status: 503 } }, { error: "connection" }, { text: "d" }, third],
      [["ad"], ["third"], none],
    ],
    ["silent errors first", [{ error: "cut", times: 3 }, { text: "d" }, third], [["d"], ["third"], none]],
    ["text in chunks", [{ text: ["a", "b"], error: "cut" }, { text: ["c", ""] }, third], [["abc"], ["third"], none]],
    [
      "repeated text",
      [{ repeat_text: { text: "ab", times: 3 }, error: "cut" }, { text: "c" }, third],
      [["abababc"], ["third"], none],
    ],
    [
      "a cut in each turn",
      [cut("a"), { text: "b" }, cut("c"), { text: "d" }, third],
      [["ab"], ["cd"], ["third"], none],
    ],
    ["cut thinking", [{ reasoning: "hm", error: "cut" }, { text: "b" }, third], [["b"], ["third"], none]],
    ["thinking without text", [{ reasoning: "hm" }, { text: "b" }, third], [["b"], ["third"], none]],
    ["an empty reply", [{ empty: true }, { text: "b" }, third], [["b"], ["third"], none]],
    ["two empty replies", [{ empty: true }, { empty: true }, third], [[""], ["third"], none]],
    ["empty texts", [{ text: "" }, { text: ["", ""] }, third], [[""], ["third"], none]],
    [
      "calls after a cut, and a cut after calls",
      [cut("a"), { tool_calls: [{ name: "LS" }] }, cut("c"), { text: "d" }, third],
      [["cd"], ["third"], none],
    ],
    ["cut calls", [{ ...cut("a"), tool_calls: [{ name: "LS" }] }, { text: "b" }, third], [["ab"], ["third"], none]],
    [
      "four cuts, which use up the attempts",
      [cut("a"), cut("b"), cut("c"), cut("d"), { text: "e" }, third],
      [["abcd", "model_failed"], ["e"], ["third"], none],
    ],
    [
      "four attempts, most of them silent",
      [cut("a"), { error: "cut", times: 4 }, { text: "e" }, third],
      [["a", "model_failed"], ["e"], ["third"], none],
    ],
    [
      "a permanent error",
      [{ text: "a", error: { status: 400 } }, { text: "b" }, third],
      [["a", "model_bad_request"], ["b"], ["third"], none],
    ],
    [
      "a permanent error after a cut",
      [cut("a"), { error: { status: 400 } }, { text: "b" }, third],
      [["a", "model_bad_request"], ["b"], ["third"], none],
    ],
    [
      "an overlong retry-after",
      [{ text: "a", error: tooLate }, { error: tooLate }, { text: "b" }, third],
      [["a", "model_overloaded"], ["", "model_overloaded"], ["b"], ["third"], none],
    ],
    [
      "a rule used up to its limit",
      [{ ...cut("{{user}}, "), when: { user: "1" }, times: 2 }, { text: "{{user}}." }, third],
      [["prompt 1, prompt 1, prompt 1."], ["third"], none],
    ],
    ["no reply left to continue with", [cut("a")], [["a", "script_exhausted"]]],
  ])("%s", async (_what, replies, turns) => {
    const only = model(replies);
    expect(await conversation(() => (isOne ? only : model(replies)))).toEqual(turns);
  });
});

const replies = [cut("Hello wor"), { text: "ld." }, third];
const textsOf = (events: readonly ModelEvent[]) =>
  events.flatMap((event) => (event.type === "text" ? [event.text] : []));

test.each([
  ["Hel", "ld."],
  ["Hello wor", "ld."],
  ["Hello worl", "third"],
  ["Hello world.", "third"],
])("infers from an interrupted message's length which replies were used: %s", async (text, next) => {
  const before = [userMessage("a"), assistantMessage([{ type: "text", text }], "interrupted")];
  expect(textsOf(await collect(model(replies), requestOf([...before, userMessage("b")])))).toEqual([next]);
});

test("keeps conversations with cut replies apart", async () => {
  const port = model(replies);
  const [left, right] = [createChat(port), createChat(port)];
  const texts: string[] = [];
  for (const chat of [left, right, right, left]) texts.push((await chat.say("go")).text);
  expect(texts).toEqual(["Hello world.", "Hello world.", "third", "third"]);
});

test("a continued reply still answers the same prompt or result", async () => {
  const chat = createChat(
    model([
      { when: { user: "go" }, tool_calls: [{ name: "LS" }] },
      { when: { after_tool: "LS" }, ...cut("Found ") },
      { when: { after_tool: "LS", tool_result: "a.txt" }, text: "{{tool_result}} for {{user}}." },
    ]),
  );
  expect((await chat.say("go", { results: { LS: "a.txt" } })).text).toBe("Found a.txt for go.");
});

test("names the prompt if no reply is left to continue with", async () => {
  const { error } = await createChat(model([cut("a")])).say("go");
  expect(error).toEqual({
    type: "error",
    failure: { code: "script_exhausted", message: 'The script s.yaml has no reply left for the prompt "go".' },
    retryable: false,
  });
});
