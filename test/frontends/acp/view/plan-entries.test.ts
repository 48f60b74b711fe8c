import { expect, test } from "vitest";
import { createTranslator } from "../../../../src/frontends/acp/view/acp-updates.ts";
import { planEntries } from "../../../../src/frontends/acp/view/plan-entries.ts";

const statuses = (todos: unknown) => planEntries(todos)?.map(({ content, status }) => [content, status]);

test("reads a task's state in every notation", () => {
  const lines = [
    "1. [In Progress] a",
    "2) [DONE] b",
    "- [x] c",
    "* [ ] d",
    "[in-progress] e",
    "[Completed] f",
    "[later] g",
  ];
  const read = [
    ["a", "in_progress"],
    ["b", "completed"],
    ["c", "completed"],
    ["d", "pending"],
    ["e", "in_progress"],
    ["f", "completed"],
    ["g", "pending"],
  ];
  expect(statuses(["A plan:", "", ...lines].join("\n"))).toEqual(read);
  expect(statuses(lines)).toEqual(read);
  expect(statuses([{ content: "a", status: "COMPLETED" }, { content: "b", status: {} }, { text: "c" }, null])).toEqual([
    ["a", "completed"],
    ["b", "pending"],
  ]);
});

test("an empty list clears the plan, and an unreadable one keeps it", () => {
  const told = (todos: unknown) =>
    createTranslator("/").take({ type: "tool_call", id: "t", name: "TodoWrite", input: { todos } });
  for (const none of [[], "", " \n"]) expect(told(none)).toEqual([{ sessionUpdate: "plan", entries: [] }]);
  for (const unreadable of [undefined, null, 7, {}, "Just words.", [{}], [null]]) expect(told(unreadable)).toEqual([]);
});

test.each([`[${" ".repeat(100_000)}`, `${" ".repeat(100_000)}x`, `[ ]${" ".repeat(100_000)}\nx\ny`])(
  "reads a line of spaces in linear time (%#)",
  (line) => {
    expect(planEntries([line])).toBeUndefined();
  },
);
