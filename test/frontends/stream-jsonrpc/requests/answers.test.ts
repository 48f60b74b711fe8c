import { describe, expect, test } from "vitest";
import type { Interaction } from "../../../../src/engine/interaction.ts";
import type { Decision } from "../../../../src/engine/permission.ts";
import { answerOf, optionOf } from "../../../../src/frontends/stream-jsonrpc/requests/answers.ts";
import { permissionParams } from "../../../../src/frontends/stream-jsonrpc/requests/permission-request.ts";

const decision: Decision = {
  verdict: "ask",
  class: "medium",
  impact: "medium",
  extractedCommands: [],
  rule: "command",
  why: "",
};
const low: Decision = { ...decision, always: "low" };
const medium: Decision = { ...decision, always: "medium" };
const call = { type: "tool_call", id: "c", name: "Execute", input: {} } as const;
const permission = (decisions: readonly Decision[] = [low]): Interaction & { kind: "permission" } => ({
  kind: "permission",
  calls: decisions.map((each) => ({ call, decision: each })),
});
const vocabulary = { violations: true, serverChoices: true };
const plan: Interaction = { kind: "plan", callId: "c", plan: "p" };
const question = (index: number) => ({ index, topic: "t", question: `q${index}`, options: ["a"] });
const questions: Interaction = { kind: "question", callId: "c", questions: [question(1), question(2)] };

const cancel = (why: string) => ({ kind: "cancel", why });
const notOffered = (option: string) => cancel(`the client chose "${option}", which was not offered`);

describe("permissions", () => {
  test.each([
    ["proceed_once", { kind: "allow" }],
    ["proceed_always", { kind: "allow", always: true }],
    ["proceed_auto_run", { kind: "allow" }],
    ["proceed_auto_run_low", { kind: "allow" }],
    ["proceed_auto_run_high", { kind: "allow" }],
    ["cancel", { kind: "cancel" }],
    ["proceed_edit", notOffered("proceed_edit")],
    ["constructor", notOffered("constructor")],
  ])("%s", (selectedOption, answer) => {
    expect(answerOf(permission(), { result: { selectedOption } })).toEqual(answer);
  });

  test("an empty error key is ignored", () => {
    const result = { selectedOption: "proceed_once" };
    expect(answerOf(permission(), { result, error: null })).toEqual({ kind: "allow" });
    expect(answerOf(permission(), { result, error: {} })).toEqual(cancel("the client answered with an error"));
    expect(answerOf(permission(), { result: null, error: { message: "no" } })).toEqual(
      cancel("the client answered with an error: no"),
    );
  });

  const always = { result: { selectedOption: "proceed_always" } };

  test.each<[Decision[], string]>([
    [[low], "low impact commands (file edits and read-only commands)"],
    [[low, medium, low], "medium impact commands (all commands that are reversible)"],
    [[{ ...low, impact: "high" }], "low impact commands (file edits and read-only commands)"],
    [[{ ...low, always: "high" }, medium], "high impact commands (all commands)"],
  ])('"always" is offered with the highest level that it would give: %#', (decisions, what) => {
    const asked = permission(decisions);
    expect(permissionParams(asked, { vocabulary }).options[1]).toEqual({
      label: `Yes, and always allow ${what}`,
      value: "proceed_always",
      selectedColor: "#E3992A",
    });
    expect(answerOf(asked, always)).toEqual({ kind: "allow", always: true });
  });

  test.each<[Decision[]]>([[[decision]], [[medium, decision]]])(
    '"always" is once if it is not offered, because it would not help every call: %#',
    (decisions) => {
      const asked = permission(decisions);
      expect(permissionParams(asked, { vocabulary }).options.map(({ value }) => value)).toEqual([
        "proceed_once",
        "cancel",
      ]);
      expect(answerOf(asked, always)).toEqual({ kind: "allow" });
    },
  );

  const of = (server: string, tool: string): Decision => ({
    ...decision,
    server: { server, tool, marks: { server, tool } },
  });
  const allow = ["proceed_once", "Yes, allow all"];
  const cancelAll = ["cancel", "No, cancel all"];

  test.each<[Decision[], string, string]>([
    [[of("a", "x"), of("a", "x")], '"x" of "a"', '"a"'],
    [[of("a", "x"), of("b", "z"), of("a", "y")], '"x" and "y" of "a" and "z" of "b"', '"a" and "b"'],
    // The level stays: trust in a server is no reason to run commands unasked.
    [[medium, of("a", "x")], '"x" of "a"', '"a"'],
    [[of("a", 'x of "b"\n'), decision], '"x of \\"b\\" " of "a"', '"a"'],
  ])('"always" is for the tools of servers alone: %#', (decisions, tools, servers) => {
    const asked = permission(decisions);
    const offered = (serverChoices: boolean) =>
      permissionParams(asked, { vocabulary: { violations: true, serverChoices } }).options.map(({ value, label }) => [
        value,
        label,
      ]);
    expect(offered(true)).toEqual([
      allow,
      ["proceed_always_tools", `Yes, and always allow ${tools}`],
      ["proceed_always_server", `Yes, and always allow all tools of ${servers}`],
      cancelAll,
    ]);
    expect(offered(false)).toEqual([allow, ["proceed_always", `Yes, and always allow ${tools}`], cancelAll]);
    const chosen = (selectedOption: string) => answerOf(asked, { result: { selectedOption } });
    expect(["proceed_always", "proceed_always_tools", "proceed_always_server", "proceed_once"].map(chosen)).toEqual([
      { kind: "allow", always: "tools" },
      { kind: "allow", always: "tools" },
      { kind: "allow", always: "server" },
      { kind: "allow" },
    ]);
  });

  test("choices for servers count only where there is one", () => {
    for (const selectedOption of ["proceed_always_tools", "proceed_always_server"])
      expect(answerOf(permission([low]), { result: { selectedOption } })).toEqual(notOffered(selectedOption));
  });

  test.each([
    [{ selectedOption: "cancel", comment: "use pnpm" }, cancel("use pnpm")],
    [{ selectedOption: "cancel", comment: "  " }, { kind: "cancel" }],
    [{ selectedOption: "cancel", comment: "x".repeat(20_000) }, cancel("x".repeat(10_000))],
    [{ selectedOption: "cancel", comment: 5 }, { kind: "cancel" }],
  ])("a comment goes to the model", (result, answer) => {
    expect(answerOf(permission(), { result })).toEqual(answer);
  });
});

test.each([
  ["proceed_once", { kind: "approve", autonomy: "off" }],
  ["proceed_auto_run_low", { kind: "approve", autonomy: "low" }],
  ["proceed_auto_run_medium", { kind: "approve", autonomy: "medium" }],
  ["proceed_auto_run_high", { kind: "approve", autonomy: "high" }],
  ["cancel", { kind: "cancel" }],
  ["proceed_always", notOffered("proceed_always")],
  ["proceed_auto_run", notOffered("proceed_auto_run")],
  ["proceed_new_session", notOffered("proceed_new_session")],
])("a plan: %s", (selectedOption, answer) => {
  expect(answerOf(plan, { result: { selectedOption } })).toEqual(answer);
});

test.each([permission(), plan, questions])("anything unclear is a no with a message", (interaction) => {
  const notAnObject = cancel("the client's answer is not an object");
  for (const result of [undefined, null, 1, "proceed_once", [], true]) {
    expect(answerOf(interaction, { result })).toEqual(notAnObject);
  }
  const isQuestion = interaction.kind === "question";
  const missing = isQuestion
    ? "the client's answer has no list of answers"
    : "the client's answer has no selectedOption";
  expect(answerOf(interaction, { result: { selectedOption: 5 } })).toEqual(cancel(missing));
  const withWords = cancel("the client answered with an error: no");
  expect(answerOf(interaction, { error: { code: 1, message: "no" } })).toEqual(withWords);
  expect(answerOf(interaction, { error: false, result: {} })).toEqual(cancel("the client answered with an error"));
  expect(answerOf(interaction, { error: null, result: {} })).toEqual(cancel(missing));
  expect(answerOf(interaction, { error: null })).toEqual(notAnObject);
  const long = answerOf(interaction, { error: { message: "x".repeat(5_000) } });
  expect(long).toEqual(cancel(`the client answered with an error: ${"x".repeat(200)}`));
});

test("an answer has the option that it chooses", () => {
  expect(
    (
      [
        { kind: "allow" },
        { kind: "allow", always: true },
        { kind: "allow", always: "tools" },
        { kind: "allow", always: "server" },
        { kind: "approve", autonomy: "off" },
        { kind: "approve", autonomy: "medium" },
        { kind: "cancel", why: "x" },
      ] as const
    ).map((answer) => optionOf(answer, vocabulary)),
  ).toEqual([
    "proceed_once",
    "proceed_always",
    "proceed_always_tools",
    "proceed_always_server",
    "proceed_once",
    "proceed_auto_run_medium",
    "cancel",
  ]);
  expect(optionOf({ kind: "allow", always: "server" }, { serverChoices: false })).toBe("proceed_always");
});
