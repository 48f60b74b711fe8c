import { expect, test } from "vitest";
import type { Message } from "../../../src/engine/message.ts";
import { promptOf } from "../../../src/models/calls/prompt.ts";
import type { ModelSpec } from "../../../src/models/providers/model-spec.ts";

const spec = { wire: "openai-chat", info: { id: "m", images: false } } as unknown as ModelSpec;

function idsIn(given: readonly string[]): readonly string[] {
  const messages = given.flatMap((id, at): readonly Message[] => [
    {
      id: `a${at}`,
      role: "assistant",
      createdAt: 0,
      model: "m",
      stop: "tool_calls",
      content: [{ type: "tool_call", id, name: "LS", input: {} }],
    },
    {
      id: `t${at}`,
      role: "tool",
      createdAt: 0,
      content: [{ type: "tool_result", callId: id, name: "LS", status: "ok", text: "x" }],
    },
  ]);
  const prompt = promptOf({ system: "", messages, tools: [], reasoningEffort: "none" } as never, spec);
  const pairs = prompt.flatMap(({ role, content }) =>
    role === "assistant" || role === "tool" ? (content as { toolCallId: string }[]).map((part) => part.toolCallId) : [],
  );
  expect(pairs.filter((_, at) => at % 2 === 1)).toEqual(pairs.filter((_, at) => at % 2 === 0));
  return pairs.filter((_, at) => at % 2 === 0);
}

test("numbers a repeated id, skipping numbers in use", () => {
  expect(idsIn(["a", "a", "a#3", "a", "b", "a#3", "a"])).toEqual(["a", "a#2", "a#3", "a#4", "b", "a#3#2", "a#5"]);
});

test("handles 30,000 calls with the same id in linear time", () => {
  const ids = idsIn(Array.from({ length: 30_000 }, () => "call_0"));
  expect([new Set(ids).size, ids.at(-1)]).toEqual([30_000, "call_0#30000"]);
});
