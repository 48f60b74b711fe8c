import fc from "fast-check";
import { expect, it } from "vitest";
import { createSession } from "../../../src/sdk/node.ts";
import type { TurnEvent } from "../../../src/sdk/types.ts";
import { givenSeed, isFullRun } from "../../full-run.ts";
import {
  busy,
  completed,
  createFakeBackend,
  delta,
  idle,
  message,
  says,
  settled,
  state,
} from "../fakes/fake-backend.ts";

/* A backend that sends anything in any order: the SDK's promises still hold. */

const id = fc.constantFrom("a", "b", "c");
const text = fc.constantFrom("", "x", "xy", "xyz", "z");
const toolUse = fc.record({
  type: fc.constant("tool_use"),
  id,
  name: text,
  input: fc.constantFrom({}, { k: 1 }, null),
});
const notice: fc.Arbitrary<object> = fc.oneof(
  fc.constantFrom(busy, busy, idle, state("executing_tool")),
  fc.tuple(id, text).map(([messageId, piece]) => delta(messageId, piece)),
  fc.tuple(id, text).map(([messageId, piece]) => ({ ...delta(messageId, piece), type: "thinking_text_delta" })),
  fc.tuple(id, text).map(([messageId, all]) => says(messageId, all)),
  fc.tuple(id, text, toolUse).map(([own, all, use]) => message(own, "assistant", { type: "text", text: all }, use)),
  fc.tuple(id, fc.constantFrom("user", "system", "tool", "nobody")).map(([own, role]) => message(own, role)),
  toolUse.map((use) => ({ type: "tool_call", toolUse: use })),
  id.map((toolUseId) => ({ type: "tool_result", toolUseId, content: "done" })),
  id.map((toolUseId) => ({ type: "tool_progress_update", toolUseId, update: { text: "…" } })),
  fc.constantFrom("t-0", "t-1", "nobody").map((turnId) => completed(turnId)),
  fc.constantFrom({ type: "error", message: "Oh." }, { type: "llm_retry", attempt: 1 }, {}),
  fc.record({ type: fc.constantFrom("create_message", "tool_result", "settings_updated"), message: fc.json() }),
);
type Said = { readonly notice: object } | { readonly line: string } | { readonly ask: object };
const said: fc.Arbitrary<Said> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ notice }) },
  { weight: 1, arbitrary: fc.record({ line: fc.oneof(fc.json(), fc.string()) }) },
  {
    weight: 1,
    arbitrary: fc.record({ ask: fc.record({ toolUses: fc.array(toolUse.map((use) => ({ toolUse: use }))) }) }),
  },
);

/** Messages whose deltas do not add up to their text. */
function wrongPieces(events: readonly TurnEvent[]): readonly TurnEvent[] {
  const pieces = new Map<string, string>();
  return events.filter((event) => {
    if (event.type === "text_reset") pieces.set(event.messageId, "");
    if (event.type === "text") pieces.set(event.messageId, (pieces.get(event.messageId) ?? "") + event.text);
    if (event.type !== "message" || event.message.role !== "assistant") return false;
    return (pieces.get(event.message.id) ?? "") !== event.text;
  });
}

const noise = fc.asyncProperty(fc.array(said, { maxLength: 40 }), fc.boolean(), async (all, dies) => {
  const backend = createFakeBackend();
  const told: TurnEvent[] = [];
  const session = await createSession({
    connect: backend.connect,
    timeouts: { grace: 2 },
    onEvent: (event) => told.push(event),
    onPermission: () => "proceed_once",
  });
  const turns = ["t-0", "t-1"].map((turnId) => session.stream("go", { id: turnId }));
  const taken = turns.map(async (turn) => {
    const events: TurnEvent[] = [];
    try {
      for await (const event of turn) events.push(event);
    } catch (error) {
      return { ends: events.filter(({ type }) => type === "end").length + 1, how: (error as Error).name };
    }
    return { ends: events.filter(({ type }) => type === "end").length, how: "ended" };
  });
  let asked = 0;
  for (const each of all) {
    if ("notice" in each) backend.notify(each.notice);
    else if ("line" in each) backend.line(each.line.replaceAll("\n", " "));
    else backend.ask(`q-${asked++}`, "droid.request_permission", each.ask);
    await settled();
  }
  if (dies) {
    backend.end();
  } else {
    for (const turn of turns) {
      backend.notify(busy, idle);
      await turn.result;
    }
  }
  const ends = await Promise.all(taken);
  const answers = backend.received.filter(({ type }) => type === "response");
  expect({
    ends: ends.map((end) => end.ends),
    how: ends.filter(({ how }) => how !== "ended" && !(dies && how === "BackendGoneError")),
    wrong: wrongPieces(told),
    isBusy: session.isBusy,
    allowed: answers.filter(({ result }) => result?.selectedOption !== "cancel"),
    answers: answers.map((answer) => answer.id),
  }).toEqual({
    ends: [1, 1],
    how: [],
    wrong: [],
    isBusy: false,
    // Nothing was offered, so nothing can have been chosen.
    allowed: [],
    answers: Array.from({ length: asked }, (_, nth) => `q-${nth}`),
  });
  await session.close();
});

it("with noise, each turn has one end, each message its text, and each question its answer", async () => {
  await fc.assert(noise, { numRuns: isFullRun ? 2_000 : 60, seed: givenSeed ?? 20_260_102, timeout: 5_000 });
}, 600_000);
