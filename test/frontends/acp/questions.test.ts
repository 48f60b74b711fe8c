import type { CreateElicitationRequest, CreateElicitationResponse } from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import type { Client } from "../../../src/frontends/acp/client.ts";
import { askQuestions } from "../../../src/frontends/acp/questions.ts";
import { createTranslator } from "../../../src/frontends/acp/translate.ts";
import type { Question } from "../../../src/sdk/types.ts";

/* What our own backend never asks, and others do: several answers, and none to choose from. */

const sizes: Question = { index: 1, topic: "Sizes", question: "Which sizes?", options: ["S", "L"], multiSelect: true };
const name: Question = { index: 2, topic: "Name", question: "What is its name?", options: [] };

function asked(questions: readonly Question[], answer?: CreateElicitationResponse) {
  const forms: CreateElicitationRequest[] = [];
  let choices = 0;
  const client: Client = {
    capabilities: answer === undefined ? {} : { elicitation: { form: {} } },
    update: async () => undefined,
    choose: async () => {
      choices += 1;
      return undefined;
    },
    elicit: async (form) => {
      forms.push(form);
      return answer ?? { action: "cancel" };
    },
  };
  const asking = { client, translator: createTranslator("/"), sessionId: "s" };
  const signal = new AbortController().signal;
  const answers = askQuestions({ id: "q", questions, signal }, asking);
  return answers.then((given) => ({ given, forms, choices }));
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

test("an empty list is no answer", async () => {
  expect((await asked([sizes], { action: "accept", content: { q1: [] } })).given).toBeUndefined();
});

test("a question that cannot be put as a choice is not put at all, and has no answer", async () => {
  expect(await asked([sizes, name])).toEqual({ given: undefined, forms: [], choices: 0 });
});
