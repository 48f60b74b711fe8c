import { describe, expect, test } from "vitest";
import type { Message } from "../../../src/engine/message.ts";
import type { ModelEvent } from "../../../src/engine/ports.ts";
import { createScriptedModel } from "../../../src/models/scripted/scripted.ts";
import { assistantMessage, collect, createChat, instantClock, requestOf, userMessage } from "../harness.ts";

const model = (replies: readonly unknown[]) =>
  createScriptedModel({ id: "script:s.yaml", path: "s.yaml", script: { replies }, clock: instantClock() });
const textsOf = (events: readonly ModelEvent[]) =>
  events.flatMap((event) => (event.type === "text" ? [event.text] : []));
const ask = (replies: readonly unknown[], messages: readonly Message[]) => collect(model(replies), requestOf(messages));

describe("choosing a reply", () => {
  test("replies without conditions are used in order", async () => {
    const chat = createChat(
      model([{ text: "one" }, { tool_calls: [{ name: "LS" }] }, { text: "three" }, { text: "four" }]),
    );
    expect((await chat.say("a")).text).toBe("one");
    expect(await chat.say("b")).toMatchObject({ calls: [{ name: "LS", input: {} }], text: "three" });
    expect((await chat.say("c")).text).toBe("four");
  });

  test("the first rule that matches wins, up to its limit", async () => {
    const rules = [
      { when: { user: "/list|show/i" }, times: "any", tool_calls: [{ name: "LS" }] },
      { when: { after_tool: "LS", tool_result: "/\\.md$/m" }, times: "any", text: "docs: {{tool_result}}" },
      { when: { after_tool: "LS" }, times: "any", text: "files: {{tool_result}}" },
      { when: { user: "twice" }, times: 2, text: "yes" },
      { times: "any", text: "what?" },
    ];
    const chat = createChat(model(rules));
    expect((await chat.say("Show it", { results: { LS: "a.md" } })).text).toBe("docs: a.md");
    expect((await chat.say("LIST it", { results: { LS: "a.ts" } })).text).toBe("files: a.ts");
    expect((await chat.say("twice")).text).toBe("yes");
    expect((await chat.say("hello")).text).toBe("what?");
    expect((await chat.say("twice")).text).toBe("yes");
    expect((await chat.say("twice")).text).toBe("what?");
  });

  test("a rule does not advance the replies without conditions", async () => {
    const chat = createChat(
      model([{ text: "one" }, { text: "two" }, { when: { user: "weather" }, times: "any", text: "sunny" }]),
    );
    const texts: string[] = [];
    for (const prompt of ["a", "weather?", "weather!", "b"]) texts.push((await chat.say(prompt)).text);
    expect(texts).toEqual(["one", "sunny", "sunny", "two"]);
  });

  test.each([
    [{ contains: "needle" }, "hay needle", "other"],
    [{ system: "/you are tinman/i" }, "x", undefined],
    [{ model_call: 2 }, undefined, "x"],
    [{ user: "a", contains: "b" }, "a b", "a"],
  ])("condition %j", async (when, matching, other) => {
    const replies = [
      { when, text: "rule" },
      { times: "any", text: "else" },
    ];
    if (matching !== undefined) expect((await createChat(model(replies)).say(matching)).text).toBe("rule");
    if (other !== undefined) expect((await createChat(model(replies)).say(other)).text).toBe("else");
  });

  test("model_call matches the n-th call of the process", async () => {
    const chat = createChat(
      model([
        { when: { model_call: 2 }, text: "second" },
        { times: "any", text: "else" },
      ]),
    );
    const texts: string[] = [];
    for (const prompt of ["a", "b", "c"]) texts.push((await chat.say(prompt)).text);
    expect(texts).toEqual(["else", "second", "else"]);
  });

  test("a rule with a prompt and a result condition matches after the tool call", async () => {
    const rules = [
      { when: { user: "go" }, times: "any", tool_calls: [{ name: "LS" }] },
      { when: { user: "go", tool_result: "stop" }, text: "stopped" },
      { when: { after_tool: "LS" }, text: "other" },
    ];
    expect((await createChat(model(rules)).say("go", { results: { LS: "stop" } })).text).toBe("stopped");
    expect((await createChat(model(rules)).say("go", { results: { LS: "run" } })).text).toBe("other");
  });

  test("a new process continues where the conversation is", async () => {
    const script = [
      { text: "one" },
      { when: { user: "rule" }, text: "once" },
      { error: { status: 503 } },
      { text: "two" },
      { error: { status: 400 } },
      { text: "three" },
      { when: { user: "rule" }, times: "any", text: "later" },
    ];
    const messages = createChat(model(script)).messages;
    const next = async (prompt: string) => {
      const chat = createChat(model(script));
      chat.messages.push(...messages.splice(0));
      const turn = await chat.say(prompt, { reminders: ["r"] });
      messages.push(...chat.messages);
      return turn.error?.failure.code ?? turn.text;
    };
    expect(await next("a")).toBe("one");
    expect(await next("rule")).toBe("once");
    expect(await next("rule")).toBe("later");
    expect(await next("b")).toBe("model_overloaded");
    expect(await next("c")).toBe("two");
    expect(await next("d")).toBe("model_bad_request");
    expect(await next("rule")).toBe("later");
    expect(await next("e")).toBe("three");
    expect(await next("f")).toBe("script_exhausted");
  });

  test("errors that an earlier process retried stay used", async () => {
    const script = [{ error: { status: 503 } }, { error: "connection" }, { text: "one" }, { text: "two" }];
    const before = [userMessage("a"), assistantMessage([{ type: "text", text: "one" }])];
    expect(textsOf(await ask(script, [...before, userMessage("b")]))).toEqual(["two"]);
  });

  test("a repeated request gets the next reply", async () => {
    const port = model([{ error: { status: 503 } }, { text: "one" }, { text: "two" }]);
    const first = userMessage("a");
    expect((await collect(port, requestOf([first]))).map((event) => event.type)).toEqual(["error"]);
    expect(textsOf(await collect(port, requestOf([first])))).toEqual(["one"]);
    const answered = [first, assistantMessage([{ type: "text", text: "one" }]), userMessage("b")];
    expect(textsOf(await collect(port, requestOf(answered)))).toEqual(["two"]);
  });

  test("keeps conversations apart", async () => {
    const port = model([{ text: "one" }, { text: "two" }]);
    const [left, right] = [createChat(port), createChat(port)];
    expect((await left.say("a")).text).toBe("one");
    expect((await right.say("a")).text).toBe("one");
    expect((await right.say("b")).text).toBe("two");
    expect((await left.say("b")).text).toBe("two");
  });

  test("call ids are unique in a conversation", async () => {
    const chat = createChat(
      model([{ tool_calls: [{ name: "LS" }, { name: "Read" }] }, { tool_calls: [{ name: "LS" }] }, { text: "done" }]),
    );
    await chat.say("go");
    const ids = chat.messages.flatMap((message) =>
      message.role === "assistant"
        ? message.content.flatMap((block) => (block.type === "tool_call" ? [block.id] : []))
        : [],
    );
    expect(ids).toEqual(["call_1", "call_2", "call_3"]);
  });
});
