import type {
  CreateElicitationRequest,
  CreateElicitationResponse,
  PermissionOption,
  SessionUpdate,
  ToolCallUpdate,
} from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import type { Client } from "../../../../src/frontends/acp/client.ts";
import { askQuestions } from "../../../../src/frontends/acp/requests/questions.ts";
import { createTranslator } from "../../../../src/frontends/acp/view/acp-updates.ts";
import type { Question } from "../../../../src/sdk/types.ts";

/* Forms that other backends use and ours never does: several answers, and no options. */

const sizes: Question = { index: 1, topic: "Sizes", question: "Which sizes?", options: ["S", "L"], multiSelect: true };
const name: Question = { index: 2, topic: "Name", question: "What is its name?", options: [] };

function asked(questions: readonly Question[], answer?: CreateElicitationResponse, chosen?: string) {
  const forms: CreateElicitationRequest[] = [];
  const choices: { readonly toolCall: ToolCallUpdate; readonly options: readonly PermissionOption[] }[] = [];
  const updates: SessionUpdate[] = [];
  const client: Client = {
    capabilities: answer === undefined ? {} : { elicitation: { form: {} } },
    update: async (_, update) => void updates.push(update),
    choose: async (_, toolCall, options) => {
      choices.push({ toolCall, options });
      return chosen;
    },
    completed: () => undefined,
    elicit: async (form) => {
      forms.push(form);
      return answer ?? { action: "cancel" };
    },
  };
  const asking = { client, translator: createTranslator("/"), sessionId: "s" };
  const signal = new AbortController().signal;
  const answers = askQuestions({ id: "q", questions, signal }, asking);
  return answers.then((given) => ({ given, forms, choices, updates }));
}

test("several answers to one question are a list, and a question without options is a field", async () => {
  const { given, forms } = await asked([sizes, name], { action: "accept", content: { q1: ["S", "L"], q2: "Rex" } });
  expect(given).toEqual([["S", "L"], "Rex"]);
  expect(forms.map((form) => Object(form).requestedSchema.properties)).toEqual([
    {
      q1: {
        type: "array",
        title: "Sizes",
        description: "Which sizes?",
        items: {
          anyOf: [
            { const: "S", title: "S" },
            { const: "L", title: "L" },
          ],
        },
      },
      q1_other: { type: "string", title: "Sizes: something else", description: "In your own words." },
      q2: { type: "string", title: "Name", description: "What is its name?" },
    },
  ]);
});

test("an empty list counts as no answer", async () => {
  expect((await asked([sizes], { action: "accept", content: { q1: [] } })).given).toBeUndefined();
});

test("a question that cannot be a choice is not asked, and has no answer", async () => {
  expect(await asked([sizes, name])).toEqual({ given: undefined, forms: [], choices: [], updates: [] });
});

const drop: Question = { index: 1, topic: "Drop", question: "Drop the table?", options: ["yes", "no"] };
const tabs: Question = { index: 1, topic: "Tabs", question: "Use tabs?", options: ["yes", "no"] };

test("questions with the same number have a field each", async () => {
  const { given, forms } = await asked([drop, tabs], { action: "accept", content: { q1: "no", q2_other: "both" } });
  expect(given).toEqual(["no", "both"]);
  expect(forms.map((form) => Object.keys(Object(form).requestedSchema.properties))).toEqual([
    ["q1", "q1_other", "q2", "q2_other"],
  ]);
  expect((await asked([drop, tabs], { action: "accept", content: { q1: "yes" } })).given).toEqual([
    "yes",
    "No answer.",
  ]);
});

test("a non-string counts as no answer", async () => {
  const content = (q1: unknown) => ({ action: "accept", content: { q1 } }) as CreateElicitationResponse;
  expect((await asked([sizes], content([{}, null]))).given).toBeUndefined();
  expect((await asked([sizes], content([{}, "L", 1, " "]))).given).toEqual([["L"]]);
});

test("options are shown on one line, as they are, and answered in the backend's own spelling", async () => {
  const hidden = "yes\n\u202eon";
  const question: Question = { index: 1, topic: "A\nB", question: "Sure?\u001b[2K", options: [hidden, "no"] };
  const { given, choices } = await asked([question], undefined, "answer-1");
  expect(given).toEqual([hidden]);
  expect(
    choices.map(({ toolCall, options }) => [toolCall.title, toolCall.content, options.map((each) => each.name)]),
  ).toEqual([
    [
      "Sure?\\u{1b}[2K",
      [{ type: "content", content: { type: "text", text: "Sure?\\u{1b}[2K" } }],
      ["yes \\u{202e}on", "no", "No answer"],
    ],
  ]);
  const { forms } = await asked([question], { action: "accept", content: { q1: hidden } });
  expect(forms).toMatchObject([
    {
      message: "Sure?\\u{1b}[2K",
      requestedSchema: {
        properties: { q1: { title: "A B", oneOf: [{ const: hidden, title: "yes \\u{202e}on" }, {}] } },
      },
    },
  ]);
});

test("a question without a call has its own id, and ends with its answer", async () => {
  const { choices, updates } = await asked([drop, tabs], undefined, "answer-2");
  const ids = choices.map(({ toolCall }) => toolCall.toolCallId);
  expect(new Set([...ids, ...(await asked([drop])).choices.map(({ toolCall }) => toolCall.toolCallId)]).size).toBe(3);
  expect(updates).toEqual(
    ids.map((toolCallId) => ({ sessionUpdate: "tool_call_update", toolCallId, status: "completed" })),
  );
  expect((await asked([drop, tabs])).updates).toEqual([
    { sessionUpdate: "tool_call_update", toolCallId: expect.any(String), status: "failed" },
  ]);
});
