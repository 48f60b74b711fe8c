import { readFile, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { createJsonlStore } from "../../src/store/jsonl-store.ts";
import { ask, createKit, says } from "../fakes/kit.ts";
import { tempHome } from "../store/temp-home.ts";

/** One finished turn, in a log with the lines of these types deleted. */
async function withoutLines(...types: readonly string[]) {
  const store = createJsonlStore({ home: await tempHome() });
  const session = await createKit([says("First answer.")], { store }).open();
  await ask(session, "one");
  await session.close();
  const { path } = await store.info(session.id);
  const lines = (await readFile(path, "utf8")).split("\n");
  const isLost = (line: string): boolean => types.some((type) => line.includes(`"type":"${type}"`));
  await writeFile(path, lines.filter((line) => !isLost(line)).join("\n"));
  const seqs = lines.filter(isLost).map((line) => (JSON.parse(line) as { readonly seq: number }).seq);
  const kit = createKit([says("Second answer.")], { store, ids: { next: () => "next" } });
  return { kit, id: session.id, seqs };
}

test("does not rerun a prompt whose `prompt.taken` line was deleted", async () => {
  const { kit, id, seqs } = await withoutLines("prompt.taken");
  const { session, damage } = await kit.engine.resume(id);
  const missingRecords = seqs.map((seq) => ({ from: seq, to: seq }));
  expect({ damage, waiting: session.waiting() }).toEqual({ damage: { damagedLines: [], missingRecords }, waiting: [] });
  expect(session.notices()).toMatchObject([{ text: `Record ${seqs[0]} of the session log is missing.` }]);
  await session.close();
});

test("reports a turn whose `message.ended` line was deleted as failed", async () => {
  const { kit, id, seqs } = await withoutLines("message.ended", "usage.updated");
  const { session } = await kit.engine.resume(id);
  expect(session.notices()).toMatchObject([
    { text: `Records ${seqs[0]}-${seqs.at(-1)} of the session log are missing.` },
  ]);
  const ends = (await session.past()).filter(({ type }) => type === "turn.ended");
  expect(ends).toMatchObject([{ reason: "failed", failure: { code: "storage_failed" } }]);
  await session.close();
});

test("a fork of a log with a gap reports it, and its own log has none", async () => {
  const { kit, id, seqs } = await withoutLines("message.ended", "usage.updated");
  const { session, damage } = await kit.engine.fork(id);
  expect(damage.missingRecords).toEqual([{ from: seqs[0], to: seqs.at(-1) }]);
  await session.close();
  const again = await kit.engine.resume("next");
  expect([again.damage, again.session.notices()]).toEqual([{ damagedLines: [], missingRecords: [] }, []]);
  await again.session.close();
});

test("a deleted tail is not a gap", async () => {
  const { kit, id } = await withoutLines("turn.ended");
  const { session } = await kit.engine.resume(id);
  await ask(session, "two");
  await session.close();
  const again = await kit.engine.resume(id);
  expect(again.session.notices()).toEqual([]);
  await again.session.close();
});
