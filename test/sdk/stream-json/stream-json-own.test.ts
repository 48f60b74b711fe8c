import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { sdkTypes } from "../../../src/protocol/sdk-types.ts";
import { readStreamJson } from "../../../src/sdk/stream-json/stream-json.ts";
import type { StreamJsonEvent } from "../../../src/sdk/types.ts";
import { createBench } from "../../e2e/tinman.ts";
import { eventsOf } from "./stream-json-runs.ts";

/* Our own program's output, from the golden files and live. */

const goldens = new URL("../../golden/", import.meta.url);
const scenarios = readdirSync(goldens, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

const printed = (scenario: string, format: string): string =>
  readFileSync(new URL(`${scenario}/expected.${format}`, goldens), "utf8").split("--- stderr\n")[0] ?? "";

const message = (id: string, role: "user" | "assistant", text: string): StreamJsonEvent => ({
  type: "message",
  message: { id, role, content: [{ type: "text", text }], createdAt: 0 },
  text,
});

const session = (sessionId: string, cwd: string): StreamJsonEvent => ({
  type: "session",
  sessionId,
  cwd,
  model: `script:${cwd.replace(/project$/, "script-1.json")}`,
  tools: ["Read", "LS", "Grep", "Glob", "Create", "Edit", "Execute", "TodoWrite", "AskUser", "FetchUrl"],
});

const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheCreationTokens: 0, thinkingTokens: 0 };
const missing = "Error: Error reading file: ENOENT: no such file: <root>/project/missing.txt";
const edited =
  '{"file_path":"<root>/project/greeting.txt","diffLines":[{"type":"removed","content":"helo","lineNumber":{"old":1}},{"type":"added","content":"hello","lineNumber":{"new":1}}],"content":"hello\\n"}';

const whole: Readonly<Record<string, readonly StreamJsonEvent[]>> = {
  plain: [
    session("<id-1>", "<root>/project"),
    message("<id-2>", "user", "What is it?"),
    { type: "thinking", messageId: "<id-3>", text: "They ask what it is." },
    message("<id-3>", "assistant", "It is a cat."),
    {
      type: "end",
      status: "completed",
      reason: "completed",
      text: "It is a cat.",
      sessionId: "<id-1>",
      model: "script:<root>/script-1.json",
      durationMs: 0,
      usage: { ...usage, inputTokens: 120, outputTokens: 9, cacheReadTokens: 30, thinkingTokens: 4 },
    },
  ],
  tools: [
    session("<id-1>", "<root>/project"),
    message("<id-2>", "user", "Fix the greeting"),
    message("<id-3>", "assistant", "I'll look first."),
    { type: "tool_call", id: "call_1", name: "Read", input: { file_path: "greeting.txt" }, messageId: "<id-3>" },
    { type: "tool_call", id: "call_2", name: "Read", input: { file_path: "missing.txt" }, messageId: "<id-3>" },
    { type: "tool_result", id: "call_1", name: "Read", content: "helo\n", text: "helo\n", isError: false },
    { type: "tool_result", id: "call_2", name: "Read", content: missing, text: missing, isError: true },
    {
      type: "tool_call",
      id: "call_3",
      name: "Edit",
      input: { file_path: "greeting.txt", old_str: "helo", new_str: "hello" },
      messageId: "<id-5>",
    },
    { type: "tool_result", id: "call_3", name: "Edit", content: edited, text: edited, isError: false },
    message("<id-7>", "assistant", "Fixed the greeting.\n"),
    {
      type: "end",
      status: "completed",
      reason: "completed",
      text: "Fixed the greeting.",
      sessionId: "<id-1>",
      model: "script:<root>/script-1.json",
      durationMs: 0,
      usage: { ...usage, inputTokens: 300, outputTokens: 30 },
    },
  ],
  "model-error": [
    session("<id-1>", "<root>/project"),
    message("<id-2>", "user", "Go on"),
    message("<id-3>", "assistant", "I was just"),
    { type: "error", error: { message: "prompt contains a forbidden word", type: "model_bad_request" } },
    {
      type: "end",
      status: "failed",
      reason: "failed",
      text: "I was just",
      sessionId: "<id-1>",
      model: "script:<root>/script-1.json",
      durationMs: 0,
      usage,
      error: { message: "prompt contains a forbidden word", type: "model_bad_request" },
    },
  ],
};

describe("the program's own runs", () => {
  it.each(Object.entries(whole))("are read correctly: %s", async (scenario, events) => {
    expect(await eventsOf(printed(scenario, "stream-json"))).toEqual(events);
  });

  it.each(scenarios)("have a line for each event, and end as the json object says: %s", async (scenario) => {
    const lines = printed(scenario, "stream-json");
    const events = await eventsOf(lines);
    expect(events.length).toBe(lines.trimEnd().split("\n").length);
    expect(events.map((event) => sdkTypes.StreamJsonEvent.parse(event))).toEqual(events);
    expect(events.filter(({ type }) => type === "other")).toEqual([]);
    const [ofObject, ...more] = await eventsOf(printed(scenario, "json"));
    expect([ofObject, more]).toEqual([events.at(-1), []]);
  });

  it("are read live", async () => {
    const bench = await createBench();
    try {
      await bench.file("greeting.txt", "helo\n");
      const model = await bench.script([
        {
          reasoning: "Both.",
          text: "I'll look.",
          tool_calls: [
            { name: "Read", input: { file_path: "greeting.txt" } },
            { name: "Glob", input: { patterns: "*.none" } },
          ],
        },
        { text: "It says helo." },
      ]);
      const child = bench.start(["exec", "-o", "stream-json", "-m", model, "Look"]);
      child.stdin?.end();
      const closed = new Promise((resolve) => child.on("close", resolve));
      if (child.stdout === null) throw new Error("The program has no stdout.");
      const events: StreamJsonEvent[] = [];
      for await (const event of readStreamJson(child.stdout)) events.push(event);
      expect(await closed).toBe(0);

      const ids = events.flatMap((event) => (event.type === "message" ? [event.message.id] : []));
      const sessionId = events[0]?.type === "session" ? events[0].sessionId : "";
      const [prompt = "", reply = "", answer = ""] = ids;
      const timeless = events.map((event) => {
        if (event.type === "message") return { ...event, message: { ...event.message, createdAt: 0 } };
        return event.type === "end" ? { ...event, durationMs: 0, usage } : event;
      });
      expect(new Set([sessionId, ...ids]).size).toBe(4);
      expect(timeless).toEqual([
        session(sessionId, bench.cwd),
        message(prompt, "user", "Look"),
        { type: "thinking", messageId: reply, text: "Both." },
        message(reply, "assistant", "I'll look."),
        { type: "tool_call", id: "call_1", name: "Read", input: { file_path: "greeting.txt" }, messageId: reply },
        { type: "tool_call", id: "call_2", name: "Glob", input: { patterns: "*.none" }, messageId: reply },
        { type: "tool_result", id: "call_1", name: "Read", content: "helo\n", text: "helo\n", isError: false },
        {
          type: "tool_result",
          id: "call_2",
          name: "Glob",
          content: "No matching files found",
          text: "No matching files found",
          isError: false,
        },
        message(answer, "assistant", "It says helo."),
        {
          type: "end",
          status: "completed",
          reason: "completed",
          text: "It says helo.",
          sessionId,
          model,
          durationMs: 0,
          usage,
        },
      ]);
    } finally {
      await bench.remove();
    }
  });

  it("end with their failure, even before they have a session", async () => {
    const bench = await createBench();
    try {
      const { stdout, code } = await bench.tinman(["exec", "-o", "stream-json", "-m", "no-such-model", "Look"]);
      const [error, end, ...more] = await eventsOf(stdout);
      expect([code, more]).toEqual([2, []]);
      expect(error).toMatchObject({ type: "error", error: { type: "model_unknown" } });
      expect(end).toMatchObject({
        type: "end",
        status: "failed",
        reason: "model_unknown",
        text: "",
        sessionId: "",
        error: { type: "model_unknown" },
      });
    } finally {
      await bench.remove();
    }
  });
});
