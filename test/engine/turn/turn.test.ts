import { expect, test } from "vitest";
import type { ModelEvent } from "../../../src/engine/ports.ts";
import { ask, calls, createKit, listen, says, settings, usage } from "../../fakes/kit.ts";

test("a plain turn has its events in a fixed order", async () => {
  const { open } = createKit([says("Hi there")]);
  const session = await open();
  const heard = listen(session);
  const outcome = await ask(session, "hello");
  await heard.stop();

  expect(outcome).toEqual({
    turnId: "id-3",
    reason: "completed",
    finalText: "Hi there",
    usage,
    modelCalls: 1,
    denials: [],
    durationMs: 0,
  });
  expect(heard.events).toEqual([
    { type: "prompt.accepted", messageId: "id-2", content: [{ type: "text", text: "hello" }], ...at(2) },
    { type: "turn.started", turnId: "id-3", model: "fake", prompts: ["id-2"], ...at(3) },
    { type: "prompt.taken", messageId: "id-2", reminders: [], ...at(4), turnId: "id-3" },
    { type: "session.titled", title: "hello", ...at(5), turnId: "id-3" },
    { type: "model.called", messageId: "id-4", model: "fake", ...at(), turnId: "id-3" },
    { type: "message.started", messageId: "id-4", ...at(), turnId: "id-3" },
    {
      type: "message.delta",
      messageId: "id-4",
      block: 0,
      kind: "text",
      offset: 0,
      text: "Hi there",
      ...at(),
      turnId: "id-3",
    },
    { type: "message.ended", message: reply("id-4", "Hi there"), ...at(6), turnId: "id-3" },
    { type: "usage.updated", call: usage, total: usage, ...at(7), turnId: "id-3" },
    { type: "turn.ended", turnId: "id-3", reason: "completed", usage, durationMs: 0, ...at(8) },
  ]);
});

test("tools run and their results go back to the model, until it makes no more calls", async () => {
  const kit = createKit([calls(["Read", { file_path: "readme.md" }]), says("It says hello.")]);
  const session = await kit.open();
  const outcome = await ask(session, "what does it say?");
  expect({ reason: outcome.reason, text: outcome.finalText, calls: outcome.modelCalls }).toEqual({
    reason: "completed",
    text: "It says hello.",
    calls: 2,
  });
  expect(kit.requests[1]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
  expect(session.history().at(2)?.content).toEqual([
    { type: "tool_result", callId: "call_1", name: "Read", status: "ok", text: "hello\n", forModel: "1→hello\n" },
  ]);
});

test("calls have results if the turn is interrupted while their reply is stored", async () => {
  const session = await createKit([calls(["Read", { file_path: "readme.md" }])]).open();
  const running = ask(session, "go");
  for await (const { type } of session.attach({ approve: false, answer: false, onDetach: "keep" }).events()) {
    if (type === "message.ended") void session.interrupt();
    if (type === "turn.ended") break;
  }
  expect((await running).reason).toBe("interrupted");
  expect(session.history().at(2)?.content).toMatchObject([{ callId: "call_1", status: "interrupted" }]);
});

test("an unknown tool, wrong arguments and broken JSON are results for the model", async () => {
  const broken: ModelEvent[] = [
    { type: "tool_call", id: "a", name: "Nope", inputText: "{}" },
    { type: "tool_call", id: "b", name: "Read", inputText: '{"path":1}' },
    { type: "tool_call", id: "c", name: "Read", inputText: '{"file_path": "rea' },
    { type: "end", stop: "tool_calls" },
  ];
  const kit = createKit([broken, says("sorry")]);
  const session = await kit.open();
  const outcome = await ask(session, "go");
  expect(outcome.reason).toBe("completed");
  const results = session
    .history()
    .at(2)
    ?.content.map((block) => block.type === "tool_result" && [block.callId, block.status, block.text]);
  expect(results).toEqual([
    ["a", "failed", expect.stringMatching(/^Error: Unknown tool: Nope\. Available tools: Read, /)],
    ["b", "failed", expect.stringContaining("file_path is required and must be a string")],
    ["c", "failed", "Error: The arguments of Read are not valid JSON."],
  ]);
});

test("calls that share an id get unique ones, and both results come back", async () => {
  const twins: ModelEvent[] = [
    { type: "tool_call", id: "x", name: "Read", inputText: '{"file_path":"readme.md"}' },
    { type: "tool_call", id: "x", name: "LS", inputText: "{}" },
    { type: "end", stop: "tool_calls" },
  ];
  const kit = createKit([twins, says("ok")]);
  const session = await kit.open();
  await ask(session, "go");
  expect(
    session
      .history()
      .at(2)
      ?.content.map((block) => block.type === "tool_result" && block.callId),
  ).toEqual(["x", "x-2"]);
});

test("a model failure ends the turn and keeps the text so far", async () => {
  const failure = { code: "model_failed", message: "500 oops" } as const;
  const kit = createKit([
    [
      { type: "text", text: "partial" },
      { type: "error", failure, retryable: false },
    ],
    says("fine"),
  ]);
  const session = await kit.open();
  const outcome = await ask(session, "go");
  expect([outcome.reason, outcome.failure]).toEqual(["failed", failure]);
  expect(session.history().at(1)).toMatchObject({ role: "assistant", stop: "failed", content: [{ text: "partial" }] });
  expect((await ask(session, "again")).reason).toBe("completed");
});

test("a refusal ends the turn as refused, with the model's text", async () => {
  const session = await createKit([
    [
      { type: "text", text: "No." },
      { type: "end", stop: "refusal" },
    ],
  ]).open();
  const outcome = await ask(session, "go");
  expect([outcome.reason, outcome.failure]).toEqual([
    "refused",
    { code: "model_refused", message: "The model, or its provider, stopped answering after some text." },
  ]);
});

test("calls of a refused reply never run", async () => {
  const kit = createKit([
    [
      { type: "tool_call", id: "c1", name: "LS", inputText: "{}" },
      { type: "end", stop: "refusal" },
    ],
  ]);
  const session = await kit.open();
  const outcome = await ask(session, "go");
  expect([outcome.reason, outcome.failure, outcome.modelCalls]).toEqual([
    "refused",
    { code: "model_refused", message: "The model declined to answer." },
    1,
  ]);
  expect(session.history().map(({ role }) => role)).toEqual(["user"]);
});

test.each<[string, ModelEvent[], string]>([
  ["an empty reply", [{ type: "end", stop: "end" }], "model_empty"],
  ["no end", [{ type: "text", text: "x" }], "model_failed"],
])("a model that gives %s has failed with a message", async (_, events, code) => {
  const session = await createKit([events]).open();
  const outcome = await ask(session, "go");
  expect([outcome.reason, outcome.failure?.code]).toEqual(["failed", code]);
  expect(outcome.failure?.message).not.toBe("");
});

test("text before a call is not an answer: a turn that ends on an empty reply has failed", async () => {
  const empty: ModelEvent[] = [{ type: "end", stop: "end" }];
  const call: ModelEvent[] = [{ type: "text", text: "Let me look." }, ...calls(["LS", {}])];
  const outcome = await ask(await createKit([call, empty]).open(), "go");
  expect([outcome.reason, outcome.failure?.code, outcome.finalText]).toEqual(["failed", "model_empty", "Let me look."]);
});

test("a truncated answer with an empty continuation is valid", async () => {
  const cut: ModelEvent[] = [
    { type: "text", text: "All of it." },
    { type: "end", stop: "length" },
  ];
  const outcome = await ask(await createKit([cut, [{ type: "end", stop: "end" }]]).open(), "go");
  expect([outcome.reason, outcome.finalText]).toEqual(["completed", "All of it."]);
});

test("stops an endless answer, and keeps what came", async () => {
  const endless = async function* (): AsyncGenerator<ModelEvent> {
    for (;;) yield { type: "text", text: "x".repeat(100_000) };
  };
  const session = await createKit([endless]).open();
  const outcome = await ask(session, "go");
  expect([outcome.reason, outcome.failure?.code]).toEqual(["failed", "model_failed"]);
  expect(session.history().at(1)).toMatchObject({ stop: "failed" });
});

test("a model that throws is a failed turn, not a crash", async () => {
  const session = await createKit([
    () => {
      throw new Error("bug in an adapter");
    },
  ]).open();
  expect(await ask(session, "go")).toMatchObject({
    reason: "failed",
    failure: { code: "internal", message: "bug in an adapter" },
  });
});

test("continues a truncated answer at most three times", async () => {
  const cut = (text: string): ModelEvent[] => [
    { type: "text", text },
    { type: "end", stop: "length" },
  ];
  const whole = createKit([cut("one "), cut("two "), says("three")]);
  expect(await ask(await whole.open(), "count")).toMatchObject({
    reason: "completed",
    finalText: "one two three",
    modelCalls: 3,
  });
  expect(whole.requests[2]?.messages.map(({ role }) => role)).toEqual([
    "user",
    "assistant",
    "user",
    "assistant",
    "user",
  ]);

  const endless = createKit(Array.from({ length: 10 }, () => cut("again ")));
  const outcome = await ask(await endless.open(), "count");
  expect(outcome).toMatchObject({ reason: "length", failure: { code: "output_limit" }, modelCalls: 4 });
});

test("model calls and tokens are limited", async () => {
  const endless = Array.from({ length: 10 }, () => calls(["LS", {}]));
  const few = await createKit(endless).open();
  const byCalls = await few.prompt([{ type: "text", text: "go" }], { limits: { maxModelCalls: 2 } }).outcome;
  expect(byCalls).toMatchObject({ reason: "limit", failure: { code: "limit_turns" }, modelCalls: 2 });

  const cheap = await createKit(endless).open();
  const byTokens = await cheap.prompt([{ type: "text", text: "go" }], { limits: { maxTokens: 40 } }).outcome;
  expect(byTokens).toMatchObject({ reason: "limit", failure: { code: "limit_tokens" }, modelCalls: 3 });
});

test.each(["hi", "words ".repeat(2_000)])("reports a window that our prompt and tools fill: %.5s", async (text) => {
  const kit = createKit([], { model: { contextWindow: 4_000 } });
  const outcome = await ask(await kit.open(), text);
  expect(outcome).toMatchObject({ reason: "context_full", modelCalls: 0 });
  expect(outcome.failure?.message).toMatch(
    /^The window of fake \(4000 tokens\) is too small: the system prompt and the tools take about \d{4}, and 1000 are kept for the answer\. Use a model with a larger window, offer fewer tools, or correct contextWindow of its entry in config\.yaml\.$/,
  );
});

test("a prompt too large for the window ends with its turn, and the conversation continues without it", async () => {
  const kit = createKit([says("ok"), says("well")], { model: { contextWindow: 20_000 } });
  const session = await kit.open();
  const heard = listen(session);
  await ask(session, "small");
  const text = "words ".repeat(20_000);
  const outcome = await session.prompt([{ type: "text", text }], { messageId: "large" }).outcome;
  expect(outcome).toMatchObject({ reason: "context_full", failure: { code: "context_full" }, modelCalls: 0 });
  expect(outcome.failure?.message).toMatch(/^The prompt alone does not fit .* 20000 tokens/);
  expect(session.waiting()).toEqual([]);
  expect((await ask(session, "small again")).finalText).toBe("well");
  expect(kit.requests[1]?.messages.map(({ content }) => content.at(-1))).toMatchObject([
    { text: "small" },
    { text: "ok" },
    { text: "small again" },
  ]);
  await heard.stop();
  const ends = heard.events.flatMap((event) => (event.type === "turn.ended" ? [[event.reason, event.untaken]] : []));
  expect(ends).toEqual([
    ["completed", undefined],
    ["context_full", ["large"]],
    ["completed", undefined],
  ]);
});

test("reminders come before the user's own text and are not repeated", async () => {
  const store = createKit([]).store;
  const first = createKit([says("a"), says("b")], { store, reminders: ["You are in /ws."] });
  const session = await first.open();
  await ask(session, "one");
  await ask(session, "two");
  await session.close();
  const second = createKit([says("c")], { store, reminders: ["You are in /ws.", "Branch: main."] });
  const { session: resumed } = await second.engine.resume(session.id);
  await ask(resumed, "three");
  const users = resumed.history().filter(({ role }) => role === "user");
  expect(users.map(({ content }) => content)).toEqual([
    [
      { type: "reminder", text: "You are in /ws." },
      { type: "text", text: "one" },
    ],
    [{ type: "text", text: "two" }],
    [
      { type: "reminder", text: "Branch: main." },
      { type: "text", text: "three" },
    ],
  ]);
});

test("streamed text reaches the log at bounded intervals", async () => {
  const chunks = Array.from({ length: 100 }, (): ModelEvent => ({ type: "text", text: "x".repeat(100) }));
  const kit = createKit([[...chunks, { type: "end", stop: "end" }]]);
  const session = await kit.open();
  await ask(session, "long");
  const { events } = await kit.store.read(session.id);
  const saved = events.filter((event) => event.type === "message.checkpoint");
  expect(saved.map(({ from, text }) => [from, text.length])).toEqual([
    [0, 4_100],
    [4_100, 4_100],
  ]);
});

test("thinking keeps its signature and its own block", async () => {
  const kit = createKit([
    [
      { type: "thinking", text: "hm" },
      { type: "thinking", text: " hm", proof: { anthropic: { signature: "s1" } } },
      { type: "text", text: "yes" },
      { type: "end", stop: "end" },
    ],
  ]);
  const session = await kit.open();
  await ask(session, "think");
  expect(session.history().at(1)?.content).toEqual([
    { type: "thinking", text: "hm hm", proof: { anthropic: { signature: "s1" } } },
    { type: "text", text: "yes" },
  ]);
});

test("text after a call that broke off is a new block, because the previous one was reported as complete", async () => {
  const failure = { code: "model_failed", message: "cut" } as const;
  const kit = createKit([
    [
      { type: "text", text: "First, " },
      { type: "tool_input", id: "c1", name: "LS", text: "{" },
      { type: "retry", attempt: 1, delayMs: 0, failure },
      { type: "text", text: "this " },
      { type: "text", text: "it is." },
      { type: "end", stop: "end" },
    ],
  ]);
  const session = await kit.open();
  const heard = listen(session);
  const { finalText } = await ask(session, "go");
  await heard.stop();
  const deltas = heard.events.filter((event) => event.type === "message.delta");
  expect(deltas.map(({ block, offset, text }) => [block, offset, text])).toEqual([
    [0, 0, "First, "],
    [1, 0, "this "],
    [1, 5, "it is."],
  ]);
  expect(session.history().at(1)?.content).toEqual([
    { type: "text", text: "First, " },
    { type: "text", text: "this it is." },
  ]);
  expect(finalText).toBe("First, this it is.");
});

test("spec mode uses its own model and effort, and says so to the model", async () => {
  const kit = createKit([says("plan")]);
  const session = await kit.open({ mode: "spec", specReasoningEffort: "high" });
  await ask(session, "plan it");
  expect(kit.requests[0]?.reasoningEffort).toBe("high");
  expect(kit.requests[0]?.system).toContain("Spec mode is on");
  expect(settings.mode).toBe("auto");
});

function at(seq?: number) {
  const common = { at: 1_000_000, sessionId: "id-1" };
  return seq === undefined ? common : seq >= 4 ? { ...common, seq, turnId: "id-3" } : { ...common, seq };
}

function reply(id: string, text: string) {
  return { id, role: "assistant", content: [{ type: "text", text }], createdAt: 1_000_000, stop: "end", model: "fake" };
}
