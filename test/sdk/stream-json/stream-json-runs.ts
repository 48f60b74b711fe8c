import type { StreamJsonSource } from "../../../src/sdk/stream-json/stream-json.ts";
import { readStreamJson } from "../../../src/sdk/stream-json/stream-json.ts";
import type { StreamJsonEvent } from "../../../src/sdk/types.ts";

/** One run in every vocabulary: two parallel calls of one tool, one of which fails, and thoughts sent twice. */

export async function eventsOf(source: StreamJsonSource): Promise<readonly StreamJsonEvent[]> {
  const events: StreamJsonEvent[] = [];
  for await (const event of readStreamJson(source)) events.push(event);
  return events;
}

export function textOfLines(lines: readonly object[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

const at = { timestamp: 5, session_id: "s1" };
const first = {
  type: "system",
  subtype: "init",
  cwd: "/w",
  session_id: "s1",
  tools: ["Read"],
  model: "m",
  reasoning_effort: "none",
};
const prompt = { type: "message", role: "user", id: "m1", text: "Fix it", ...at };
const thought = { type: "reasoning", id: "m2", text: "Look first.", ...at };
const reply = { type: "message", role: "assistant", id: "m2", text: "I'll look.", ...at };
const answer = { type: "message", role: "assistant", id: "m5", text: "Fixed.", ...at };
const usage = { input_tokens: 9, output_tokens: 8, cache_read_input_tokens: 7, cache_creation_input_tokens: 6 };
const last = { type: "completion", finalText: "Fixed.", numTurns: 2, durationMs: 12, ...at, usage };

const a = { file_path: "a" };
const b = { file_path: "b" };
const names = { toolId: "Read", toolName: "Read" };
const calls = [
  { type: "tool_call", id: "c1", messageId: "m2", ...names, parameters: a, ...at },
  { type: "tool_call", id: "c2", messageId: "m2", ...names, parameters: b, ...at },
];
const ofResult = { messageId: "m3", toolId: "Read" };
const error = { type: "tool_error", message: "ENOENT" };

/** By vocabulary. The order of calls and results and everything reportable is the same in each. */
export const runs: Readonly<Record<string, readonly object[]>> = {
  "tool_call and tool_result": [
    first,
    prompt,
    thought,
    thought,
    reply,
    ...calls,
    { type: "tool_result", id: "c2", ...ofResult, isError: true, error, ...at },
    { type: "tool_result", id: "c1", ...ofResult, isError: false, value: "helo", ...at },
    answer,
    last,
  ],
  "tool_call and tool_return": [
    first,
    prompt,
    thought,
    reply,
    ...calls,
    { type: "tool_return", toolCallId: "c2", toolName: "Read", error: "ENOENT", ...at },
    { type: "tool_return", toolCallId: "c1", toolName: "Read", result: "helo", ...at },
    answer,
    last,
  ],
  "message with toolUse and tool_result": [
    first,
    prompt,
    thought,
    {
      ...reply,
      toolUse: [
        { id: "c1", name: "Read", input: a },
        { id: "c2", name: "Read", input: b },
      ],
    },
    { type: "tool_result", toolUseId: "c2", content: "ENOENT", isError: true, ...at },
    { type: "tool_result", toolUseId: "c1", content: "helo", isError: false, ...at },
    answer,
    last,
  ],
  "message with one toolUse each": [
    first,
    prompt,
    thought,
    reply,
    { type: "message", role: "assistant", id: "m2", toolUse: { type: "tool_use", id: "c1", name: "Read", input: a } },
    {
      type: "message",
      role: "assistant",
      id: "m2",
      text: "",
      toolUse: { type: "tool_use", id: "c2", name: "Read", input: b },
    },
    { type: "tool_result", tool_use_id: "c2", content: "ENOENT", is_error: true },
    { type: "tool_result", tool_use_id: "c1", content: "helo", is_error: false },
    answer,
    last,
  ],
  "blocks of content": [
    first,
    { type: "message", role: "user", id: "m1", content: "Fix it", timestamp: 5 },
    {
      type: "message",
      role: "assistant",
      id: "m2",
      content: [
        { type: "thinking", thinking: "Look first.", signature: "x" },
        { type: "text", text: "I'll look." },
        { type: "tool_use", id: "c1", name: "Read", input: a },
        { type: "tool_use", id: "c2", name: "Read", input: b },
      ],
      timestamp: 5,
    },
    {
      type: "message",
      role: "user",
      id: "m3",
      content: [
        { type: "tool_result", tool_use_id: "c2", content: "ENOENT", is_error: true },
        { type: "tool_result", tool_use_id: "c1", content: "helo" },
      ],
      timestamp: 5,
    },
    {
      type: "message",
      message: { role: "assistant", id: "m5", content: [{ type: "text", text: "Fixed." }] },
      timestamp: 5,
    },
    last,
  ],
};

export const expectedEvents: readonly StreamJsonEvent[] = [
  { type: "session", sessionId: "s1", cwd: "/w", model: "m", tools: ["Read"] },
  {
    type: "message",
    message: { id: "m1", role: "user", content: [{ type: "text", text: "Fix it" }], createdAt: 5 },
    text: "Fix it",
  },
  { type: "thinking", messageId: "m2", text: "Look first." },
  {
    type: "message",
    message: { id: "m2", role: "assistant", content: [{ type: "text", text: "I'll look." }], createdAt: 5 },
    text: "I'll look.",
  },
  { type: "tool_call", id: "c1", name: "Read", input: a, messageId: "m2" },
  { type: "tool_call", id: "c2", name: "Read", input: b, messageId: "m2" },
  { type: "tool_result", id: "c2", name: "Read", content: "ENOENT", text: "ENOENT", isError: true },
  { type: "tool_result", id: "c1", name: "Read", content: "helo", text: "helo", isError: false },
  {
    type: "message",
    message: { id: "m5", role: "assistant", content: [{ type: "text", text: "Fixed." }], createdAt: 5 },
    text: "Fixed.",
  },
  {
    type: "end",
    status: "completed",
    reason: "completed",
    text: "Fixed.",
    sessionId: "s1",
    durationMs: 12,
    usage: { inputTokens: 9, outputTokens: 8, cacheReadTokens: 7, cacheCreationTokens: 6, thinkingTokens: 0 },
  },
];
