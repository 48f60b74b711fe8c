import { expect, test } from "vitest";
import type { ModelEvent } from "../../src/engine/ports.ts";
import { fullStore } from "../fakes/full-store.ts";
import { createKit, listen, says } from "../fakes/kit.ts";

test("a session that another process has taken over uses no number that the other gives to its own events", async () => {
  const { store, lose } = fullStore();
  const reply = async function* (): AsyncGenerator<ModelEvent> {
    lose();
    yield* says("Too late.");
  };
  const kit = createKit([reply], { store });
  const session = await kit.open();
  const heard = listen(session);
  const first = session.prompt([{ type: "text", text: "one" }], { messageId: "m1" });
  await first.accepted;
  const second = session.prompt([{ type: "text", text: "two" }], { messageId: "m2" });
  const outcomes = await Promise.all([first.outcome, second.outcome]);
  expect(outcomes.map(({ reason, failure }) => [reason, failure?.code])).toEqual([
    ["failed", "session_in_use"],
    ["failed", "session_in_use"],
  ]);
  await session.close().catch(() => undefined);
  await heard.stop();

  const { events } = await kit.store.read(session.id);
  const last = events.at(-1)?.seq ?? 0;
  const ends = heard.events.filter(({ type }) => type === "turn.ended");
  expect(ends.map(({ seq }) => seq)).toEqual([last, last]);
  expect(heard.events.every(({ seq = 0 }) => seq <= last)).toBe(true);
});
