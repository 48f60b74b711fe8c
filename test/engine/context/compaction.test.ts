import { expect, test } from "vitest";
import type { Message } from "../../../src/engine/message.ts";
import type { ModelEvent, ModelPort, ModelRequest } from "../../../src/engine/ports.ts";
import type { Tool } from "../../../src/engine/tool.ts";
import { ask, calls, createKit, type FakeReply, info, listen, says } from "../../fakes/kit.ts";

/** A tool whose result has this many characters. */
const dump: Tool = {
  name: "Dump",
  kind: "read",
  title: "Dump",
  description: "Dumps",
  concurrent: true,
  load: async () => ({
    input: { safeParse: (data: unknown) => ({ success: true, data }) } as never,
    access: async () => [],
    run: async (input) => {
      const { size, mark = "" } = input as { size: number; mark?: string };
      return { text: `${mark}${"data ".repeat(Math.ceil(size / 5))}`, status: "ok" };
    },
  }),
};

function textOf(messages: readonly Message[]): string {
  return messages.flatMap(({ content }) => content.map((block) => ("text" in block ? block.text : ""))).join("\n");
}

/** A model that dumps once per size, then says "done"; it answers a summary request with `summary`. */
function working(sizes: readonly number[], summary: (request: ModelRequest) => readonly ModelEvent[]): FakeReply[] {
  const left = sizes.map((size, index) => calls(["Dump", { size, mark: `result ${index}: ` }]));
  const reply: FakeReply = (request) => {
    if (request.purpose === "summary") return summary(request);
    return left.shift() ?? says("done");
  };
  return Array.from({ length: 200 }, () => reply);
}

const small = { contextWindow: 10_000, maxOutputTokens: 1_000 };
const summary = () => says("The summary: the code word is PLUM.");
const failing = (): ModelEvent[] => [
  { type: "error", failure: { code: "model_failed", message: "no summary today" }, retryable: false },
];

test("old results become one line each, and the conversation keeps them whole", async () => {
  const kit = createKit(working([12_000, 12_000, 8_000, 8_000], summary), { tools: [dump], model: small });
  const session = await kit.open();
  const outcome = await ask(session, "work");

  expect(outcome).toMatchObject({ reason: "completed", finalText: "done" });
  const last = kit.requests.at(-1)?.messages ?? [];
  expect(textOf(last)).toMatch(
    /\[The result of Dump \{"size":12000,"mark":"result 0: "\} \(\d+ characters\) was removed to save room\. Call the tool again if you need it\.\]/,
  );
  expect(session.history()).toHaveLength(10);
  expect(textOf(session.history())).not.toContain("removed to save room");
});

test("a long turn in a small window is summarised repeatedly, and keeps its prompt verbatim", async () => {
  const sizes = Array.from({ length: 60 }, () => 2_000);
  const kit = createKit(working(sizes, summary), { tools: [dump], model: small, reminders: ["AGENTS: be kind"] });
  const session = await kit.open();
  const heard = listen(session);
  const outcome = await ask(session, "Remember the number 4711 and dump sixty times.");
  await heard.stop();

  expect(outcome).toMatchObject({ reason: "completed", modelCalls: 61 });
  const last = textOf(kit.requests.at(-1)?.messages ?? []);
  expect(last).toContain("Remember the number 4711 and dump sixty times.");
  expect(last).toContain("The summary: the code word is PLUM.");
  expect(last).toContain("AGENTS: be kind");
  expect(session.history()).toHaveLength(1 + 60 * 2 + 1);
  const compactions = heard.events.filter((event) => event.type === "context.compacted");
  expect(compactions.length).toBeGreaterThan(1);
  for (const event of compactions) expect(event.tokensAfter).toBeLessThan(event.tokensBefore);
  const started = heard.types().filter((type) => type === "compaction.started");
  expect(started).toHaveLength(heard.types().filter((type) => type === "compaction.ended").length);
});

test.each([
  ["fails", failing],
  ["is empty", () => says("")],
  ["calls tools", () => calls(["Dump", { size: 5 }])],
])("does without a summary that %s, after at most two tries", async (_, bad) => {
  const { kit, heard } = await manySteps(bad);
  expect(kit.requests.filter(({ purpose }) => purpose === "summary")).toHaveLength(2);
  const told = heard.events.flatMap((event) => (event.type === "notice" ? [event.text] : []));
  expect(new Set(told).size).toBe(1);
  expect(told[0]).toMatch(/^The conversation is compacted without a summary\. .*\.$|^The .*no summary today$/);
});

test("cuts a summary that grows", async () => {
  const { kit } = await manySteps(() => says("words ".repeat(20_000)));
  for (const request of kit.requests) expect(textOf(request.messages).length).toBeLessThan(10_000 * 4);
});

/** Many steps in a small window, with this answer to requests for a summary. */
async function manySteps(bad: () => readonly ModelEvent[]) {
  const sizes = Array.from({ length: 150 }, () => 2_000);
  const kit = createKit(working(sizes, bad), { tools: [dump], model: small });
  const session = await kit.open();
  const heard = listen(session);
  const outcome = await ask(session, "Remember the number 4711.");
  await heard.stop();

  expect(outcome).toMatchObject({ reason: "completed", modelCalls: 151 });
  const last = textOf(kit.requests.at(-1)?.messages ?? []);
  expect(last).toContain("Remember the number 4711.");
  expect(last).toContain("no longer in your view");
  return { kit, heard };
}

test("twenty large results in one reply fit, and so does the next prompt", async () => {
  const many = calls(...Array.from({ length: 20 }, () => ["Dump", { size: 40_000 }] as const));
  const kit = createKit([many, says("read"), says("hello")], { tools: [dump], model: { contextWindow: 32_000 } });
  const session = await kit.open();
  expect(await ask(session, "read all")).toMatchObject({ reason: "completed", finalText: "read" });
  expect(await ask(session, "hi")).toMatchObject({ reason: "completed", finalText: "hello" });
});

test('a provider that reports "too long" is called once more, after compaction', async () => {
  const tooLong: ModelEvent[] = [
    { type: "error", failure: { code: "context_full", message: "prompt is too long" }, retryable: false },
  ];
  const steps = [8_000, 8_000, 8_000].map((size) => calls(["Dump", { size }]));
  const answers = [...steps, tooLong, says("done"), tooLong, tooLong];
  const reply = (request: ModelRequest) => (request.purpose === "summary" ? summary() : (answers.shift() ?? failing()));
  const kit = createKit(
    Array.from({ length: 20 }, () => reply),
    { tools: [dump] },
  );
  const session = await kit.open();
  const heard = listen(session);
  expect(await ask(session, "go")).toMatchObject({ reason: "completed", finalText: "done" });
  expect(await ask(session, "again")).toMatchObject({ reason: "context_full", failure: { code: "context_full" } });
  await heard.stop();
  expect(heard.events.flatMap((event) => (event.type === "context.compacted" ? [event.trigger] : []))).toContain(
    "provider",
  );
});

test("with compaction off, a full window ends the turn with its reason", async () => {
  const kit = createKit(working([20_000, 20_000, 20_000], summary), {
    tools: [dump],
    model: small,
    compaction: { isOff: true },
  });
  const outcome = await ask(await kit.open(), "go");
  expect(outcome).toMatchObject({ reason: "context_full", failure: { code: "context_full" } });
  expect(outcome.failure?.message).toBe(
    "The conversation no longer fits the model's window of 10000 tokens. Compaction is switched off: switch it on, or compact on request. Otherwise start a new session, or continue with a model that has a larger one.",
  );
});

test("a resumed session and a fork read the same view", async () => {
  const sizes = Array.from({ length: 30 }, () => 2_000);
  const kit = createKit(working(sizes, summary), { tools: [dump], model: small });
  const session = await kit.open();
  await ask(session, "work");
  const before = session.snapshot().view;
  await session.close();

  const { session: resumed } = await kit.engine.resume(session.id);
  expect(resumed.snapshot().view).toEqual(before);
  const { session: forked } = await kit.engine.fork(session.id);
  expect(forked.snapshot().view).toEqual(before);
  expect(forked.history()).toEqual(resumed.history());
});

test("keeps todos, the names of changed files and the plan, cutting the oldest first", async () => {
  const list = "1. [completed] one\n2. [in_progress] two";
  const steps = [
    calls(["TodoWrite", { todos: list }], ["Create", { file_path: "/ws/made.txt", content: "x" }]),
    ...Array.from({ length: 12 }, (_, index) => calls(["Read", { file_path: `/ws/large.txt`, offset: index }])),
  ];
  const replies: FakeReply[] = Array.from({ length: 40 }, () => (request: ModelRequest) => {
    return request.purpose === "summary" ? summary() : (steps.shift() ?? says("done"));
  });
  const kit = createKit(replies, {
    files: { "/ws/large.txt": "line of text\n".repeat(1_000) },
    model: { contextWindow: 24_000, maxOutputTokens: 1_000 },
    reminders: ["Instructions from AGENTS.md: ".concat("rule ".repeat(8_000))],
  });
  const session = await kit.open();
  expect(await ask(session, "Do the two things.")).toMatchObject({ reason: "completed" });
  const last = textOf(kit.requests.at(-1)?.messages ?? []);
  expect(last).toContain(list);
  expect(last).toContain("Do the two things.");
  expect(last).toContain("made.txt");
  expect(last).toContain("Instructions from AGENTS.md");
  expect(last).toContain("shortened to save room");
  expect((await session.contextUse()).isShortened).toBe(true);
});

test("clients can request it between turns, if there is something to compact", async () => {
  const kit = createKit([says("first"), summary(), says("second")]);
  const session = await kit.open();
  await expect(session.compact()).rejects.toMatchObject({
    code: "usage",
    message: "Nothing to compact — the conversation is empty.",
  });
  await ask(session, "hello");
  expect(await session.compact("mind the gap")).toEqual({ removed: 2 });
  expect(textOf(kit.requests[1]?.messages ?? [])).toContain("mind the gap");
  expect(await ask(session, "go on")).toMatchObject({ finalText: "second" });
  expect(textOf(kit.requests[2]?.messages ?? [])).toContain("The summary: the code word is PLUM.");
  expect(session.history()).toHaveLength(4);
});

test("what is compacted already is not compacted again until there is more", async () => {
  const long = `At length: ${"words ".repeat(200)}`;
  const kit = createKit([says("first"), summary(), says("hi"), says(long), summary()]);
  const session = await kit.open();
  const nothing = { code: "usage", message: "Nothing to compact — almost nothing follows the last summary." };
  await ask(session, "hello");
  await session.compact();
  const { seq } = session.snapshot();
  await expect(session.compact("Mind the gap.")).rejects.toMatchObject(nothing);
  expect([session.snapshot().seq, kit.requests.length]).toEqual([seq, 2]);
  await ask(session, "hi");
  await expect(session.compact()).rejects.toMatchObject(nothing);
  await ask(session, "tell me more");
  expect(await session.compact()).toEqual({ removed: 5 });
});

test("a request for a summary that must be shortened keeps its beginning, which may have earlier notes", async () => {
  const mark = "x".repeat(24_000);
  const steps = [1, 2, 3].map((size) => calls(["Dump", { size, mark }]));
  const reply: FakeReply = (request) => (request.purpose === "summary" ? summary() : (steps.shift() ?? says("done")));
  const kit = createKit([reply, reply, reply, reply, reply, reply, reply], { tools: [dump], model: small });
  expect(await ask(await kit.open(), `Remember the number 4711. ${"And so on. ".repeat(2_000)}`)).toMatchObject({
    reason: "completed",
  });
  const asked = kit.requests.filter(({ purpose }) => purpose === "summary").map(({ messages }) => messages);
  expect(asked.length).toBeGreaterThan(0);
  for (const [first] of asked) {
    expect(first?.role).toBe("user");
    expect(textOf(first === undefined ? [] : [first])).toContain("Remember the number 4711.");
  }
});

test("where the configuration's model for summaries fails, the session's own writes them", async () => {
  const inner = createKit([says("first"), summary()]);
  const writer: ModelPort = {
    info: { ...info, id: "writer" },
    async *stream() {
      yield* failing();
    },
  };
  const resolve = async (id: string) => (id === "writer" ? writer : inner.models.resolve(id));
  const kit = createKit([], { models: { ...inner.models, resolve }, compaction: { model: "writer" } });
  const session = await kit.open();
  const heard = listen(session);
  await ask(session, "hello");
  expect(await session.compact()).toEqual({ removed: 2 });
  await heard.stop();
  expect(textOf(session.snapshot().view)).toContain("The summary: the code word is PLUM.");
  expect(heard.events.flatMap((event) => (event.type === "notice" ? [event.text] : []))).toEqual([
    "context.model: no summary today The session's own model writes the summary.",
  ]);
});

test("a prompt waits for a compaction, and an interrupt ends it", async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  async function* slow(): AsyncGenerator<ModelEvent> {
    await held;
    yield* summary();
  }
  const kit = createKit([says("first"), slow, says("second")]);
  const session = await kit.open();
  await ask(session, "hello");
  const compacting = session.compact();
  const prompted = ask(session, "more");
  await expect(session.compact()).rejects.toMatchObject({ code: "usage" });
  release();
  expect(await compacting).toEqual({ removed: 2 });
  expect(await prompted).toMatchObject({ finalText: "second" });
});

test("requests keep their prefix between compactions, for a provider's cache", async () => {
  const sizes = Array.from({ length: 60 }, () => 2_000);
  const kit = createKit(working(sizes, summary), { tools: [dump], model: small });
  const session = await kit.open();
  const heard = listen(session);
  await ask(session, "work");
  await heard.stop();
  const bytes = (parts: readonly object[]) => parts.map((part) => JSON.stringify(part));
  const known = new Set(bytes(kit.requests[0]?.messages ?? []));
  let [sent, missed, breaks] = [0, 0, 0];
  kit.requests.reduce((before, request) => {
    const [old, now] = [bytes(before.messages), bytes(request.messages)];
    let same = 0;
    while (same < old.length && old[same] === now[same]) same += 1;
    expect([request.system, bytes(request.tools)]).toEqual([before.system, bytes(before.tools)]);
    if (same < old.length) breaks += 1;
    sent += now.join("").length;
    // Text that the provider has read before, but not at this position.
    for (const message of now.slice(same)) missed += known.has(message) ? message.length : 0;
    for (const message of now) known.add(message);
    return request;
  });
  // A summary request extends the very request that the provider has cached.
  const compactions = heard.types().filter((type) => type === "context.compacted").length;
  expect(compactions).toBeGreaterThan(1);
  expect(breaks).toBeLessThanOrEqual(compactions);
  expect(missed / sent).toBeLessThan(0.05);
});

test("a provider with a smaller window than expected does not end the session", async () => {
  const realWindow = 8_000;
  const reply: FakeReply = (request) => {
    if (textOf(request.messages).length > realWindow * 4)
      return [{ type: "error", failure: { code: "context_full", message: "too long" }, retryable: false }];
    if (request.purpose === "summary") return summary();
    return request.messages.at(-1)?.role === "tool" ? says("read") : calls(["Dump", { size: 39_000 }]);
  };
  const kit = createKit(
    Array.from({ length: 60 }, () => reply),
    { tools: [dump] },
  );
  const session = await kit.open();
  const reasons: string[] = [];
  for (const prompt of ["read", "hi", "hi", "hi"]) reasons.push((await ask(session, prompt)).reason);
  expect(reasons.at(-1)).toBe("completed");
});
