import { describe, expect, test } from "vitest";
import { outcomes } from "../../../../src/protocol/droid/words.ts";
import { calls, says } from "../../../fakes/kit.ts";
import { storyOf } from "../../../fakes/rpc/linked-client.ts";
import type { Notice } from "../../../fakes/rpc/wire.ts";
import { noticesIn } from "../../../fakes/rpc/wire.ts";
import type { Served } from "./served.ts";
import { serve } from "./served.ts";

const push = calls(["Execute", { command: "git push" }]);
const plan = calls(["ExitSpecMode", { plan: "1. Do it" }]);

type Answer = { readonly result: unknown } | { readonly error: unknown };

function give({ client }: Served, id: string, answer: Answer): void {
  if ("result" in answer) client.answer(id, answer.result);
  else client.answerError(id, answer.error);
}

/** One turn whose first request gets this answer. */
async function answered(replies: Parameters<typeof serve>[0], answer: Answer, params: object = {}): Promise<Served> {
  const served = serve(replies);
  await served.init(params);
  await served.say("go");
  give(served, (await served.client.asked()).id, answer);
  await served.client.state("idle");
  return served;
}

const only = ({ client }: Served, type: string): readonly Notice[] =>
  noticesIn(client.received).filter((notice) => notice.type === type);

const allowed = [
  "proceed_once",
  "proceed_always",
  "proceed_auto_run",
  "proceed_auto_run_low",
  "proceed_auto_run_medium",
  "proceed_auto_run_high",
];

describe("an answer to calls", () => {
  test.each(outcomes.filter((each) => allowed.includes(each)))("%s lets them run", async (selectedOption) => {
    const served = await answered([push, says("pushed")], { result: { selectedOption } });
    const isForGood = selectedOption === "proceed_always";
    expect(served.kit.host.commands.map(({ command }) => command)).toEqual(["git push"]);
    expect(only(served, "permission_resolved")).toEqual([
      {
        type: "permission_resolved",
        requestId: expect.any(String),
        toolUseIds: ["call_1"],
        selectedOption: isForGood ? "proceed_always" : "proceed_once",
      },
    ]);
    expect(
      only(served, "settings_updated").map(({ settings }) => (settings as { autonomyLevel: string }).autonomyLevel),
    ).toEqual(isForGood ? ["off", "high"] : ["off"]);
    expect(only(served, "agent_turn_completed")[0]?.reason).toBe("completed");
  });

  const cancelled = "Error: Tool execution cancelled";
  const noes: readonly [what: string, answer: Answer, text: string][] = [
    ["cancel", { result: { selectedOption: "cancel" } }, `${cancelled} by user`],
    ["a comment", { result: { selectedOption: "cancel", comment: "not on Friday" } }, `${cancelled}: not on Friday`],
    ["a blank comment", { result: { selectedOption: "cancel", comment: " " } }, `${cancelled} by user`],
    ["a comment that is not text", { result: { selectedOption: "cancel", comment: {} } }, `${cancelled} by user`],
    ["nothing", { result: {} }, `${cancelled}: the client's answer has no selectedOption`],
    ["null", { result: null }, `${cancelled}: the client's answer is not an object`],
    ["a list", { result: ["proceed_once"] }, `${cancelled}: the client's answer is not an object`],
    ["a text", { result: "proceed_once" }, `${cancelled}: the client's answer is not an object`],
    ["a number", { result: { selectedOption: 1 } }, `${cancelled}: the client's answer has no selectedOption`],
    [
      "another word",
      { result: { selectedOption: "yes" } },
      `${cancelled}: the client chose "yes", which was not offered`,
    ],
    [
      "an error",
      { error: { code: -32603, message: "no window" } },
      `${cancelled}: the client answered with an error: no window`,
    ],
    ["a malformed error", { error: 1 }, `${cancelled}: the client answered with an error`],
    ...outcomes
      .filter((each) => each !== "cancel" && !allowed.includes(each))
      .map((selectedOption): [string, Answer, string] => [
        selectedOption,
        { result: { selectedOption } },
        `${cancelled}: the client chose "${selectedOption}", which was not offered`,
      ]),
  ];

  test.each(noes)("that is %s is a no with a message, and ends the turn", async (_, answer, text) => {
    const served = await answered([push, says("never")], answer);
    expect(served.kit.host.commands).toEqual([]);
    expect(only(served, "permission_resolved")).toMatchObject([{ toolUseIds: [], selectedOption: "cancel" }]);
    expect(only(served, "tool_result")).toMatchObject([{ toolUseId: "call_1", content: text, isError: true }]);
    expect(only(served, "agent_turn_completed")).toMatchObject([{ reason: "permission_rejected" }]);
    expect(only(served, "error")).toEqual([]);
    expect(served.kit.requests).toHaveLength(1);
  });

  test("applies to all calls of the request, and no others", async () => {
    const three = calls(
      ["Create", { file_path: "a", content: "a" }],
      ["Read", { file_path: "readme.md" }],
      ["Execute", { command: "make" }],
    );
    const served = await answered([three, says("done")], { result: { selectedOption: "proceed_always" } });
    expect(only(served, "permission_resolved")).toMatchObject([{ toolUseIds: ["call_1", "call_3"] }]);
    expect(only(served, "tool_result").map(({ toolUseId, isError }) => [toolUseId, isError])).toEqual([
      ["call_1", false],
      ["call_2", false],
      ["call_3", false],
    ]);
  });

  test("that is late, or to no request, changes nothing", async () => {
    const served = serve([push, push, says("done")]);
    const { client, init, say } = served;
    await init();
    await say("go");
    const first = await client.asked();
    client.answer("nobody", { selectedOption: "proceed_always" });
    client.answer("", null);
    client.sendRaw('{"jsonrpc":"2.0","factoryApiVersion":"1.0.0","type":"response","id":"unheard"}');
    client.answer(first.id, { selectedOption: "proceed_once" });
    client.answer(first.id, { selectedOption: "cancel" });
    const second = await client.waitFor(({ type, id }) => type === "request" && id !== first.id);
    client.answer(first.id, { selectedOption: "proceed_always" });
    client.answer(String(second.id), { selectedOption: "proceed_once" });
    await client.state("idle");
    expect(
      only(served, "permission_resolved").map(({ requestId, selectedOption }) => [requestId, selectedOption]),
    ).toEqual([
      [first.id, "proceed_once"],
      [second.id, "proceed_once"],
    ]);
    expect(storyOf(client.received).filter((line) => line.startsWith("error"))).toEqual([]);
    expect(served.kit.host.commands).toHaveLength(2);
  });

  test("with neither a result nor an error is a no", async () => {
    const served = serve([push, says("never")]);
    await served.init();
    await served.say("go");
    const { id } = await served.client.asked();
    served.client.sendRaw(JSON.stringify({ jsonrpc: "2.0", factoryApiVersion: "1.0.0", type: "response", id }));
    await served.client.state("idle");
    expect(only(served, "permission_resolved")).toMatchObject([{ selectedOption: "cancel" }]);
  });

  test('"always" applies to this level and no further', async () => {
    const served = serve([
      calls(["Create", { file_path: "a", content: "a" }]),
      calls(["Create", { file_path: "b", content: "b" }]),
      push,
      says("done"),
    ]);
    await served.init();
    await served.say("go");
    const first = await served.client.asked();
    served.client.answer(first.id, { selectedOption: "proceed_always" });
    const second = await served.client.waitFor(({ type, id }) => type === "request" && id !== first.id);
    expect(JSON.stringify(second.params)).toContain("git push");
    served.client.answer(String(second.id), { selectedOption: "proceed_once" });
    await served.client.state("idle");
    expect(only(served, "settings_updated").at(-1)?.settings).toMatchObject({ autonomyLevel: "low" });
  });
});

describe("an answer to a plan", () => {
  test.each([
    ["proceed_once", "off"],
    ["proceed_auto_run_low", "low"],
    ["proceed_auto_run_medium", "medium"],
    ["proceed_auto_run_high", "high"],
  ])("%s approves it at the level %s", async (selectedOption, autonomyLevel) => {
    const params = { interactionMode: "spec", autonomyLevel: "medium" };
    const served = await answered([plan, says("done")], { result: { selectedOption } }, params);
    expect(only(served, "permission_resolved")).toMatchObject([{ toolUseIds: ["call_1"], selectedOption }]);
    expect(only(served, "settings_updated").at(-1)?.settings).toMatchObject({ interactionMode: "auto", autonomyLevel });
    const [result] = only(served, "tool_result");
    expect(JSON.parse(String(result?.content))).toMatchObject({
      approved: true,
      filePath: "/specs/plan-2.md",
      handoff: { plan: "1. Do it", isNewSession: false },
      isEdited: false,
    });
    expect(served.kit.host.text("/specs/plan-2.md")).toBe("1. Do it");
    expect(only(served, "agent_turn_completed")).toMatchObject([{ reason: "completed" }]);
  });

  const rest = outcomes.filter(
    (each) =>
      !["proceed_once", "proceed_auto_run_low", "proceed_auto_run_medium", "proceed_auto_run_high"].includes(each),
  );
  test.each([...rest, "nonsense", 5, undefined])("%s keeps planning", async (selectedOption) => {
    const params = { interactionMode: "spec" };
    const served = await answered([plan, says("never")], { result: { selectedOption } }, params);
    expect(only(served, "permission_resolved")).toMatchObject([{ toolUseIds: [], selectedOption: "cancel" }]);
    expect(only(served, "settings_updated")).toHaveLength(1);
    expect(only(served, "tool_result")).toMatchObject([
      { content: expect.stringMatching(/^Error: Plan not approved/), isError: true },
    ]);
    expect(only(served, "agent_turn_completed")).toMatchObject([{ reason: "permission_rejected" }]);
  });
});

describe("an answer to questions", () => {
  const questionnaire =
    "1. [question] Which colour?\n[option] Red\n[option] Blue\n\n2. [question] Why?\n[topic] Reason";
  const questions = calls(["AskUser", { questionnaire }]);
  const unfit = "Error: AskUser was cancelled: the client's answers do not fit the questions: ";
  const both = "1. [question] Which colour?\n[answer] Red\n\n2. [question] Why?\n[answer] So";

  test.each<[what: string, answer: Answer, content: string, isError: boolean]>([
    [
      "of objects",
      {
        result: {
          cancelled: false,
          answers: [
            { index: 1, question: "Which colour?", answer: "Red" },
            { index: 2, question: "Why?", answer: "So" },
          ],
        },
      },
      both,
      false,
    ],
    [
      "of objects in another order",
      {
        result: {
          answers: [
            { index: 2, answer: "So" },
            { index: 1, answer: "Red" },
          ],
        },
      },
      both,
      false,
    ],
    [
      "of objects that count from zero",
      {
        result: {
          answers: [
            { index: 0, answer: "Red" },
            { index: 1, answer: "So" },
          ],
        },
      },
      `${unfit}unknown question 0`,
      true,
    ],
    [
      "of objects with the text of a question",
      {
        result: {
          answers: [
            { question: "Why?", answer: "So" },
            { question: "Which colour?", answer: "Red" },
          ],
        },
      },
      both,
      false,
    ],
    [
      "of one question twice",
      {
        result: {
          answers: [
            { index: 2, answer: "So" },
            { index: 2, answer: "Red" },
          ],
        },
      },
      `${unfit}question 2 is answered twice`,
      true,
    ],
    ["of objects without a number", { result: { answers: [{ answer: "Red" }, { answer: "So" }] } }, both, false],
    ["of texts in order", { result: { answers: ["Red", "So"] } }, both, false],
    [
      "of several answers to one question",
      { result: { answers: [["Red", "Blue"].join(", "), { answer: ["So"] }] } },
      both.replace("Red", "Red, Blue"),
      false,
    ],
    ["of too few", { result: { answers: ["Red"] } }, "Error: AskUser collected 1 answers for 2 questions.", true],
    ["of none", { result: { answers: [] } }, "Error: AskUser collected 0 answers for 2 questions.", true],
    ["of too many", { result: { answers: ["Red", "So", "and more"] } }, `${unfit}3 answers for 2 questions`, true],
    ["that is cancelled", { result: { cancelled: true, answers: [] } }, "Error: User cancelled AskUser", true],
    [
      "without a list",
      { result: {} },
      "Error: AskUser was cancelled: the client's answer has no list of answers",
      true,
    ],
    [
      "of numbers",
      { result: { answers: [1, 2] } },
      "Error: AskUser was cancelled: the client's answers must be strings or objects with an answer",
      true,
    ],
    [
      "of objects without an answer",
      { result: { answers: [{ index: 1 }] } },
      "Error: AskUser was cancelled: the client's answers must be strings or objects with an answer",
      true,
    ],
    ["that is a string", { result: "Red" }, "Error: AskUser was cancelled: the client's answer is not an object", true],
    [
      "that is an error",
      { error: { code: 1, message: "gone" } },
      "Error: AskUser was cancelled: the client answered with an error: gone",
      true,
    ],
  ])("%s reaches the model, and the turn continues", async (_, answer, content, isError) => {
    const served = await answered([questions, says("well")], answer);
    expect(only(served, "tool_result")).toMatchObject([{ content, isError }]);
    expect(only(served, "permission_resolved")).toEqual([]);
    expect(only(served, "agent_turn_completed")).toMatchObject([{ reason: "completed" }]);
    expect(served.kit.requests).toHaveLength(2);
  });

  test("comes after the one to calls of the same reply", async () => {
    const mixed = calls(["AskUser", { questionnaire: "1. [question] Which?" }], ["Execute", { command: "git push" }]);
    const served = serve([mixed, says("done")]);
    const { client, init, say } = served;
    await init();
    await say("go");
    const permission = await client.asked();
    expect(permission.method).toBe("droid.request_permission");
    client.answer(permission.id, { selectedOption: "proceed_once" });
    const question = await client.waitFor(({ type, id }) => type === "request" && id !== permission.id);
    expect(question).toMatchObject({ method: "droid.ask_user", params: { toolCallId: "call_1" } });
    const from = client.mark;
    client.answer(String(question.id), { answers: ["This"] });
    await client.state("idle");
    expect(only(served, "tool_result").map(({ toolUseId, isError }) => [toolUseId, isError])).toEqual([
      ["call_1", false],
      ["call_2", false],
    ]);
    expect(storyOf(client.received.slice(from)).slice(0, 4)).toEqual([
      "state executing_tool",
      "tool_result",
      "tool_result",
      "state streaming_assistant_message",
    ]);
  });
});
