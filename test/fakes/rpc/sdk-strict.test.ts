import { describe, expect, test } from "vitest";
import { orderFaults, unanswered } from "./sdk-order.ts";
import { checkAll } from "./sdk-strict.ts";
import type { Received } from "./wire.ts";

const message = { id: "m1", role: "assistant", content: [{ type: "text", text: "Hi" }], createdAt: 1, updatedAt: 1 };
const tokenUsage = {
  inputTokens: 1,
  outputTokens: 1,
  cacheCreationTokens: 0,
  cacheReadTokens: 0,
  thinkingTokens: 0,
};
const model = {
  id: "m",
  displayName: "M",
  shortDisplayName: "M",
  modelProvider: "openai",
  supportedReasoningEfforts: ["none"],
  defaultReasoningEffort: "none",
};
const settings = { modelId: "m", reasoningEffort: "none" };

const envelope = { jsonrpc: "2.0", factoryApiVersion: "1.0.0" };
const notified = (notification: { type: string } & Record<string, unknown>, more: object = {}): Received => ({
  ...envelope,
  type: "notification",
  method: "droid.session_notification",
  params: { notification },
  ...more,
});
const initialized = (result: object): Received => ({
  ...envelope,
  type: "response",
  id: "1",
  result: { sessionId: "s", session: { messages: [] }, settings, ...result },
});
const asked = (toolUse: object, options: object[] = [{ label: "Yes", value: "proceed_once" }]): Received => ({
  ...envelope,
  type: "request",
  id: "r1",
  method: "droid.request_permission",
  params: { toolUses: [toolUse], options },
});
const exec = {
  toolUse: { type: "tool_use", id: "c1", name: "Execute", input: {} },
  confirmationType: "exec",
  details: { type: "exec", fullCommand: "ls", command: "ls" },
};

const sent = [{ type: "request", id: "1", method: "droid.initialize_session" }];
const faultsOf = (received: Received): readonly string[] =>
  checkAll([received], sent).map((fault) => fault.slice(0, fault.indexOf(":")));
const without = <T extends object>(value: T, key: keyof T): object =>
  Object.fromEntries(Object.entries(value).filter(([name]) => name !== key));

describe("messages that the SDKs reject", () => {
  const end = { type: "agent_turn_completed", reason: "completed", turnId: "t" };
  const failure = { type: "error", message: "no", errorType: "Error", timestamp: "2026-01-01T00:00:00.000Z" };
  const said = (changes: object): Received => notified({ type: "create_message", message: { ...message, ...changes } });
  const rows: readonly (readonly [what: string, message: Received, place: string])[] = [
    ["a message without a time", said({ createdAt: undefined }), "create_message.message.createdAt"],
    ["a time as text", said({ updatedAt: "2026-01-01T00:00:00Z" }), "create_message.message.updatedAt"],
    [
      "a thought without its signature",
      said({ content: [{ type: "thinking", thinking: "Hm" }] }),
      "create_message.message.content.0.signature",
    ],
    ["an unknown block", said({ content: [{ type: "song" }] }), "create_message.message.content.0.type"],
    ["an older level", initialized({ settings: { ...settings, autonomyLevel: "auto-low" } }), "settings.autonomyLevel"],
    [
      "an unknown mode",
      initialized({ settings: { ...settings, interactionMode: "mission" } }),
      "settings.interactionMode",
    ],
    ["settings without a model", initialized({ settings: { reasoningEffort: "none" } }), "settings.modelId"],
    ["settings without an effort", initialized({ settings: { modelId: "m" } }), "settings.reasoningEffort"],
    ...(Object.keys(model) as (keyof typeof model)[]).map(
      (key) =>
        [
          `a model without ${key}`,
          initialized({ availableModels: [without(model, key)] }),
          `availableModels.0.${key}`,
        ] as const,
    ),
    [
      "an unknown provider",
      initialized({ availableModels: [{ ...model, modelProvider: "tinman" }] }),
      "availableModels.0.modelProvider",
    ],
    [
      "an unknown state",
      notified({ type: "droid_working_state_changed", newState: "dreaming" }),
      "droid_working_state_changed.newState",
    ],
    ...(Object.keys(tokenUsage) as (keyof typeof tokenUsage)[]).map(
      (key) =>
        [
          `tokens without ${key}`,
          notified({ ...end, tokenUsage: without(tokenUsage, key) }),
          `agent_turn_completed.tokenUsage.${key}`,
        ] as const,
    ),
    ["an end without its tokens", notified(end), "agent_turn_completed.tokenUsage"],
    ["an unknown end", notified({ ...end, tokenUsage, reason: "bored" }), "agent_turn_completed.reason"],
    ["an error without a zone", notified({ ...failure, timestamp: "2026-01-01T00:00:00" }), "error.timestamp"],
    ["an error with an unknown type", notified({ ...failure, errorType: "Oops" }), "error.errorType"],
    ["a notification without jsonrpc", notified(failure, { jsonrpc: undefined }), "notification.jsonrpc"],
    [
      "a notification with another version",
      notified(failure, { factoryApiVersion: "2.0.0" }),
      "notification.factoryApiVersion",
    ],
    ["an unknown key in _meta", notified(failure, { _meta: { traceparent: "x", mine: "y" } }), "notification._meta"],
    [
      "an authorisation without its state",
      notified({ type: "mcp_auth_required", serverName: "s", authUrl: "u", message: "m" }),
      "mcp_auth_required.state",
    ],
    [
      "an unknown option",
      asked(exec, [{ label: "Maybe", value: "maybe" }]),
      "droid.request_permission.options.0.value",
    ],
    [
      "details without their command",
      asked({ ...exec, details: { type: "exec", fullCommand: "ls" } }),
      "droid.request_permission.toolUses.0.details.command",
    ],
    ["details of another type", asked({ ...exec, confirmationType: "edit" }), "droid.request_permission.toolUses.0"],
    ["a number as an id", { ...initialized({}), id: 1 } as unknown as Received, "response.id"],
    [
      "a response with both result and error",
      { ...initialized({}), error: { code: -32603, message: "no" } },
      "response",
    ],
    [
      "an unknown code",
      { ...envelope, type: "response", id: "1", error: { code: -1, message: "no" } },
      "response.error.code",
    ],
  ];
  test.each(rows)("%s", (_, received, place) => {
    expect(faultsOf(received).map((fault) => fault.replace("result of droid.initialize_session.", ""))).toEqual([
      place,
    ]);
  });

  test("a response to no request, and a message without a type", () => {
    const faults = checkAll([{ ...initialized({}), id: "2" }, { ...envelope }], sent);
    expect(faults.map((fault) => fault.slice(0, 20))).toEqual(["a response to nothin", "type undefined is dr"]);
  });
});

test("accepts what the SDKs accept: additions, unknown types, bare results, older levels of older clients", () => {
  const taken = [
    initialized({ availableModels: [{ ...model, more: 1 }], more: true }),
    notified({ type: "something_new", whatever: [] }),
    notified({ type: "tool_result", messageId: "m", toolUseId: "c" }),
    notified({ type: "settings_updated", settings: { specModeModelId: null, autonomyLevel: null } }, { _meta: {} }),
    { ...envelope, type: "response", id: null, error: { code: -32700, message: "Invalid JSON" } },
    asked(exec),
  ] as const;
  expect(checkAll(taken, sent)).toEqual([]);
  const old = initialized({ settings: { ...settings, autonomyLevel: "auto-low" } });
  expect(checkAll([old], sent, { old: true })).toEqual([]);
});

describe("the order", () => {
  const state = (newState: string): Received => notified({ type: "droid_working_state_changed", newState });
  const delta = (textDelta: string): Received =>
    notified({ type: "assistant_text_delta", messageId: "m1", blockIndex: 0, textDelta });
  const said = notified({ type: "create_message", message });
  const tokens = notified({ type: "session_token_usage_changed", sessionId: "s", tokenUsage });
  const end = notified({ type: "agent_turn_completed", reason: "completed", turnId: "t", tokenUsage });
  const busy = state("streaming_assistant_message");
  const right = [busy, delta("H"), delta("i"), said, tokens, end, state("idle")];

  test("of a valid turn", () => {
    expect(orderFaults(right, sent)).toEqual([]);
  });

  const result = notified({ type: "tool_result", messageId: "t1", toolUseId: "c1" });
  const call = notified({ type: "tool_call", toolUse: exec.toolUse });
  const resolved = notified({ type: "permission_resolved", requestId: "r1", toolUseIds: [], selectedOption: "cancel" });
  const changed = notified({ type: "settings_updated", settings });
  const rows: readonly (readonly [string, readonly Received[], RegExp])[] = [
    ["a duplicate message", [busy, said, said], /^twice: create_message m1$/],
    ["a duplicate state", [busy, busy], /^the state is streaming_assistant_message twice/],
    ["idle before the end", [busy, said, tokens, state("idle"), end], /^idle comes after session_token_usage_changed/],
    ["tokens after the end", [busy, said, end, tokens], /^a turn ended before its tokens/],
    ["deltas that exceed their message", [busy, delta("Hi"), delta("Hi"), said], /^deltas of m1 say "HiHi"/],
    ["a delta after its message", [busy, said, delta("Hi")], /^a delta after its message/],
    ["a duplicate result", [call, result, result], /^twice: tool_result/],
    ["a result without a call", [result], /^a result of an unknown call: c1$/],
    ["an unexpected request", [busy, asked(exec)], /^request r1 in the state streaming/],
    ["a response without a request", [resolved], /^nothing was asked as r1$/],
    ["unchanged settings", [changed, changed], /^settings_updated without a change/],
    ["two responses to one request", [initialized({}), initialized({})], /^twice: response 1$/],
  ];
  test.each(rows)("finds %s", (_, received, fault) => {
    expect(orderFaults(received, sent)).toEqual([expect.stringMatching(fault)]);
  });

  test("finds unanswered requests", () => {
    expect(unanswered([], sent)).toEqual(["droid.initialize_session"]);
    expect(unanswered([initialized({})], sent)).toEqual([]);
  });
});
