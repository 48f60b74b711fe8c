import { expect, test } from "vitest";
import { promptInput } from "../../../src/frontends/acp/prompt-input.ts";
import { replay } from "../../../src/frontends/acp/replay.ts";
import { createTranslator } from "../../../src/frontends/acp/translate.ts";
import type { Block, Message } from "../../../src/sdk/types.ts";

const message = (id: string, role: Message["role"], content: Block[]): Message => ({ id, role, content });

test("a result of several blocks has their text, and what says nothing is not told", () => {
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

test("of what the user said only that is told which was typed", () => {
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
