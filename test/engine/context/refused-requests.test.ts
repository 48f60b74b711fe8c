import { expect, test } from "vitest";
import type { Message, PromptBlock } from "../../../src/engine/message.ts";
import type { ModelEvent, ModelRequest } from "../../../src/engine/ports.ts";
import type { Tool } from "../../../src/engine/tool.ts";
import { ask, calls, createKit, type FakeReply, listen, says } from "../../fakes/kit.ts";

function textOf(messages: readonly Message[]): string {
  return messages.flatMap(({ content }) => content.map((block) => ("text" in block ? block.text : ""))).join("\n");
}

function imagesIn(messages: readonly Message[]): number {
  let images = 0;
  for (const { content } of messages) {
    for (const block of content) {
      if (block.type === "image") images += 1;
      if (block.type === "tool_result") images += block.media?.length ?? 0;
    }
  }
  return images;
}

const refused = (failure: (ModelEvent & { type: "error" })["failure"]): ModelEvent[] => [
  { type: "error", failure, retryable: false },
];
const tooLong = refused({ code: "context_full", message: "too long" });
const tooManyBytes = refused({ code: "model_bad_request", message: "too large (413)", cause: "too_large" });

const image: PromptBlock = { type: "image", mediaType: "image/png", data: "aWNvbg==" };

/** A tool that returns an image. */
const look: Tool = {
  name: "Look",
  kind: "read",
  title: "Look",
  description: "Looks",
  concurrent: true,
  load: async () => ({
    input: { safeParse: (data: unknown) => ({ success: true, data }) } as never,
    access: async () => [],
    run: async () => ({
      text: "seen",
      status: "ok",
      media: [{ type: "image", mediaType: "image/png", data: "aWNvbg==" }],
    }),
  }),
};

test("a provider with a smaller window than configured still writes the summaries, and is rarely asked too much", async () => {
  const realWindow = 12_000 * 4;
  let [summaries, refusals, steps] = [0, 0, 0];
  const reply: FakeReply = (request) => {
    if (textOf(request.messages).length > realWindow) {
      refusals += 1;
      return tooLong;
    }
    if (request.purpose === "summary") {
      summaries += 1;
      return says("The summary: the code word is PLUM.");
    }
    steps += 1;
    if (steps > 60) return says("done");
    return [{ type: "text", text: "I think. ".repeat(400) }, ...calls(["Nothing", {}])];
  };
  const kit = createKit(
    Array.from({ length: 200 }, () => reply),
    { model: { contextWindow: 128_000, maxOutputTokens: 1_000 } },
  );
  const session = await kit.open();
  const heard = listen(session);
  expect(await ask(session, "work for FACT-1")).toMatchObject({ reason: "completed", finalText: "done" });
  await heard.stop();
  expect(refusals).toBe(1);
  expect(summaries).toBe(heard.types().filter((type) => type === "context.compacted").length);
  expect(summaries).toBeGreaterThan(2);
  expect(heard.types()).not.toContain("notice");
  expect(textOf(kit.requests.at(-1)?.messages ?? [])).toMatch(/PLUM[\s\S]*FACT-1/);
});

test("a summary on request that a provider refuses as too long is asked for once more, with less", async () => {
  const sizes: number[] = [];
  const summarise: FakeReply = (request) => {
    sizes.push(textOf(request.messages).length);
    return sizes.length === 1 ? tooLong : says("The summary: the code word is PLUM.");
  };
  const kit = createKit([says("I think. ".repeat(4_000)), says("more"), summarise, summarise, says("hello")]);
  const session = await kit.open();
  await ask(session, "first");
  await ask(session, "second");
  expect(await session.compact()).toEqual({ removed: 4 });
  expect(sizes[1]).toBeLessThan((sizes[0] ?? 0) * 0.75);
  await ask(session, "third");
  expect(textOf(kit.requests.at(-1)?.messages ?? [])).toContain("PLUM");
});

/** Refuses requests with more images than this. */
function upTo(most: number, next: () => readonly ModelEvent[]): FakeReply {
  return (request: ModelRequest) => (imagesIn(request.messages) > most ? tooManyBytes : next());
}

test("images that make a request too large for the provider are dropped, the oldest first, and the turn goes on", async () => {
  const answer = upTo(2, () => says("seen"));
  const kit = createKit(Array.from({ length: 20 }, () => answer));
  const session = await kit.open();
  const heard = listen(session);
  const outcomes = [];
  for (const text of ["one", "two", "three", "four"]) {
    outcomes.push((await session.prompt([{ type: "text", text }, image]).outcome).reason);
  }
  await heard.stop();
  expect(outcomes).toEqual(["completed", "completed", "completed", "completed"]);
  expect(kit.requests.map(({ messages }) => imagesIn(messages))).toEqual([1, 2, 3, 1, 2]);
  expect(kit.requests.some(({ purpose }) => purpose === "summary")).toBe(false);
  const compactions = heard.events.flatMap((event) => (event.type === "context.compacted" ? [event.trigger] : []));
  expect(compactions).toEqual(["provider"]);
});

test("what the user attached to the running task goes after the images of tools", async () => {
  let steps = 0;
  const work = upTo(3, () => {
    steps += 1;
    return steps > 4 ? says("done") : calls(["Look", {}]);
  });
  const kit = createKit(
    Array.from({ length: 20 }, () => work),
    { tools: [look] },
  );
  const session = await kit.open();
  const outcome = await session.prompt([{ type: "text", text: "compare with this" }, image]).outcome;
  expect(outcome).toMatchObject({ reason: "completed" });
  const last = kit.requests.at(-1)?.messages ?? [];
  expect(imagesIn(last.slice(0, 1))).toBe(1);
  expect(JSON.stringify(last)).toContain("It was removed to save room");
});

test("a prompt whose own files are too large fails with the provider's words, and the next one works", async () => {
  const kit = createKit(Array.from({ length: 5 }, () => upTo(1, () => says("fine"))));
  const session = await kit.open();
  const first = await session.prompt([{ type: "text", text: "all" }, image, image]).outcome;
  expect(first).toMatchObject({ reason: "failed", failure: { code: "model_bad_request", message: "too large (413)" } });
  expect(await ask(session, "hi")).toMatchObject({ reason: "completed", finalText: "fine" });
});
