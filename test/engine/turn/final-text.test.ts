import { expect, test } from "vitest";
import type { ModelEvent } from "../../../src/engine/ports.ts";
import type { RunOptions } from "../../../src/engine/settings.ts";
import { ask, createKit, says, settings } from "../../fakes/kit.ts";

test("a prompt that the model did not understand fails the turn only if the user named no model", async () => {
  const missed: ModelEvent[] = [
    { type: "text", text: "I did not understand that." },
    { type: "end", stop: "end", understood: false },
  ];
  const modelByDefault = { reason: "No model was named", remedy: "Name one." };
  const outcomeOf = async (run: RunOptions, isModelNamed = false) => {
    const { engine } = createKit([missed]);
    return ask(await engine.create({ cwd: "/ws", settings: { ...settings, isModelNamed }, run }), "review this");
  };
  const completed = { reason: "completed", finalText: "I did not understand that." };
  expect(await outcomeOf({})).toMatchObject(completed);
  expect(await outcomeOf({ modelByDefault }, true)).toMatchObject(completed);
  expect(await outcomeOf({ modelByDefault })).toMatchObject({
    reason: "failed",
    failure: {
      code: "no_model",
      message: "No model was named, and the offline model did not understand the prompt. Name one.",
    },
    finalText: "I did not understand that.",
  });
});

test.each([
  ["OK\n", "OK"],
  ["\n\n \nOK  \r\n", "OK"],
  ["\n    indented\n  more\n", "    indented\n  more"],
])("trims the final text %j", async (words, expected) => {
  const session = await createKit([says(words)]).open();
  expect(await ask(session, "go")).toMatchObject({ finalText: expected });
  await session.close();
});
