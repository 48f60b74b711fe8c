import { describe, expect, test } from "vitest";
import type { SessionLog, SessionStore } from "../../src/engine/ports.ts";
import { SessionPool } from "../../src/engine/session/session-pool.ts";
import { ask, createKit, says, settings } from "../fakes/kit.ts";
import { createMemoryStore } from "../fakes/memory-store.ts";

const text = (words: string) => [{ type: "text", text: words }] as const;

/** A store that is slow to append while held. */
function slowStore() {
  const store = createMemoryStore();
  let held: Promise<void> | undefined;
  let letGo = (): void => undefined;
  const slow = (log: SessionLog): SessionLog => ({
    ...log,
    append: async (...given) => {
      await held;
      return log.append(...given);
    },
  });
  const slowed: SessionStore = {
    ...store,
    create: async (...given) => slow(await store.create(...given)),
    acquire: async (...given) => slow(await store.acquire(...given)),
  };
  return {
    store: slowed,
    hold: () => {
      held = new Promise((resolve) => {
        letGo = resolve;
      });
    },
    letGo: () => letGo(),
  };
}

describe("a prompt sent twice under one id", () => {
  test("runs once, and both callers are answered, however close they are", async () => {
    const session = await createKit([says("once"), says("twice")]).open();
    const handles = [1, 2, 3].map(() => session.prompt(text("delete the old branch"), { messageId: "m1" }));
    expect(await Promise.all(handles.map(({ accepted }) => accepted))).toEqual(Array(3).fill({ messageId: "m1" }));
    const outcomes = await Promise.all(handles.map(({ outcome }) => outcome));
    expect(outcomes.map(({ finalText }) => finalText)).toEqual(["once", "once", "once"]);
    const late = session.prompt(text("delete the old branch"), { messageId: "m1" });
    expect([await late.accepted, late.isRepeated]).toEqual([{ messageId: "m1" }, true]);
    expect(session.history().map(({ role }) => role)).toEqual(["user", "assistant"]);
  });

  test("also runs once after the session was reopened", async () => {
    const kit = createKit([says("once"), says("twice")]);
    const session = await kit.open();
    await session.prompt(text("go"), { messageId: "m1" }).outcome;
    await session.close();
    const { session: again } = await kit.engine.resume(session.id);
    const repeated = again.prompt(text("go"), { messageId: "m1" });
    expect([await repeated.accepted, repeated.isRepeated]).toEqual([{ messageId: "m1" }, true]);
    expect([again.isWorking, again.history().length]).toEqual([false, 2]);
  });

  test("is two prompts if the text differs, and none is lost", async () => {
    const session = await createKit([says("one"), says("two")]).open();
    const handles = ["a", "b"].map((words) => session.prompt(text(words), { messageId: "m1" }));
    await Promise.all(handles.map(({ outcome }) => outcome));
    expect(handles[0]?.messageId).toBe("m1");
    expect(handles[1]?.messageId).not.toBe("m1");
    const said = session.history().flatMap(({ role, content }) => (role === "user" ? [content] : []));
    expect(said).toEqual([text("a"), text("b")]);
  });

  test("can be sent again if it was dropped before it ran", async () => {
    const { store, hold, letGo } = slowStore();
    const session = await createKit([says("now")], { store }).open();
    hold();
    const first = session.prompt(text("go"), { messageId: "m1" });
    const dropped = session.interrupt();
    letGo();
    await dropped;
    expect((await first.outcome).reason).toBe("interrupted");
    expect((await session.prompt(text("go"), { messageId: "m1" }).outcome).finalText).toBe("now");
  });
});

test("a refused prompt does not block while another is being stored", async () => {
  const { store, hold, letGo } = slowStore();
  const kit = createKit([says("done")], { store });
  const pool = new SessionPool(kit.engine, { clock: kit.clock, idleMs: 1_000 });
  const held = await pool.create({ cwd: "/ws", settings });
  hold();
  const first = held.session.prompt(text("go"));
  await expect(held.session.prompt(text("x".repeat(10_000_001))).accepted).rejects.toMatchObject({
    code: "input_too_large",
  });
  held.release();
  // The loop that waits for the session must leave room for this timer.
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(held.session.busy()).toBeDefined();
  letGo();
  expect((await first.outcome).finalText).toBe("done");
  await pool.close();
});

test("a session whose prompt was refused is not busy", async () => {
  const session = await createKit([says("one")]).open();
  await expect(session.prompt(text("x".repeat(10_000_001))).accepted).rejects.toMatchObject({
    code: "input_too_large",
  });
  expect(session.busy()).toBeUndefined();
  expect((await ask(session, "go")).finalText).toBe("one");
});
