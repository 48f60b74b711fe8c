import { expect, test } from "vitest";
import { AgentError } from "../../../src/engine/errors.ts";
import type { ModelEvent, SessionLog, SessionStore } from "../../../src/engine/ports.ts";
import type { Session } from "../../../src/engine/session/session.ts";
import { SessionPool } from "../../../src/engine/session/session-pool.ts";
import type { FakeReply } from "../../fakes/kit.ts";
import { ask, calls, createKit, says, settings, until } from "../../fakes/kit.ts";
import { createMemoryStore } from "../../fakes/memory-store.ts";

const idleMs = 60_000;
const fresh = { cwd: "/ws", settings };

function createPool(replies: readonly FakeReply[] = [], store?: SessionStore) {
  const kit = createKit(replies, store === undefined ? {} : { store });
  const idled: string[] = [];
  const onIdle = (session: Session): void => void idled.push(session.id);
  return { kit, idled, pool: new SessionPool(kit.engine, { clock: kit.clock, idleMs, onIdle }) };
}

/** A reply that comes on demand. */
function later(text: string): { readonly reply: FakeReply; come(): void } {
  let come = (): void => undefined;
  const awaited = new Promise<void>((resolve) => {
    come = resolve;
  });
  async function* reply(_: unknown, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    await Promise.race([awaited, aborted]);
    if (!signal.aborted) yield* says(text);
  }
  return { reply, come: () => come() };
}

const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("clients that open an open session share it", async () => {
  const { pool } = createPool();
  const made = await pool.create(fresh);
  const { id } = made.session;
  const opened = await pool.open(id);
  expect(opened.session).toBe(made.session);
  expect([made.wasOpen, opened.wasOpen, made.isShared(), opened.isShared()]).toEqual([false, true, true, true]);
  made.release();
  expect([made.isShared(), opened.isShared()]).toEqual([true, false]);
  expect([pool.get(id), pool.all(), pool.get("other")]).toEqual([opened.session, [opened.session], undefined]);
});

test("clients that open a closed one at the same time share it", async () => {
  const { pool } = createPool();
  const { session } = await pool.create(fresh);
  await session.close();
  const holds = await Promise.all([1, 2, 3, 4].map(() => pool.open(session.id)));
  expect(new Set(holds.map((hold) => hold.session)).size).toBe(1);
  expect(holds[0]?.session).not.toBe(session);
  expect(holds.map(({ wasOpen }) => wasOpen)).toEqual([false, true, true, true]);
});

test("a session without holds is closed after a while, and can be reopened", async () => {
  const { pool, kit, idled } = createPool([says("one")]);
  const hold = await pool.create(fresh);
  const { session } = hold;
  await ask(session, "go");
  hold.release();
  hold.release();
  await soon();
  kit.clock.advance(idleMs - 1);
  await soon();
  expect([session.isClosed, idled]).toEqual([false, []]);
  kit.clock.advance(1);
  expect(pool.get(session.id)).toBeUndefined();
  const again = await pool.open(session.id);
  expect(idled).toEqual([session.id]);
  expect(again.session.history()).toHaveLength(2);
  again.release();
  await pool.close();
  expect([kit.clock.waiting, kit.engine.sessions()]).toEqual([0, []]);
});

test("a hold taken in the meantime keeps it open", async () => {
  const { pool, kit } = createPool();
  const first = await pool.create(fresh);
  first.release();
  await soon();
  expect(kit.clock.waiting).toBe(1);
  const second = await pool.open(first.session.id);
  expect(kit.clock.waiting).toBe(0);
  kit.clock.advance(idleMs * 2);
  expect(first.session.isClosed).toBe(false);
  first.release();
  expect(kit.clock.waiting).toBe(0);
  second.release();
  await soon();
  expect(kit.clock.waiting).toBe(1);
});

test("running and waiting work is done before the time counts", async () => {
  const [one, two] = [later("one"), later("two")];
  const { pool, kit, idled } = createPool([one.reply, two.reply]);
  const hold = await pool.create(fresh);
  const { session } = hold;
  const outcomes = ["a", "b"].map((text) => session.prompt([{ type: "text", text }]).outcome);
  hold.release();
  await until(() => kit.requests.length === 1);
  kit.clock.advance(idleMs);
  one.come();
  await until(() => kit.requests.length === 2);
  kit.clock.advance(idleMs);
  let isIdle = false;
  void pool.idle().then(() => {
    isIdle = true;
  });
  await soon();
  expect([isIdle, session.isClosed, kit.clock.waiting]).toEqual([false, false, 0]);
  two.come();
  expect((await Promise.all(outcomes)).map(({ finalText }) => finalText)).toEqual(["one", "two"]);
  await until(() => isIdle && kit.clock.waiting === 1);
  kit.clock.advance(idleMs);
  await until(() => idled.length === 1);
  expect(session.isClosed).toBe(true);
});

test("work started without a hold is done as well", async () => {
  const reply = later("done");
  const { pool, kit } = createPool([reply.reply]);
  const { session, release } = await pool.create(fresh);
  release();
  await soon();
  const outcome = ask(session, "go");
  kit.clock.advance(idleMs);
  await until(() => kit.requests.length === 1);
  reply.come();
  expect((await outcome).reason).toBe("completed");
  await until(() => kit.clock.waiting === 1);
  expect(session.isClosed).toBe(false);
});

test("a session waiting for an answer that cannot come does not stay open forever", async () => {
  const { pool, kit, idled } = createPool([calls(["Execute", { command: "git push" }])]);
  const hold = await pool.create({ cwd: "/ws", settings: { ...settings, autonomy: "off" } });
  const { session } = hold;
  const attachment = session.attach({ approve: true, answer: true, onDetach: "keep" });
  const outcome = ask(session, "go");
  await until(() => session.openRequests().size === 1);
  attachment.detach();
  hold.release();
  await pool.idle();
  kit.clock.advance(idleMs - 1);
  expect(session.openRequests().size).toBe(1);
  kit.clock.advance(1);
  expect((await outcome).reason).toBe("interrupted");
  await until(() => idled.length === 1);
});

test("another user's session does not exist, open or not", async () => {
  const { pool, kit } = createPool();
  const made = await pool.create({ cwd: "/ws", settings: { ...settings, owner: "ann" } });
  const { id } = made.session;
  const allows = (owner: string) => ({ allows: (its: { readonly owner?: string }) => its.owner === owner });
  await expect(pool.open(id, allows("bob"))).rejects.toMatchObject({ code: "session_not_found" });
  await expect(kit.engine.resume(id, allows("bob"))).rejects.toMatchObject({ code: "session_not_found" });
  await expect(kit.engine.resume(id, allows("ann"))).rejects.toMatchObject({ code: "session_in_use" });
  await pool.end(id);
  const changes = { autonomy: "off" } as const;
  await expect(pool.open(id, { ...allows("bob"), changes })).rejects.toMatchObject({ code: "session_not_found" });
  await expect(kit.engine.fork(id, allows("bob"))).rejects.toMatchObject({ code: "session_not_found" });
  const { session } = await pool.open(id, allows("ann"));
  expect(session.settings).toEqual({ ...settings, owner: "ann" });
  expect((await kit.engine.fork(id)).session.settings.owner).toBe("ann");
});

test("a failed opening fails for each caller, and leaves nothing behind", async () => {
  const { pool } = createPool();
  const results = await Promise.allSettled([pool.open("none"), pool.open("none"), pool.end("none")]);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
  const { session } = await pool.create({ cwd: "/gone", settings, id: "mine" });
  await session.close();
  const [failed, opened] = await Promise.allSettled([pool.open("mine"), pool.open("mine", { toRead: true })]);
  expect([failed.status, opened.status]).toEqual(["rejected", "fulfilled"]);
  expect(pool.all()).toHaveLength(1);
});

test("an id is created once, and concurrent openers wait for it", async () => {
  const { pool } = createPool();
  const results = await Promise.allSettled([
    pool.create({ ...fresh, id: "mine" }),
    pool.open("mine"),
    pool.create({ ...fresh, id: "mine" }),
  ]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
  expect(results[2]).toMatchObject({ reason: { code: "session_exists" } });
  expect(pool.all()).toHaveLength(1);
});

test("opening a session while it is being ended waits and reopens it", async () => {
  const reply = later("never");
  const { pool, kit } = createPool([reply.reply, says("again")]);
  const { session } = await pool.create(fresh);
  const { id } = session;
  const outcome = ask(session, "go");
  await until(() => kit.requests.length === 1);
  const ending = pool.end(id);
  expect([pool.get(id), pool.all().length]).toEqual([undefined, 0]);
  const [again] = await Promise.all([pool.open(id), pool.end(id), ending]);
  expect((await outcome).reason).toBe("interrupted");
  expect([again.session === session, session.isClosed, again.session.isClosed]).toEqual([false, true, false]);
  expect((await ask(again.session, "more")).finalText).toBe("again");
});

test("ending a session while it is being opened ends it", async () => {
  const { pool } = createPool();
  const { session } = await pool.create(fresh);
  await session.close();
  const opening = pool.open(session.id);
  await pool.end(session.id);
  expect((await opening).session.isClosed).toBe(true);
  expect(pool.all()).toEqual([]);
});

test("closing includes sessions being opened or created, and nothing opens after it", async () => {
  const { pool, kit } = createPool();
  const { session, release } = await pool.create(fresh);
  await session.close();
  const unheld = await pool.create(fresh);
  unheld.release();
  release();
  const under = [pool.create(fresh), pool.create({ ...fresh, id: "mine" }), pool.open(session.id), pool.close()];
  const results = await Promise.allSettled(under);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected", "fulfilled"]);
  expect(results[0]).toMatchObject({ reason: { code: "session_closed" } });
  await expect(pool.create(fresh)).rejects.toMatchObject({ code: "session_closed" });
  await expect(pool.open(session.id)).rejects.toMatchObject({ code: "session_closed" });
  expect([pool.all(), kit.engine.sessions(), kit.clock.waiting]).toEqual([[], [], 0]);
});

test("nothing remains of thousands that were opened and closed", async () => {
  const { pool, kit } = createPool();
  for (let round = 0; round < 10; round += 1) {
    const holds = await Promise.all(Array.from({ length: 1_000 }, () => pool.create(fresh)));
    expect(kit.engine.sessions()).toHaveLength(1_000);
    for (const { release } of holds) release();
    await until(() => kit.clock.waiting === 1_000);
    kit.clock.advance(idleMs);
    await until(() => kit.engine.sessions().length === 0);
    expect([pool.all(), kit.clock.waiting]).toEqual([[], 0]);
  }
});

test("a log that cannot be closed keeps no session open, and affects nothing else", async () => {
  const store = createMemoryStore();
  const badly = (log: SessionLog): SessionLog => ({
    append: (events, options) => log.append(events, options),
    release: async () => {
      await log.release();
      throw new AgentError("storage_failed", "The disk is gone.");
    },
  });
  const { kit, pool, idled } = createPool([], { ...store, create: async (first) => badly(await store.create(first)) });
  const [left, kept] = [await pool.create(fresh), await pool.create(fresh)];
  left.release();
  await until(() => kit.clock.waiting > 0);
  kit.clock.advance(idleMs);
  await until(() => idled.length === 1);
  expect(pool.all()).toEqual([kept.session]);
  await pool.close();
  expect([pool.all(), kept.session.isClosed]).toEqual([[], true]);
});

/** A session whose client runs the tool Sum, as `/ws` opens it. */
const withTool = {
  cwd: "/ws",
  settings: { ...settings, clientTools: [{ name: "Sum", description: "", inputSchema: '{"type":"object"}' }] },
};

test.each(["before", "after"])(
  "does not wait for a client tool whose client is gone (gone %s it was called)",
  async (when) => {
    let come = (): void => undefined;
    const awaited = new Promise<void>((resolve) => {
      come = resolve;
    });
    const callsThen: FakeReply = async function* () {
      await awaited;
      yield* calls(["Sum", {}]);
    };
    const { pool } = createPool([callsThen]);
    const hold = await pool.create(withTool);
    const { session } = hold;
    session.attach({ approve: false, answer: false, runTools: true, onDetach: "keep" });
    const handle = session.prompt([{ type: "text", text: "go" }]);
    await handle.accepted;
    let isIdle = false;
    const idle = pool.idle().then(() => {
      isIdle = true;
    });
    if (when === "before") hold.release();
    come();
    await until(() => session.openRequests().size > 0);
    await soon();
    if (when === "after") {
      expect(isIdle).toBe(false);
      hold.release();
    }
    await idle;
    await pool.close();
    expect(await handle.outcome).toMatchObject({ reason: "interrupted" });
  },
);
