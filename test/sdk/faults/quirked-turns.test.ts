import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSession } from "../../../src/sdk/node.ts";
import type { TurnEvent } from "../../../src/sdk/types.ts";
import { givenSeed, isFullRun } from "../../full-run.ts";
import { createFakeBackend } from "../fakes/fake-backend.ts";
import { drawnFaults, faultNames, withFaults } from "../traces/drawn-faults.ts";
import {
  type DrawnSession,
  drawnSession,
  expectedOf,
  type Item,
  itemsOf,
  seenOf,
  turnIdOf,
} from "../traces/drawn-turns.ts";

const numRuns = isFullRun ? 2_000 : 60;
/** A turn that does not end has failed. */
const chosen = { numRuns, seed: givenSeed ?? 20_260_101, timeout: 5_000 };

/** Plays the turns to a session whose prompts were all given at once. */
async function play(turns: readonly (readonly Item[])[]) {
  const backend = createFakeBackend();
  const wanted = new Map(
    turns.flat().flatMap((item) => ("question" in item ? [[item.question.id, item.answer] as const] : [])),
  );
  const session = await createSession({
    connect: backend.connect,
    timeouts: { grace: 5 },
    onPermission: ({ id }) => wanted.get(id) ?? "cancel",
  });
  const told = turns.map(async (_, nth) => {
    const turn = session.stream("go", { id: turnIdOf(nth) });
    const events: TurnEvent[] = [];
    for await (const event of turn) events.push(event);
    return seenOf(events, await turn.result);
  });
  for (const items of turns) {
    await backend.next("droid.add_user_message");
    for (const item of items) {
      if ("notice" in item) backend.notify(item.notice);
      else if ("line" in item) backend.line(item.line);
      else {
        backend.ask(item.question.id, "droid.request_permission", item.question.params);
        await backend.next("response");
      }
    }
  }
  const seen = await Promise.all(told);
  await session.close();
  const answers = backend.received
    .filter(({ type }) => type === "response")
    .map(({ id, result }) => [id, result?.selectedOption]);
  return {
    seen,
    answers,
    prompts: backend.received.filter(({ method }) => method === "droid.add_user_message").length,
  };
}

function expectedPlay(session: DrawnSession, turns: readonly (readonly Item[])[]) {
  return {
    seen: turns.map((_, nth) => expectedOf(session, nth)),
    answers: turns.flat().flatMap((item) => ("question" in item ? [[item.question.id, item.answer]] : [])),
    prompts: turns.length,
  };
}

const cleanOf = (session: DrawnSession) => session.turns.map((_, nth) => itemsOf(session, nth));

describe("random turns are seen correctly", () => {
  it("if the backend behaves", { timeout: 600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(drawnSession, async (session) => {
        const turns = cleanOf(session);
        expect(await play(turns)).toEqual(expectedPlay(session, turns));
      }),
      chosen,
    );
  });

  it.each(faultNames)("if the backend has one fault: %s", { timeout: 600_000 }, async (name) => {
    await fc.assert(
      fc.asyncProperty(drawnSession, fc.nat(1_000_000), async (session, seed) => {
        const turns = cleanOf(session);
        expect(await play(withFaults(turns, { seed, names: [name] }))).toEqual(expectedPlay(session, turns));
      }),
      { ...chosen, numRuns: Math.ceil(numRuns / 20) },
    );
  });

  it("if the backend has any number of faults together", { timeout: 600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(drawnSession, drawnFaults, async (session, faults) => {
        const turns = cleanOf(session);
        expect(await play(withFaults(turns, faults))).toEqual(expectedPlay(session, turns));
      }),
      chosen,
    );
  });
});
