import { describe, expect, test } from "vitest";
import { createWireChecker, type Side } from "./fakes/acp-schema.ts";

const update = (content: object): object => ({
  jsonrpc: "2.0",
  method: "session/update",
  params: { sessionId: "s", update: content },
});
const call = { sessionUpdate: "tool_call", toolCallId: "c", title: "t" };
const ask = (id: number, method: string, params: object): object => ({ jsonrpc: "2.0", id, method, params });

describe("detects faults on the wire", () => {
  test.each<[string, Side, object, RegExp]>([
    ["another version", "agent", { ...update(call), jsonrpc: "1.0" }, /JSON-RPC 2\.0/],
    ["an extra key beside the message", "agent", { ...update(call), type: "notification" }, /it has type/],
    ["an unknown kind of update", "agent", update({ sessionUpdate: "weather", text: "" }), /oneOf/],
    ["a missing key", "agent", update({ sessionUpdate: "tool_call", toolCallId: "c" }), /title/],
    ["an unknown key", "agent", update({ ...call, color: "red" }), /color/],
    [
      "a deeply nested unknown key",
      "agent",
      update({ ...call, content: [{ type: "diff", path: "/", newText: "", old: "" }] }),
      /old/,
    ],
    ["an unknown status", "agent", update({ ...call, status: "running" }), /status/],
    ["an unknown method", "client", ask(1, "session/sing", {}), /no request session\/sing of the client/],
    ["the other side's method", "client", ask(1, "fs/read_text_file", { path: "/" }), /no request/],
    ["a response without a request", "agent", { jsonrpc: "2.0", id: 1, result: {} }, /answers no request/],
    ["an error without a message", "agent", { jsonrpc: "2.0", id: null, error: { code: 1 } }, /message/],
  ])("%s", (_, from, message, words) => {
    expect(createWireChecker().fault(from, message)).toMatch(words);
  });

  test("a response is checked against its request", () => {
    const checker = createWireChecker();
    expect(checker.fault("client", ask(1, "session/new", { cwd: "/", mcpServers: [] }))).toBeUndefined();
    expect(checker.fault("agent", { jsonrpc: "2.0", id: 1, result: { stopReason: "end_turn" } })).toMatch(/sessionId/);
  });

  test("detects a second response to a request", () => {
    const checker = createWireChecker();
    const answer = { jsonrpc: "2.0", id: 1, result: { sessionId: "s" } };
    checker.fault("client", ask(1, "session/new", { cwd: "/", mcpServers: [] }));
    expect([checker.fault("agent", answer), checker.fault("agent", answer)]).toEqual([
      undefined,
      "it answers no request",
    ]);
  });
});

test("valid messages pass, whatever a tool was given", () => {
  const checker = createWireChecker();
  const raw = { rawInput: { any: [{ thing: 1 }] }, _meta: { own: true } };
  const diff = { type: "diff", path: "/a", oldText: null, newText: "x" };
  expect(checker.fault("agent", update({ ...call, ...raw, content: [diff] }))).toBeUndefined();
  expect(checker.fault("client", ask(7, "session/fork", { sessionId: "s", cwd: "/" }))).toBeUndefined();
  expect(checker.fault("agent", { jsonrpc: "2.0", id: 7, result: { sessionId: "t", models: {} } })).toBeUndefined();
});
