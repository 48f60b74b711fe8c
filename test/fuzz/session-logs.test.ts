import { readFile, writeFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { AgentError } from "../../src/engine/errors.ts";
import type { DurableEvent } from "../../src/engine/event.ts";
import { wireHistory } from "../../src/frontends/stream-jsonrpc/notifications/wire-messages.ts";
import { createJsonlStore } from "../../src/store/jsonl-store.ts";
import { decodeRecord, encodeRecord } from "../../src/store/records/records.ts";
import { ask, calls, createKit, says } from "../fakes/kit.ts";
import type { Random } from "../fakes/seeded-random.ts";
import { randomFrom } from "../fakes/seeded-random.ts";
import { isFullRun } from "../full-run.ts";
import { everyEvent } from "../store/sample-events.ts";
import { tempHome } from "../store/temp-home.ts";
import { firstSeed, mutateBytes, mutateJson, sharedByAll } from "./mutate.ts";

const rounds = isFullRun ? 10_000 : 150;

/** A session as the program writes it: tools, a title, a settings change, a moved folder. */
async function realLog(): Promise<readonly DurableEvent[]> {
  const kit = createKit([
    says("Hello."),
    calls(["Read", { file_path: "readme.md" }], ["LS", {}]),
    says("It says hello."),
    says("Here."),
  ]);
  const session = await kit.open({ tags: [{ name: "ci" }], appendSystemPrompt: "Be brief." });
  await ask(session, "Say hello");
  await session.update({ autonomy: "low", specModelId: "other" });
  await ask(session, "Read it");
  await session.rename("A title");
  await session.close();
  const { session: again } = await kit.engine.resume(session.id, { cwd: "/ws", changes: { specModelId: null } });
  await ask(again, "Where are you?");
  await again.close();
  const { events } = await kit.store.read(session.id);
  const last = events.at(-1)?.seq ?? 0;
  const moved = { type: "session.updated", changes: { mode: "spec" }, cwd: "/ws/b", seq: last + 1, at: 5 } as const;
  return [...events, { ...moved, sessionId: session.id }].map((event) => ({ ...event, sessionId: "s1" }));
}

const linesOf = (lines: readonly (Buffer | string)[]): Buffer =>
  Buffer.concat(lines.flatMap((line) => [Buffer.from(line), Buffer.from("\n")]));

interface Damaged {
  readonly bytes: Buffer;
  /** The earlier lines that are still unchanged. */
  readonly whole: ReadonlySet<number>;
  /** The changed line, if it is one; it can still look like a record. */
  readonly changed?: Buffer;
}

/** Changes, drops or doubles one line, inserts something, or mutates all bytes. */
function damage(random: Random, events: readonly DurableEvent[]): Damaged {
  const lines: Buffer[] = events.map((event) => Buffer.from(encodeRecord(event)));
  const at = random.chance(0.05) ? 0 : 1 + random.below(lines.length - 1);
  const line = lines[at] ?? Buffer.alloc(0);
  const others = new Set(lines.keys());
  others.delete(at);
  const kind = random.below(20);
  if (kind < 7) {
    const changed = mutateBytes(random, line);
    return { bytes: linesOf(lines.with(at, changed)), whole: others, changed };
  }
  if (kind < 15) {
    const record = JSON.parse(line.toString()) as { readonly seq: number };
    const seq = random.pick([1, record.seq - 1, record.seq + 1, record.seq + 7, 2 ** 31, Number.MAX_SAFE_INTEGER]);
    const said = random.chance(0.1) ? JSON.stringify({ ...record, seq }) : mutateJson(random, record);
    const changed = Buffer.from(said);
    return { bytes: linesOf(lines.with(at, changed)), whole: others, changed };
  }
  if (kind < 16) return { bytes: linesOf(lines.toSpliced(at, 1)), whole: others };
  if (kind < 17) return { bytes: linesOf(lines.toSpliced(at + 1, 0, line)), whole: new Set(lines.keys()) };
  if (kind < 18)
    return {
      bytes: linesOf(lines.toSpliced(at + 1, 0, Buffer.from("\u0000".repeat(random.below(5_000))))),
      whole: new Set(lines.keys()),
    };
  return { bytes: mutateBytes(random, mutateBytes(random, linesOf(lines))), whole: new Set() };
}

test(`${rounds} damaged session logs are read as far as they are intact, and continued`, {
  timeout: 600_000,
}, async () => {
  const store = createJsonlStore({ home: await tempHome() });
  await (await store.create(everyEvent("s1")[0] as DurableEvent)).release();
  const { path } = await store.info("s1");
  /** As read from an intact log. */
  const bases: (readonly DurableEvent[])[] = [];
  for (const events of [await realLog(), everyEvent("s1")]) {
    await writeFile(path, linesOf(events.map(encodeRecord)));
    bases.push((await store.read("s1")).events);
  }
  const shared = sharedByAll();
  const seen = { read: 0, refused: 0 };
  for (let round = 0; round < rounds; round += 1) {
    const seed = firstSeed + round;
    const random = randomFrom(seed);
    const events = random.pick(bases);
    const { bytes, whole, changed } = damage(random, events);
    await writeFile(path, bytes);
    const context = { seed, changed: changed?.toString("latin1").slice(0, 1_000) };
    const log = await store.read("s1").catch((error: unknown) => error);
    if (log instanceof Error) {
      seen.refused += 1;
      const isKnown = log instanceof AgentError && ["storage_failed", "session_not_found"].includes(log.code);
      expect({ ...context, isKnown, isWhole: whole.has(0) }).toEqual({ ...context, isKnown: true, isWhole: false });
      continue;
    }
    seen.read += 1;
    const { events: kept, damagedLines } = log as Awaited<ReturnType<typeof store.read>>;
    const seqs = kept.map(({ seq }) => seq);
    expect({ ...context, seqs }).toEqual({ ...context, seqs: [...new Set(seqs)].sort((a, b) => a - b) });
    const known = new Map(kept.map((event) => [event.seq, event]));
    const lost = [...whole].filter((index) => !isDeepStrictEqual(known.get(index + 1), events[index]));
    // A number changed into its neighbour's is ambiguous.
    const mayBeTaken = changed !== undefined && decodeRecord(changed.toString(), "s1").kind === "event";
    expect({ ...context, lost: lost.slice(mayBeTaken ? 1 : 0) }).toEqual({ ...context, lost: [] });
    const isTold = changed === undefined || kept.length + damagedLines.length >= events.length - 1;
    expect({ ...context, isTold }).toEqual({ ...context, isTold: true });

    if (round % 3 > 0) continue;
    // Neither the program nor a failing disk writes such deep nesting.
    if (/(?:\[|\{"a":){2000}/.test(bytes.toString("latin1"))) continue;
    const kit = createKit([says("OK")], { store });
    const { session } = await kit.engine.resume("s1", { toRead: true });
    expect({ ...context, wire: JSON.stringify(wireHistory(session.history())) }).toEqual({
      ...context,
      wire: expect.any(String),
    });
    expect({ ...context, bytes: (await readFile(path)).equals(bytes) }).toEqual({ ...context, bytes: true });
    const { modelId, reasoningEffort, autonomy, mode } = session.settings;
    const kinds = [session.cwd, session.title, modelId, reasoningEffort, autonomy, mode].map((value) => typeof value);
    expect({ ...context, kinds }).toEqual({ ...context, kinds: kinds.map(() => "string") });
    const outcome = await ask(session, "Are you there?");
    await session.close();
    expect({ ...context, outcome }).toMatchObject({
      ...context,
      outcome: { reason: expect.stringMatching(/^(completed|context_full)$/) },
    });
    const after = await store.read("s1");
    expect({ ...context, before: after.events.slice(0, kept.length) }).toEqual({ ...context, before: kept });
    expect(after.events.length).toBeGreaterThan(kept.length);
  }
  expect(sharedByAll()).toEqual(shared);
  expect([seen.read > rounds / 2, seen.refused > 0]).toEqual([true, true]);
});
