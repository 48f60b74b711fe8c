import { describe, expect, test } from "vitest";
import type { ModelEvent } from "../../../../src/engine/ports.ts";
import type { FakeReply } from "../../../fakes/kit.ts";
import { createKit, says, usage } from "../../../fakes/kit.ts";
import {
  assistantMessage,
  checked,
  entered,
  fresh,
  listenTranslated,
  noUsageTold,
  text,
  turnCompleted,
  usageTold,
  userMessage,
} from "../translated.ts";

const end: readonly ModelEvent[] = [
  { type: "usage", usage },
  { type: "end", stop: "end" },
];

/** Runs one prompt to its end and returns what was sent. */
async function run(replies: readonly FakeReply[], prompt = "hello"): Promise<object[]> {
  const kit = createKit(replies);
  const client = listenTranslated(await kit.open());
  await client.prompt(prompt, { requestId: "r1" }).outcome;
  await client.stop();
  return client.sent;
}

const opening = (prompt = "hello", title = prompt): object[] => [
  entered("streaming_assistant_message"),
  userMessage({ id: "id-2", parentId: "root", content: [text(prompt)], requestId: "r1" }),
  { type: "session_title_updated", title },
];

const closing = (calls = 1): object[] => [
  usageTold("id-1", calls),
  turnCompleted("completed", "id-2", { calls }),
  entered("idle"),
];

describe("a turn", () => {
  test("of text only", async () => {
    const delta = { type: "assistant_text_delta", messageId: "id-4", blockIndex: 0 };
    const sent = await run([[{ type: "text", text: "Hel" }, { type: "text", text: "lo" }, ...end]]);
    expect(sent).toEqual([
      ...opening(),
      { ...delta, textDelta: "Hel" },
      { ...delta, textDelta: "lo" },
      { type: "assistant_text_complete", messageId: "id-4", blockIndex: 0 },
      assistantMessage({ id: "id-4", parentId: "id-2", content: [text("Hello")] }),
      ...closing(),
    ]);
  });

  test("has all of the user's blocks in the sent message, without reminders", async () => {
    const kit = createKit([says("ok")], { reminders: ["where you are"] });
    const client = listenTranslated(await kit.open());
    const image = { type: "image", mediaType: "image/png", data: "AAAA" } as const;
    const pdf = {
      type: "document",
      mediaType: "application/pdf",
      encoding: "base64",
      data: "JV",
      name: "a.pdf",
    } as const;
    const notes = { type: "document", mediaType: "text/plain", encoding: "text", data: "words" } as const;
    await client.prompt([image, pdf, notes, text("look")], { requestId: "r1" }).outcome;
    await client.stop();
    const content = [
      { type: "image", source: { type: "base64", mediaType: "image/png", data: "AAAA" } },
      { type: "document", source: { type: "base64", mediaType: "application/pdf", data: "JV", name: "a.pdf" } },
      { type: "document", source: { type: "text", mediaType: "text/plain", data: "words" } },
      text("look"),
    ];
    expect(client.sent[1]).toEqual(userMessage({ id: "id-2", parentId: "root", content, requestId: "r1" }));
  });

  test("of thoughts, hidden thoughts and text keeps the numbers of the blocks", async () => {
    const kit = createKit([
      async function* (): AsyncGenerator<ModelEvent> {
        yield { type: "thinking", text: "Hm", block: "a" };
        kit.clock.advance(40);
        yield { type: "thinking", text: ".", block: "a", proof: { anthropic: { signature: "sig" } } };
        kit.clock.advance(2);
        yield { type: "thinking", text: "", block: "b", proof: { anthropic: { redactedData: "xyz" } } };
        yield { type: "text", text: "Hi" };
        yield* end;
      },
    ]);
    const client = listenTranslated(await kit.open());
    await client.prompt("hello", { requestId: "r1" }).outcome;
    await client.stop();
    const thinking = { type: "thinking_text_delta", messageId: "id-4", blockIndex: 0 };
    expect(client.sent).toEqual([
      ...opening(),
      { ...thinking, textDelta: "Hm" },
      { ...thinking, textDelta: "." },
      { type: "thinking_text_complete", messageId: "id-4", blockIndex: 0, durationMs: 42 },
      { type: "assistant_text_delta", messageId: "id-4", blockIndex: 2, textDelta: "Hi" },
      { type: "assistant_text_complete", messageId: "id-4", blockIndex: 2 },
      assistantMessage({
        id: "id-4",
        parentId: "id-2",
        content: [
          { type: "thinking", thinking: "Hm.", signature: "sig" },
          { type: "redacted_thinking", data: "xyz" },
          text("Hi"),
        ],
      }),
      usageTold("id-1", 1),
      turnCompleted("completed", "id-2", { durationMs: 42 }),
      entered("idle"),
    ]);
  });

  test("reports zero duration for thoughts if the clock is set back meanwhile", async () => {
    const kit = createKit([
      async function* (): AsyncGenerator<ModelEvent> {
        yield { type: "thinking", text: "Hm" };
        kit.clock.advance(-5_000);
        yield { type: "text", text: "Hi" };
        yield* end;
      },
    ]);
    const client = listenTranslated(await kit.open());
    await client.prompt("hello").outcome;
    await client.stop();
    expect(client.sent).toContainEqual({
      type: "thinking_text_complete",
      messageId: "id-4",
      blockIndex: 0,
      durationMs: 0,
    });
  });

  test("shows a call's arguments as they become complete, and its result", async () => {
    const input = { file_path: "/ws/readme.md", limit: 1 };
    const inputText = JSON.stringify(input);
    const streamed = ['{"file_path":"/ws/', 'readme.md","li', 'mit":1}'].map(
      (part): ModelEvent => ({ type: "tool_input", id: "call_1", name: "Read", text: part }),
    );
    const sent = await run([
      [
        { type: "text", text: "Let me see" },
        ...streamed,
        { type: "tool_call", id: "call_1", name: "Read", inputText },
        { type: "usage", usage },
        { type: "end", stop: "tool_calls" },
      ],
      says("done"),
    ]);
    const call = (shown: object): object => ({
      type: "tool_call",
      toolUse: { type: "tool_use", id: "call_1", name: "Read", input: shown },
    });
    expect(sent).toEqual([
      ...opening(),
      { type: "assistant_text_delta", messageId: "id-4", blockIndex: 0, textDelta: "Let me see" },
      { type: "assistant_text_complete", messageId: "id-4", blockIndex: 0 },
      call({}),
      call({ file_path: "/ws/readme.md" }),
      call(input),
      assistantMessage({
        id: "id-4",
        parentId: "id-2",
        content: [text("Let me see"), { type: "tool_use", id: "call_1", name: "Read", input }],
      }),
      entered("executing_tool"),
      usageTold("id-1", 1),
      { type: "tool_result", toolUseId: "call_1", messageId: "id-5", content: "hello\n", isError: false },
      entered("streaming_assistant_message"),
      { type: "assistant_text_delta", messageId: "id-6", blockIndex: 0, textDelta: "done" },
      { type: "assistant_text_complete", messageId: "id-6", blockIndex: 0 },
      assistantMessage({ id: "id-6", parentId: "id-5", content: [text("done")] }),
      usageTold("id-1", 2),
      turnCompleted("completed", "id-2", { calls: 2 }),
      entered("idle"),
    ]);
  });

  test("whose model reports no usage sends the usage once, before its end", async () => {
    const sent = await run([
      [
        { type: "text", text: "x" },
        { type: "end", stop: "end" },
      ],
    ]);
    expect(sent.slice(-3)).toEqual([
      noUsageTold("id-1"),
      turnCompleted("completed", "id-2", { calls: 0 }),
      entered("idle"),
    ]);
  });

  test("without usage after one with usage also sends the usage", async () => {
    const kit = createKit([
      says("one"),
      [
        { type: "text", text: "two" },
        { type: "end", stop: "end" },
      ],
    ]);
    const client = listenTranslated(await kit.open());
    await client.prompt("a", { requestId: "r1" }).outcome;
    await client.prompt("b", { requestId: "r2", messageId: "second" }).outcome;
    await client.stop();
    expect(client.sent.slice(-3)).toEqual([
      noUsageTold("id-1", 1),
      turnCompleted("completed", "second", { calls: 0, total: 1 }),
      entered("idle"),
    ]);
  });

  test("with calls that are not JSON objects shows them without arguments", async () => {
    const sent = await run([
      [
        { type: "tool_input", id: "call_1", name: "Read", text: "[1,2" },
        { type: "tool_call", id: "call_1", name: "Read", inputText: "[1,2" },
        { type: "usage", usage },
        { type: "end", stop: "tool_calls" },
      ],
      says("done"),
    ]);
    const toolUse = { type: "tool_use", id: "call_1", name: "Read", input: {} };
    expect(sent.slice(3, 5)).toEqual([
      { type: "tool_call", toolUse },
      assistantMessage({ id: "id-4", parentId: "id-2", content: [toolUse] }),
    ]);
  });

  test("with an image as a result sends blocks", () => {
    const translator = fresh();
    const media = [{ type: "image", mediaType: "image/png", data: "AAAA" }] as const;
    const result = { type: "tool_result", callId: "c", name: "Read", status: "ok", text: "an image", media } as const;
    const ended = { at: 1, sessionId: "s", seq: 2, type: "tool.ended", messageId: "m", result } as const;
    expect(translator.translate(ended).map(checked)).toEqual([
      {
        type: "tool_result",
        toolUseId: "c",
        messageId: "m",
        content: [
          text("an image"),
          { type: "image", source: { type: "base64", mediaType: "image/png", data: "AAAA" } },
        ],
        isError: false,
      },
    ]);
  });
});

describe("a running tool's messages", () => {
  test("are its last lines and heartbeats", () => {
    const event = { at: 7, sessionId: "s", callId: "c", name: "Execute" } as const;
    const translator = fresh();
    const sent = [
      ...translator.translate({ ...event, seq: 2, type: "tool.started" }),
      ...translator.translate({ ...event, type: "tool.progress", text: "line" }),
      ...translator.translate({ ...event, type: "tool.heartbeat", elapsedMs: 10_000 }),
    ];
    expect(sent.map(checked)).toEqual([
      entered("executing_tool"),
      {
        type: "tool_progress_update",
        toolUseId: "c",
        toolName: "Execute",
        update: { type: "status", text: "line", timestamp: 7 },
      },
      { type: "tool_execution_heartbeat", toolUseId: "c", toolName: "Execute" },
    ]);
  });
});

describe("failures", () => {
  const failure = { code: "model_auth", message: "The key was refused." } as const;

  test("a failed turn sends the error before its end", async () => {
    const sent = await run([
      [
        { type: "text", text: "par" },
        { type: "error", failure, retryable: false },
      ],
    ]);
    expect(sent).toEqual([
      ...opening(),
      { type: "assistant_text_delta", messageId: "id-4", blockIndex: 0, textDelta: "par" },
      { type: "assistant_text_complete", messageId: "id-4", blockIndex: 0 },
      assistantMessage({ id: "id-4", parentId: "id-2", content: [text("par")] }),
      noUsageTold("id-1"),
      {
        type: "error",
        message: "The key was refused.",
        errorType: "Error",
        timestamp: "1970-01-01T00:16:40.000Z",
        error: { name: "model_auth", message: "The key was refused." },
      },
      turnCompleted("model_authentication_failed", "id-2", { calls: 0 }),
      entered("idle"),
    ]);
  });

  test("a retry is reported, and the same call is not shown again from its start", async () => {
    const piece = (part: string): ModelEvent => ({ type: "tool_input", id: "call_1", name: "LS", text: part });
    const sent = await run([
      [
        piece('{"directory_path":"/ws","ignorePatterns":"'),
        { type: "retry", attempt: 1, delayMs: 5, failure: { code: "model_failed", message: "cut", cause: "network" } },
        piece('{"directory_path":"/ws"'),
        piece("}"),
        { type: "tool_call", id: "call_1", name: "LS", inputText: '{"directory_path":"/ws"}' },
        { type: "usage", usage },
        { type: "end", stop: "tool_calls" },
      ],
      says("done"),
    ]);
    const call = (input: object): object => ({
      type: "tool_call",
      toolUse: { type: "tool_use", id: "call_1", name: "LS", input },
    });
    expect(sent.slice(3, 7)).toEqual([
      call({}),
      call({ directory_path: "/ws" }),
      { type: "llm_retry", attempt: 1, reason: "network" },
      assistantMessage({
        id: "id-4",
        parentId: "id-2",
        content: [{ type: "tool_use", id: "call_1", name: "LS", input: { directory_path: "/ws" } }],
      }),
    ]);
  });

  test("arguments that restart after a retry are read from their start", () => {
    const event = { at: 1, sessionId: "s", messageId: "m", callId: "c", name: "LS" } as const;
    const failure = { code: "model_failed", message: "cut" } as const;
    const translator = fresh();
    const sent = [
      ...translator.translate({ ...event, type: "tool.input", text: '{"directory_path":"/a","ignorePatterns":"' }),
      ...translator.translate({ at: 2, sessionId: "s", type: "retry.scheduled", attempt: 1, delayMs: 5, failure }),
      ...translator.translate({ ...event, type: "tool.input", text: '{"directory_path":"/b"}' }),
    ];
    const call = (input: object): object => ({
      type: "tool_call",
      toolUse: { type: "tool_use", id: "c", name: "LS", input },
    });
    expect(sent.map(checked)).toEqual([
      call({}),
      call({ directory_path: "/a" }),
      { type: "llm_retry", attempt: 1, reason: "unknown" },
      call({ directory_path: "/b" }),
    ]);
  });

  test("a turn that fails before it takes its prompt still ends under the prompt's name, and names no session", async () => {
    const kit = createKit([], { rulesFailure: "broken" });
    const client = listenTranslated(await kit.open());
    await client.prompt("hello", { requestId: "r1", messageId: "mine" }).outcome;
    await client.stop();
    expect(client.sent).toEqual([
      entered("streaming_assistant_message"),
      noUsageTold("id-1"),
      {
        type: "error",
        message: "broken",
        errorType: "Error",
        timestamp: "1970-01-01T00:16:40.000Z",
        error: { name: "config_invalid", message: "broken" },
      },
      turnCompleted("error", "mine", { calls: 0 }),
      entered("idle"),
    ]);
  });
});
