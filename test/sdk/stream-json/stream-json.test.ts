import { describe, expect, it } from "vitest";
import type { StreamJsonEvent } from "../../../src/sdk/types.ts";
import { eventsOf, expectedEvents, runs, textOfLines } from "./stream-json-runs.ts";

const read = (...lines: readonly object[]): Promise<readonly StreamJsonEvent[]> => eventsOf(textOfLines(lines));

const end = (fields: object) => ({ type: "end", status: "completed", reason: "completed", text: "", ...fields });

/** How a client reads lines if it relies on one description of the format. Calls and results by call id. */
type Naive = (line: Readonly<Record<string, unknown>>) => readonly string[];

const naiveClients: Readonly<Record<string, Naive>> = {
  "that knows tool_call and tool_return": ({ type, id, toolCallId }) =>
    type === "tool_call" ? [`call ${id}`] : type === "tool_return" ? [`result ${toolCallId}`] : [],
  "that knows tool_call and tool_result": ({ type, id }) =>
    type === "tool_call" ? [`call ${id}`] : type === "tool_result" ? [`result ${id}`] : [],
  "that knows toolUse and tool_result": ({ type, toolUse, toolUseId }) => {
    if (type === "tool_result") return [`result ${toolUseId}`];
    return Array.isArray(toolUse) ? toolUse.map(({ id }: { id: string }) => `call ${id}`) : [];
  },
};

const told = ["call c1", "call c2", "result c2", "result c1"];

describe("the vocabularies of a run", () => {
  it.each(Object.entries(runs))("gives the same events for %s", async (_, lines) => {
    expect(await read(...lines)).toEqual(expectedEvents);
  });

  it.each(Object.entries(naiveClients))("loses nothing, unlike a client %s", async (_, naive) => {
    const ofNaive = Object.values(runs).map((lines) => lines.flatMap((line) => naive({ ...line })));
    expect(ofNaive.filter((each) => each.join() === told.join()).length).toBe(1);
    const ofSdk = await Promise.all(
      Object.values(runs).map(async (lines) =>
        (await read(...lines)).flatMap((event) => {
          if (event.type === "tool_call") return [`call ${event.id}`];
          return event.type === "tool_result" ? [`result ${event.id}`] : [];
        }),
      ),
    );
    expect(ofSdk).toEqual(ofSdk.map(() => told));
  });

  it.each(Object.entries(runs))("reports everything once if %s is repeated", async (_, lines) => {
    const doubled = lines.flatMap((line) => ("id" in line || "toolUseId" in line ? [line, line] : [line]));
    expect(doubled.length).toBeGreaterThan(lines.length);
    expect(await read(...doubled)).toEqual(expectedEvents);
  });

  it("reports a call in two vocabularies once", async () => {
    const events = await read(
      { type: "tool_call", id: "c1", messageId: "m1", toolName: "LS", parameters: {} },
      { type: "tool_result", id: "c1", toolId: "LS", isError: false, value: "x" },
      { type: "message", id: "m1", toolUse: { id: "c1", name: "LS", input: {} } },
      { type: "message", role: "tool", id: "m2", content: [{ type: "tool_result", toolUseId: "c1", content: "x" }] },
    );
    expect(events.map(({ type }) => type)).toEqual(["tool_call", "tool_result"]);
  });

  it("reports a changed message again", async () => {
    const message = { type: "message", role: "assistant", id: "m1" };
    const events = await read({ ...message, text: "a" }, { ...message, text: "ab" }, { ...message, text: "ab" });
    expect(events.map((event) => event.type === "message" && event.text)).toEqual(["a", "ab"]);
  });

  it("treats an id reused by another message as another call", async () => {
    const round = (messageId: string) => [
      { type: "tool_call", id: "call_0", messageId, toolId: "LS", toolName: "LS", parameters: {} },
      { type: "tool_result", id: "call_0", messageId: `${messageId}r`, toolId: "LS", isError: false, value: messageId },
    ];
    const events = await read(...round("m1"), ...round("m2"));
    expect(events.map((event) => (event.type === "tool_result" ? event.text : event.type))).toEqual([
      "tool_call",
      "m1",
      "tool_call",
      "m2",
    ]);
  });
});

describe("a result's call", () => {
  const matched = async (...lines: readonly object[]) =>
    (await read(...lines)).flatMap((event): unknown[] => {
      if (event.type === "tool_call") return [[event.id, event.input]];
      return event.type === "tool_result" ? [[event.id, event.name, event.text]] : [];
    });
  const call = (fields: object) => ({ type: "tool_call", ...fields });
  const result = (fields: object) => ({ type: "tool_return", ...fields });

  it("is found by order among calls of one tool without ids", async () => {
    expect(
      await matched(
        call({ toolName: "Read", toolId: "read-cli", parameters: { n: 1 } }),
        call({ toolName: "LS", parameters: { n: 2 } }),
        call({ toolName: "Read", toolId: "read-cli", parameters: { n: 1 } }),
        result({ toolId: "read-cli", value: "first" }),
        result({ toolName: "Read", value: "second" }),
        result({ value: "third" }),
        result({ toolName: "Read", value: "of none" }),
      ),
    ).toEqual([
      ["Read#1", { n: 1 }],
      ["LS#2", { n: 2 }],
      ["Read#3", { n: 1 }],
      ["Read#1", "Read", "first"],
      ["Read#3", "Read", "second"],
      ["LS#2", "LS", "third"],
      ["", undefined, "of none"],
    ]);
  });

  it("is found by name if the call had no id and the result has its own", async () => {
    expect(
      await matched(
        call({ toolName: "Read", parameters: {} }),
        call({ id: "c2", toolName: "Read", parameters: {} }),
        result({ id: "r1", toolId: "Read", value: "first" }),
        result({ id: "c2", toolId: "Read", value: "second" }),
      ),
    ).toEqual([
      ["Read#1", {}],
      ["c2", {}],
      ["Read#1", "Read", "first"],
      ["c2", "Read", "second"],
    ]);
  });

  it("is not guessed if it was not seen, even if other calls of the tool are open", async () => {
    expect(
      await matched(
        call({ id: "c2", toolId: "Read", toolName: "Read", parameters: {} }),
        { type: "tool_result", id: "c1", toolId: "Read", isError: false, value: "earlier" },
        { type: "tool_result", id: "c2", toolId: "Read", isError: false, value: "this" },
      ),
    ).toEqual([
      ["c2", {}],
      ["c1", undefined, "earlier"],
      ["c2", "Read", "this"],
    ]);
  });

  it("is not doubled by a late copy", async () => {
    expect(
      await matched(result({ id: "c1", value: "early" }), call({ id: "c1", toolName: "LS", parameters: { n: 1 } })),
    ).toEqual([
      ["c1", undefined, "early"],
      ["c1", { n: 1 }],
    ]);
  });

  it("is never found by toolId; ids can be numbers", async () => {
    expect(
      await matched(
        call({ id: 1, toolName: "Read", input: '{"n":1}' }),
        call({ id: "c2", toolName: "LS", arguments: "no JSON" }),
        result({ toolId: "c2", output: "two" }),
        result({ callId: 1, text: "one" }),
      ),
    ).toEqual([
      ["1", { n: 1 }],
      ["c2", {}],
      ["c2", "LS", "two"],
      ["1", "Read", "one"],
    ]);
  });
});

describe("a result", () => {
  it.each<[object, object]>([
    [{ value: "" }, { content: "", text: "", isError: false }],
    [
      { value: "v", error: null },
      { content: "v", text: "v", isError: false },
    ],
    [
      { value: null, output: "o" },
      { content: "o", text: "o", isError: false },
    ],
    [{ value: { a: [1] } }, { content: '{"a":[1]}', text: '{"a":[1]}', isError: false }],
    [{ result: ["x", 1] }, { content: '["x",1]', text: '["x",1]', isError: false }],
    [{ content: [] }, { content: [], text: "", isError: false }],
    [{ content: [{ type: "text", text: "t" }] }, { content: [{ type: "text", text: "t" }], text: "t", isError: false }],
    [
      { value: "Error: gone", isError: true, error: { type: "tool_error", message: "gone" } },
      { content: "Error: gone", text: "Error: gone", isError: true },
    ],
    [{ error: { message: "gone" } }, { content: "gone", text: "gone", isError: true }],
    [
      { error: "gone", isError: false },
      { content: "gone", text: "gone", isError: false },
    ],
    [
      { text: "gone", status: "failed" },
      { content: "gone", text: "gone", isError: true },
    ],
    [
      { text: "gone", is_error: true },
      { content: "gone", text: "gone", isError: true },
    ],
    [{}, { content: "", text: "", isError: false }],
  ])("is read from %j", async (fields, expected) => {
    expect(await read({ type: "tool_result", id: "c1", ...fields })).toEqual([
      { type: "tool_result", id: "c1", ...expected },
    ]);
  });
});

describe("the end of a run", () => {
  const reply = { type: "message", role: "assistant", id: "m1", text: "So far", session_id: "s1" };
  const failed = (source: string, message: string) => ({
    type: "error",
    source,
    message,
    timestamp: 1,
    session_id: "s1",
  });
  const lastOf = async (...lines: readonly object[]) => (await read(...lines)).at(-1);

  it("is missing if the output just stops", async () => {
    expect(await lastOf(reply)).toMatchObject({ type: "message" });
    expect(await read()).toEqual([]);
  });

  it("is a failure if the last line was an error of the run", async () => {
    expect(await read(reply, failed("agent_loop", "401 Bad key"), failed("cli", "Exec failed"))).toEqual([
      expect.objectContaining({ type: "message" }),
      { type: "error", error: { message: "401 Bad key" } },
      { type: "error", error: { message: "Exec failed" } },
      end({ status: "failed", reason: "failed", text: "So far", sessionId: "s1", error: { message: "401 Bad key" } }),
    ]);
    expect(await lastOf(failed("cli", "No key"))).toEqual(
      end({ status: "failed", reason: "failed", sessionId: "s1", error: { message: "No key" } }),
    );
  });

  it("is a failure if only lines outside the run followed the error", async () => {
    const text = `${textOfLines([failed("cli", "No key")])}Error during execution\n${textOfLines([{ type: "new" }])}`;
    expect((await eventsOf(text)).map(({ type }) => type)).toEqual(["error", "other", "other", "end"]);
    const nothing = { type: "message", role: "assistant", id: "m2" };
    expect((await read(reply, failed("cli", "No key"), nothing, reply)).map(({ type }) => type)).toEqual([
      "message",
      "error",
      "other",
      "end",
    ]);
  });

  it("is missing for an error that the run continued after, or that does not concern the run", async () => {
    expect(await lastOf(failed("agent_loop", "busy"), reply)).toMatchObject({ type: "message" });
    expect(await lastOf(reply, failed("mcp", "no server"))).toMatchObject({ type: "error" });
  });

  it("comes once if the failed run has a completion", async () => {
    const completion = { type: "completion", finalText: "", numTurns: 1, durationMs: 2, session_id: "s1" };
    expect(await read(failed("cli", "gone"), { ...completion, isError: true, stopReason: "limit" })).toEqual([
      { type: "error", error: { message: "gone" } },
      end({ status: "failed", reason: "limit", sessionId: "s1", durationMs: 2, error: { message: "gone" } }),
    ]);
  });

  it("is a success unless the completion says otherwise", async () => {
    expect(await read(reply, { type: "completion" })).toEqual([
      expect.objectContaining({ type: "message" }),
      end({ text: "So far", sessionId: "s1" }),
    ]);
  });

  it("is read from the one object of -o json", async () => {
    const result = { type: "result", num_turns: 1, duration_ms: 3, session_id: "s1" };
    expect(await read({ ...result, subtype: "success", is_error: false, result: "Done." })).toEqual([
      end({ text: "Done.", sessionId: "s1", durationMs: 3 }),
    ]);
    expect(await read({ ...result, subtype: "failure", is_error: true, result: "Exec failed" })).toEqual([
      end({ status: "failed", reason: "failed", sessionId: "s1", durationMs: 3, error: { message: "Exec failed" } }),
    ]);
    const error = { code: "limit_turns", message: "Enough." };
    const more = { stop_reason: "limit", error };
    const limited = {
      status: "failed",
      reason: "limit",
      sessionId: "s1",
      durationMs: 3,
      error: { message: "Enough.", type: "limit_turns" },
    } as const;
    const failure = { ...result, subtype: "failure", is_error: true, ...more };
    expect(await read({ ...failure, result: "So far" })).toEqual([end({ ...limited, text: "So far" })]);
    expect(await read({ ...failure, result: "Enough." })).toEqual([end(limited)]);
  });

  it("comes for each of several runs", async () => {
    const completion = { type: "completion", session_id: "s1" };
    expect(await read(reply, completion, { ...reply, id: "m2", text: "More" }, completion)).toMatchObject([
      { type: "message" },
      end({ text: "So far" }),
      { type: "message" },
      end({ text: "More" }),
    ]);
    expect(await read(reply, completion, completion)).toMatchObject([
      { type: "message" },
      end({ text: "So far" }),
      end({ text: "" }),
    ]);
  });
});

describe("unknown content", () => {
  it("is passed on unchanged", async () => {
    const lines = ["Warning: no colours", "[1]", '"text"', '{"type":"sparkle","x":[1]}', '{"x":1}', '{"type":7}', "{"];
    expect(await eventsOf(lines.join("\n"))).toEqual([
      { type: "other", name: "text", given: "Warning: no colours" },
      { type: "other", name: "text", given: "[1]" },
      { type: "other", name: "text", given: '"text"' },
      { type: "other", name: "sparkle", given: { type: "sparkle", x: [1] } },
      { type: "other", name: "", given: { x: 1 } },
      { type: "other", name: "", given: { type: 7 } },
      { type: "other", name: "text", given: "{" },
    ]);
  });

  it.each<[string, object]>([
    ["an empty message", { type: "message", role: "user", id: "m1" }],
    ["a message with an unknown role", { type: "message", role: "oracle", id: "m1", text: "a" }],
    ["a call without a name", { type: "tool_call", id: "c1", parameters: {} }],
    ["a thought without text", { type: "reasoning", id: "m1" }],
    ["another line of the system", { type: "system", subtype: "status", session_id: "s1" }],
    ["a key of Object.prototype", { type: "constructor" }],
  ])("is %s", async (_, line) => {
    expect(await read(line)).toEqual([{ type: "other", name: (line as { type: string }).type, given: line }]);
  });

  it("does not hide a call beside it", async () => {
    expect(await read({ type: "message", role: "oracle", text: "a", toolUse: { id: "c1", name: "LS" } })).toMatchObject(
      [{ type: "other" }, { type: "tool_call", id: "c1", name: "LS", input: {} }],
    );
  });

  it("is a line nested too deeply to be written again", async () => {
    const line = `{"type":"tool_result","id":"c1","value":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
    expect(await eventsOf(line)).toEqual([{ type: "other", name: "text", given: line }]);
  });
});

it("is not a notice, but one without content is passed on unchanged", async () => {
  const notice = { type: "notice", level: "info", message: "Look out.", session_id: "s" };
  const empty = { type: "notice", level: "info" };
  expect(await read(notice, empty)).toEqual([
    { type: "notice", level: "info", message: "Look out." },
    { type: "other", name: "notice", given: empty },
  ]);
});
