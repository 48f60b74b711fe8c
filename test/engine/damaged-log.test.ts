import { expect, test } from "vitest";
import type { DurableEvent, EngineEvent } from "../../src/engine/event.ts";
import type { ModelEvent } from "../../src/engine/ports.ts";
import { damagedStore } from "../fakes/damaged-store.ts";
import { ask, calls, createKit, says } from "../fakes/kit.ts";
import { createMemoryStore } from "../fakes/memory-store.ts";

/** Text long enough for a checkpoint before the reply ends. */
const long = "x".repeat(5_000);
const slowly: ModelEvent[] = [{ type: "text", text: long }, ...says(" end")];

/** Two turns, read back without the records that `isLost` matches. */
async function reopened(isLost: (event: DurableEvent) => boolean) {
  const store = createMemoryStore({ now: () => 1 });
  const first = createKit([slowly, calls(["LS", {}]), says("Second answer.")], { store });
  const session = await first.open();
  await ask(session, "one");
  await ask(session, "two");
  await session.close();
  const kit = createKit([says("Third answer.")], { store: damagedStore(store, isLost) });
  return { kit, ...(await kit.engine.resume(session.id)) };
}

test("a session with a damaged log notifies every client that opens it", async () => {
  const { session } = await reopened(({ seq }) => seq === 5 || seq === 7);
  const told: EngineEvent[] = [
    {
      type: "notice",
      level: "warning",
      text: "2 damaged lines of the session log skipped (line 5, 7).",
      at: 1_000_000,
      sessionId: session.id,
    },
  ];
  expect(session.notices()).toEqual(told);
  await session.close();
});

test("a session with an intact log has no notices", async () => {
  const { session, damage } = await reopened(() => false);
  expect([session.notices(), damage]).toEqual([[], { damagedLines: [], missingRecords: [] }]);
  await session.close();
});

test("observers of all sessions learn of the damage", async () => {
  const seen: string[] = [];
  const store = createMemoryStore({ now: () => 1 });
  const session = await createKit([], { store }).open();
  await session.rename("x");
  await session.close();
  const kit = createKit([], {
    ids: { next: () => "fork" },
    store: damagedStore(store, ({ seq }) => seq === 2),
    observe: (event) => void (event.type === "notice" && seen.push(event.text)),
  });
  const { session: again } = await kit.engine.resume(session.id);
  const { session: fork } = await kit.engine.fork(session.id);
  expect(seen).toEqual(Array(2).fill("1 damaged line of the session log skipped (line 2)."));
  await Promise.all([again.close(), fork.close()]);
});

test("restores a lost reply from its checkpoints, as one that broke off", async () => {
  const { session } = await reopened((event) => event.type === "message.ended" && event.seq < 10);
  expect(session.history()[1]).toMatchObject({ role: "assistant", stop: "interrupted", content: [{ text: long }] });
  const ends = (await session.past()).filter(({ type }) => type === "turn.ended");
  expect(ends).toMatchObject([{ reason: "failed", failure: { code: "storage_failed" } }, { reason: "completed" }]);
  await session.close();
});

test("does not rerun a prompt whose taking was lost", async () => {
  const { kit, session } = await reopened((event) => event.type === "prompt.taken" && event.seq < 10);
  expect(session.waiting()).toEqual([]);
  expect(session.history().map(({ role }) => role)).toEqual([
    "user",
    "assistant",
    "user",
    "assistant",
    "tool",
    "assistant",
  ]);
  await ask(session, "three");
  expect(kit.requests[0]?.messages.filter(({ role }) => role === "user")).toHaveLength(3);
  await session.close();
});

test("whichever record is lost, numbers rise, every turn has its end, and the session continues", async () => {
  const { session: whole } = await reopened(() => false);
  const count = (await whole.past()).length;
  await whole.close();
  for (let lost = 2; lost <= count; lost += 1) {
    const { session } = await reopened(({ seq }) => seq === lost);
    const past = await session.past();
    const numbers = past.map(({ seq }) => seq);
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
    expect(session.isWorking).toBe(false);
    expect(await ask(session, "three")).toMatchObject({ reason: "completed", finalText: "Third answer." });
    await session.close();
  }
});
