import { expect, test } from "vitest";
import type { EngineEvent } from "../../src/engine/event.ts";
import type { AssistantMessage } from "../../src/engine/message.ts";
import { StreamJsonTranslator } from "../../src/frontends/exec/stream-json.ts";

const envelope = { at: 7, sessionId: "s", seq: 1 };
const end = { timestamp: 7, session_id: "s" };

function translate(...events: readonly EngineEvent[]): unknown[] {
  const translator = new StreamJsonTranslator([{ messageId: "old", content: [{ type: "text", text: "left over" }] }]);
  return events.flatMap((event) => translator.translate(event));
}

const reply = (content: AssistantMessage["content"]): EngineEvent => ({
  ...envelope,
  type: "message.ended",
  message: { id: "m", role: "assistant", content, createdAt: 1, stop: "end", model: "x" },
});

test("a prompt appears when it joins the conversation, with only the user's text", () => {
  const accepted: EngineEvent = {
    ...envelope,
    type: "prompt.accepted",
    messageId: "p",
    content: [{ type: "text", text: "hi" }],
  };
  const taken = (messageId: string): EngineEvent => ({
    ...envelope,
    type: "prompt.taken",
    messageId,
    reminders: ["secret words"],
  });
  expect(translate(accepted)).toEqual([]);
  expect(translate(accepted, taken("old"), taken("p"))).toEqual([
    { type: "message", role: "user", id: "old", text: "left over", ...end },
    { type: "message", role: "user", id: "p", text: "hi", ...end },
  ]);
});

test("a notice is a line", () => {
  const notice: EngineEvent = { at: 7, sessionId: "s", type: "notice", level: "warning", text: "Look out." };
  expect(translate(notice)).toEqual([{ type: "notice", level: "warning", message: "Look out.", ...end }]);
});

test("a reply is its reasoning once, its text once, then its calls", () => {
  const lines = translate(
    reply([
      { type: "thinking", text: "a" },
      { type: "text", text: "one " },
      { type: "thinking", text: "b" },
      { type: "text", text: "two" },
      { type: "tool_call", id: "c1", name: "Read", input: { file_path: "x" } },
      { type: "tool_call", id: "c2", name: "Read", input: undefined, malformedInput: "{oops" },
    ]),
  );
  expect(lines).toEqual([
    { type: "reasoning", id: "m", text: "a\nb", ...end },
    { type: "message", role: "assistant", id: "m", text: "one two", ...end },
    {
      type: "tool_call",
      id: "c1",
      messageId: "m",
      toolId: "Read",
      toolName: "Read",
      parameters: { file_path: "x" },
      ...end,
    },
    { type: "tool_call", id: "c2", messageId: "m", toolId: "Read", toolName: "Read", parameters: "{oops", ...end },
  ]);
});

test("a reply without text is only its calls, and an empty one is nothing", () => {
  expect(translate(reply([]))).toEqual([]);
  expect(translate(reply([{ type: "tool_call", id: "c", name: "LS", input: {} }]))).toHaveLength(1);
});

test.each([
  ["ok", false],
  ["failed", true],
  ["refused", true],
  ["interrupted", true],
] as const)("a result that is %s", (status, isError) => {
  const text = `Error: ${"x".repeat(5_000)}`;
  const result = { type: "tool_result", callId: "c", name: "Read", status, text } as const;
  const line = { type: "tool_result", id: "c", messageId: "t", toolId: "Read", isError, value: text, ...end };
  const error = { type: "tool_error", message: "x".repeat(2_000) };
  expect(translate({ ...envelope, type: "tool.ended", messageId: "t", result })).toEqual([
    isError ? { ...line, error } : line,
  ]);
});

test("everything else is ignored", () => {
  const quiet: EngineEvent[] = [
    { ...envelope, type: "turn.started", turnId: "t", model: "x" },
    { at: 7, sessionId: "s", type: "message.delta", messageId: "m", block: 0, kind: "text", offset: 0, text: "x" },
    { at: 7, sessionId: "s", type: "tool.progress", callId: "c", name: "Execute", text: "x" },
    { ...envelope, type: "session.titled", title: "x" },
  ];
  expect(translate(...quiet)).toEqual([]);
});
