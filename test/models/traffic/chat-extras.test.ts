import { expect, test } from "vitest";
import { ChatExtrasReader } from "../../../src/models/traffic/chat-extras.ts";

function read(...deltas: readonly unknown[]) {
  const reader = new ChatExtrasReader();
  for (const delta of deltas) reader.read({ choices: [{ index: 0, delta }] });
  return reader.extras();
}

test("finds no extras in plain content", () => {
  expect(read({ content: "hi" }, { content: null, refusal: null }, {})).toEqual({});
});

test("joins the pieces of a refusal", () => {
  expect(read({ refusal: "I will " }, { refusal: "not." })).toEqual({ refusal: "I will not." });
});

test("joins reasoning details by type and index, keeping fields that are sent once", () => {
  const text = (index: number, more: object) => ({ reasoning_details: [{ type: "reasoning.text", index, ...more }] });
  expect(
    read(
      text(0, { text: "Let me ", signature: null, format: "x" }),
      text(0, { text: "look.", signature: null }),
      text(0, { signature: "s1" }),
      text(1, { text: "Then." }),
      { reasoning_details: [{ type: "reasoning.encrypted", index: 1, data: "abc", id: "rs_1" }] },
    ),
  ).toEqual({
    reasoning_details: [
      { type: "reasoning.text", index: 0, text: "Let me look.", signature: "s1", format: "x" },
      { type: "reasoning.text", index: 1, text: "Then." },
      { type: "reasoning.encrypted", index: 1, data: "abc", id: "rs_1" },
    ],
  });
});

test.each([undefined, null, 7, "x", {}, { choices: 3 }, { choices: [] }, { choices: [{ delta: [] }] }])(
  "ignores the malformed chunk %j",
  (chunk) => {
    const reader = new ChatExtrasReader();
    reader.read(chunk);
    expect(reader.extras()).toEqual({});
  },
);
