import type { DurableBody, DurableEvent } from "../../src/engine/event.ts";
import type { Usage } from "../../src/engine/message.ts";
import type { StoredLog } from "../../src/engine/ports.ts";
import type { SessionSettings } from "../../src/engine/settings.ts";

export const settings: SessionSettings = {
  modelId: "offline",
  reasoningEffort: "none",
  autonomy: "low",
  mode: "auto",
};

const usage: Usage = { input: 10, output: 5, cacheRead: 2, cacheWrite: 1, thinking: 3 };

export function opened(sessionId: string, cwd = "/home/me/project", at = 1_000): DurableEvent {
  return { type: "session.opened", seq: 1, at, sessionId, cwd, settings };
}

export function prompt(sessionId: string, seq: number, text = `prompt ${seq}`): DurableEvent {
  return {
    type: "prompt.accepted",
    seq,
    at: 1_000 + seq,
    sessionId,
    messageId: `m${seq}`,
    content: [{ type: "text", text }],
  };
}

export function titled(sessionId: string, seq: number, title: string): DurableEvent {
  return { type: "session.titled", seq, at: 1_000 + seq, sessionId, title };
}

export function prompts(sessionId: string, from: number, to: number): DurableEvent[] {
  return Array.from({ length: to - from + 1 }, (_, index) => prompt(sessionId, from + index));
}

/** A body of each kind and variant, except the first record. */
export const everyBody: readonly Exclude<DurableBody, { type: "session.opened" }>[] = [
  { type: "session.updated", changes: { modelId: "other", tags: null, specModelId: "planner" } },
  { type: "session.titled", title: 'Say "type":"session.titled"' },
  {
    type: "prompt.accepted",
    messageId: "m1",
    content: [
      { type: "text", text: "line one\nline two\r\u2028\u0000 \u{1F600} 只回复" },
      { type: "image", mediaType: "image/png", data: "AAAA" },
      { type: "document", mediaType: "text/plain", encoding: "text", data: "words", name: "notes.txt" },
    ],
  },
  { type: "prompt.discarded", messageId: "m2" },
  { type: "turn.started", turnId: "t1", model: "offline", prompts: ["m1"] },
  { type: "prompt.taken", messageId: "m1", reminders: ["Today is Monday.", ""] },
  { type: "message.checkpoint", messageId: "m3", block: 0, kind: "thinking", from: 0, text: "hm" },
  {
    type: "message.ended",
    message: {
      id: "m3",
      createdAt: 5,
      role: "assistant",
      stop: "tool_calls",
      model: "offline",
      content: [
        { type: "thinking", text: "hm", proof: { anthropic: { signature: "proof" } } },
        { type: "text", text: "I will look." },
        { type: "tool_call", id: "c1", name: "Read", input: { file_path: "/a", nested: [{ type: "session.titled" }] } },
        {
          type: "tool_call",
          id: "c3",
          name: "Execute",
          input: { command: "ls" },
          raw: { name: "Bash", input: { cmd: "ls", pty: true }, ignored: ["pty"] },
        },
        { type: "tool_call", id: "c2", name: "Read", input: undefined, malformedInput: "{oops" },
      ],
    },
  },
  { type: "usage.updated", call: usage, total: usage },
  {
    type: "context.compacted",
    trigger: "window",
    results: [{ messageId: "m4", callId: "c1", text: "cut" }],
    media: ["m1"],
    summary: {
      message: { id: "m9", createdAt: 6, role: "user", content: [{ type: "reminder", text: "It began." }] },
      through: "m3",
      removed: 2,
    },
    isShortened: true,
    tokensBefore: 100,
    tokensAfter: 10,
  },
  { type: "tool.started", callId: "c1", name: "Read" },
  {
    type: "tool.ended",
    messageId: "m4",
    result: {
      type: "tool_result",
      callId: "c1",
      name: "Read",
      status: "ok",
      text: "content",
      forModel: "     1→content",
      media: [{ type: "image", mediaType: "image/png", data: "AAAA" }],
      fullTextPath: "/outputs/1",
    },
    seen: { "/a": "mark" },
  },
  {
    type: "request.opened",
    requestId: "r1",
    interaction: {
      kind: "permission",
      calls: [
        {
          call: { type: "tool_call", id: "c1", name: "Execute", input: { command: "ls" } },
          decision: {
            verdict: "ask",
            class: "high",
            impact: "high",
            extractedCommands: ["ls"],
            rule: "level",
            why: "It is above the level.",
          },
          preview: { type: "command", command: "ls" },
        },
      ],
    },
  },
  {
    type: "request.opened",
    requestId: "r2",
    interaction: {
      kind: "question",
      callId: "c3",
      questions: [{ index: 1, topic: "Colour", question: "Which?", options: ["red", "blue"] }],
    },
  },
  {
    type: "request.opened",
    requestId: "r3",
    interaction: { kind: "plan", callId: "c4", plan: "1. do", title: "Plan", optionNames: ["go"] },
  },
  { type: "request.closed", requestId: "r1", answer: { kind: "allow", always: true }, changes: { autonomy: "high" } },
  {
    type: "request.closed",
    requestId: "r2",
    answer: { kind: "answers", answers: [{ index: 1, answer: "red" }] },
  },
  { type: "request.closed", requestId: "r3", answer: { kind: "approve", autonomy: "medium" } },
  { type: "request.closed", requestId: "r4", answer: { kind: "cancel", why: "no client is connected" } },
  {
    type: "turn.ended",
    turnId: "t1",
    reason: "failed",
    failure: { code: "model_failed", message: "It hung up.", cause: "network" },
    usage,
    durationMs: 12.5,
    untaken: ["m3"],
    joined: ["m4"],
  },
];

/** A session with a record of each kind. */
export function everyEvent(sessionId: string): DurableEvent[] {
  const first: DurableEvent = {
    type: "session.opened",
    seq: 1,
    at: 1_000,
    sessionId,
    cwd: "/home/me/project",
    settings: {
      ...settings,
      specModelId: "planner",
      specReasoningEffort: "high",
      appendSystemPrompt: "Be brief.",
      tags: [{ name: "ci", metadata: { run: 7 } }],
    },
    forkOf: { sessionId: "parent", seq: 12, before: ["grandparent"] },
  };
  const rest = everyBody.map(
    (body, index): DurableEvent => ({ at: 1_001 + index, sessionId, turnId: "t1", seq: index + 2, ...body }),
  );
  return [first, ...rest];
}

/** A log as read, with the last event's seq as `lastSeq`. */
export function stored(
  events: readonly DurableEvent[],
  damagedLines: readonly number[],
  missingRecords: StoredLog["missingRecords"] = [],
): StoredLog {
  return { events, lastSeq: events.at(-1)?.seq ?? 0, damagedLines, missingRecords };
}
