import { expect, test } from "vitest";
import { textOf } from "../../src/engine/message.ts";
import type { ModelEvent } from "../../src/engine/ports.ts";
import { ask, createKit, listen } from "../fakes/kit.ts";

const [high = "", low = ""] = ["😀"[0], "😀"[1]];
const text = (words: string, block?: string): ModelEvent => ({
  type: "text",
  text: words,
  ...(block === undefined ? {} : { block }),
});
const thinking = (words: string): ModelEvent => ({ type: "thinking", text: words });
const end: ModelEvent = { type: "end", stop: "end" };
const retry: ModelEvent = {
  type: "retry",
  attempt: 1,
  delayMs: 0,
  failure: { code: "model_failed", message: "cut" },
};

test.each<[string, readonly ModelEvent[], readonly string[], string]>([
  ["a pair in two pieces", [text(`a${high}`), text(`${low}b`), end], ["a", "😀b"], "a😀b"],
  ["a pair in two pieces that hold nothing else", [text(high), text(low), end], ["😀"], "😀"],
  ["a pair in two thoughts", [thinking(high), thinking(low), text("x"), end], ["😀", "x"], "x"],
  ["a first half at the end", [text(`a${high}`), end], ["a", "\ufffd"], "a\ufffd"],
  ["a first half before another block", [text(high, "1"), text("b", "2"), end], ["\ufffd", "b"], "\ufffdb"],
  ["a first half before other text", [text(`${high}`), text("b"), end], ["\ufffdb"], "\ufffdb"],
  ["a second half alone", [text(`a${low}b`), end], ["a\ufffdb"], "a\ufffdb"],
  ["a first half before a retry", [text(`a${high}`), retry, text("b"), end], ["a", "b"], "ab"],
])("no piece of a reply splits a character: %s", async (_, reply, pieces, whole) => {
  const kit = createKit([reply]);
  const session = await kit.open();
  const heard = listen(session);
  await ask(session, "go");
  await heard.stop();
  expect(heard.events.flatMap((event) => (event.type === "message.delta" ? [event.text] : []))).toEqual(pieces);
  const last = session.history().at(-1);
  expect(last?.role === "assistant" && textOf(last.content)).toBe(whole);
  await session.close();
});

test("a reply that breaks off in half a character keeps the text before it", async () => {
  const failed: ModelEvent = { type: "error", failure: { code: "model_failed", message: "cut" }, retryable: false };
  const kit = createKit([[text(`a${high}`), failed]]);
  const session = await kit.open();
  expect(await ask(session, "go")).toMatchObject({ reason: "failed", finalText: "a" });
  await session.close();
});
