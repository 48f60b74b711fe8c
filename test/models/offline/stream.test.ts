import { describe, expect, test } from "vitest";
import { createOfflineModel } from "../../../src/models/offline/offline-model.ts";
import { assistantMessage, collect, createChat, requestOf, toolMessage, userMessage } from "../harness.ts";

const chat = () => createChat(createOfflineModel());

describe("the stream", () => {
  test("text in chunks, the call, usage, end", async () => {
    const events = await collect(createOfflineModel(), requestOf([userMessage("run the command: echo hello")]));
    const types = events.map((event) => event.type).filter((type, index, all) => type !== all[index - 1]);
    expect(types).toEqual(["text", "tool_input", "tool_call", "usage", "end"]);
    const call = events.find((event) => event.type === "tool_call");
    const pieces = events.filter((event) => event.type === "tool_input");
    expect(pieces.map((piece) => piece.text).join("")).toBe(call?.inputText);
    expect(call).toEqual({ type: "tool_call", id: "call_1", name: "Execute", inputText: expect.any(String) });
    expect(events.at(-1)).toEqual({ type: "end", stop: "tool_calls" });
    const usage = events.find((event) => event.type === "usage")?.usage;
    expect(usage).toEqual({
      input: expect.any(Number),
      output: expect.any(Number),
      cacheRead: 0,
      cacheWrite: 0,
      thinking: 0,
    });
    expect(usage?.input).toBeGreaterThan(10);
  });

  test("several text chunks form the answer", async () => {
    const turn = await chat().say("what can you do?");
    expect(turn.chunks).toBeGreaterThan(5);
    expect(turn.text.startsWith("I am Tinman's offline model")).toBe(true);
  });

  test("usage counts a Han character as a token, four letters as one, and eight for the message itself", async () => {
    const bare = { system: "", tools: [] };
    const usageOf = async (text: string) =>
      (await collect(createOfflineModel(), requestOf([userMessage(text)], bare))).find(
        (event) => event.type === "usage",
      )?.usage;
    expect(await usageOf("Just reply ABCDEFGH")).toMatchObject({ input: 13, output: 2 });
    expect(await usageOf("只回复你好")).toMatchObject({ input: 13, output: 2 });
  });

  test("call ids continue those of the conversation", async () => {
    const call = { type: "tool_call", id: "call_41", name: "LS", input: {} } as const;
    const result = { type: "tool_result", callId: "call_41", name: "LS", status: "ok", text: "" } as const;
    const before = [
      userMessage("list files"),
      assistantMessage([call], "tool_calls"),
      toolMessage([result]),
      assistantMessage([{ type: "text", text: "x" }]),
    ];
    const events = await collect(createOfflineModel(), requestOf([...before, userMessage("list files")]));
    expect(events.find((event) => event.type === "tool_call")).toMatchObject({ id: "call_42" });
  });

  test("the same request gets the same reply", async () => {
    const request = requestOf([userMessage("create file a.txt with hi then read a.txt")]);
    expect(await collect(createOfflineModel(), request)).toEqual(await collect(createOfflineModel(), request));
  });

  test("an abort ends it", async () => {
    const controller = new AbortController();
    const seen: string[] = [];
    for await (const event of createOfflineModel().stream(
      requestOf([userMessage("what can you do?")]),
      controller.signal,
    )) {
      seen.push(event.type);
      if (seen.length === 2) controller.abort();
    }
    expect(seen).toEqual(["text", "text"]);
  });

  test("stops after eight calls", async () => {
    const steps = Array.from({ length: 12 }, (_, index) => `run echo ${index}`).join(" then ");
    const turn = await chat().say(steps);
    expect(turn.calls).toHaveLength(8);
    expect(turn.text).toContain("the rest are not");
  });

  test("does not call a tool again that was removed in the middle", async () => {
    const call = { type: "tool_call", id: "call_1", name: "LS", input: {} } as const;
    const result = { type: "tool_result", callId: "call_1", name: "LS", status: "ok", text: "kept.txt" } as const;
    const messages = [userMessage("list files"), assistantMessage([call], "tool_calls"), toolMessage([result])];
    const events = await collect(createOfflineModel(), requestOf(messages, { tools: [] }));
    const text = events.map((event) => (event.type === "text" ? event.text : "")).join("");
    expect(text).toContain("kept.txt");
  });
});
