import { expect, test } from "vitest";
import { promptInput } from "../../../../src/frontends/acp/session/prompt-input.ts";
import { replay } from "../../../../src/frontends/acp/session/replay.ts";
import { createTranslator } from "../../../../src/frontends/acp/view/acp-updates.ts";
import type { Block, Message } from "../../../../src/sdk/types.ts";

const message = (id: string, role: Message["role"], content: Block[]): Message => ({ id, role, content });

test("a result of several blocks has their text, and empty ones are skipped", () => {
  const image = { type: "image", source: { type: "base64", mediaType: "image/png", data: "AA==" } } as const;
  const history = [
    message("1", "user", [{ type: "text", text: "" }]),
    message("2", "assistant", [
      { type: "thinking", thinking: "", signature: "s" },
      { type: "text", text: "" },
      { type: "tool_use", id: "t", name: "Look", input: {} },
    ]),
    message("3", "tool", [
      {
        type: "tool_result",
        toolUseId: "t",
        content: [{ type: "text", text: "one" }, image, { type: "text", text: "two" }],
        isError: false,
      },
    ]),
  ];
  const updates = [...replay(history, createTranslator("/"))];
  expect(updates.map(({ sessionUpdate }) => sessionUpdate)).toEqual(["tool_call", "tool_call_update"]);
  expect(updates[1]).toMatchObject({ status: "completed", rawOutput: { text: "onetwo" } });
});

test("replays only what the user typed", () => {
  const { text } = promptInput([
    { type: "text", text: "Look at " },
    { type: "resource", resource: { uri: "file:///w/a.txt", text: "one\n\n<context>\ntwo" } },
    { type: "resource", resource: { uri: "file:///w/b.txt", text: "three" } },
    { type: "text", text: " and think." },
  ]);
  const history = [message("1", "user", [{ type: "text", text: `<system-reminder>x</system-reminder>\n${text}` }])];
  expect([...replay(history, createTranslator("/"))]).toEqual([
    {
      sessionUpdate: "user_message_chunk",
      messageId: "1",
      content: { type: "text", text: "Look at @/w/a.txt @/w/b.txt and think." },
    },
  ]);
});

const typedIn = (text: string): unknown =>
  [...replay([message("1", "user", [{ type: "text", text }])], createTranslator("/"))].map((update) =>
    "content" in update ? update.content : undefined,
  );
const context = (name: string, text: string): string => `<context ref="${name}">\n${text}\n</context>`;
const manyContexts = Array.from({ length: 2_000 }, (_, n) => context(`/w/${n}`, "text")).join("\n\n");

test.each([
  ["many contexts", `Look.\n\n${manyContexts}`, "Look."],
  ["many contexts followed by text", `Look.\n\n${manyContexts}\nthere`, `Look.\n\n${manyContexts}\nthere`],
  [
    "many contexts, the last unclosed",
    `${manyContexts}\n\n<context ref="x">\n`,
    `${manyContexts}\n\n<context ref="x">\n`,
  ],
  ["only a context", context("/w/a", "text"), undefined],
  ["an empty context", `Look.\n\n${'<context ref="a">\n\n</context>'}`, "Look."],
  ["an end tag without a start tag", "Look.\n</context>", "Look.\n</context>"],
  ["a start tag in the middle of a line", `Look. ${context("a", "x")}`, `Look. ${context("a", "x")}`],
  ["a two-line name", `Look.\n\n${context("a\nb", "x")}`, `Look.\n\n${context("a\nb", "x")}`],
  ["many reminders", `${"<system-reminder>x</system-reminder>\n\n".repeat(2_000)}Look.`, "Look."],
  [
    "an unclosed reminder",
    `<system-reminder>${" <system-reminder>".repeat(2_000)}`,
    `<system-reminder>${" <system-reminder>".repeat(2_000)}`,
  ],
])("finds the typed text among %s", (_, text, typed) => {
  expect(typedIn(text)).toEqual(typed === undefined ? [] : [{ type: "text", text: typed }]);
});

test("frames a resource with an unclosed tag in linear time", () => {
  const text = `<${" ".repeat(200_000)}x`;
  const given = promptInput([{ type: "resource", resource: { uri: "file:///w/a.txt", text } }]);
  expect(given.text).toBe(`@/w/a.txt\n\n${context("/w/a.txt", text)}`);
});
