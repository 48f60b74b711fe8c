import { describe, expect, test } from "vitest";
import type { EngineEvent } from "../../src/engine/event.ts";
import type { ModelEvent } from "../../src/engine/ports.ts";
import { fullStore } from "../fakes/full-store.ts";
import { ask, calls, createKit, type Kit, listen, says, until } from "../fakes/kit.ts";

const text = (words: string) => [{ type: "text", text: words }] as const;

/** A model that answers on demand. */
function held() {
  let goOn = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const reply = async function* (_: unknown, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    await Promise.race([gate, new Promise((resolve) => signal.addEventListener("abort", resolve))]);
    yield* says("Slow.");
  };
  return { reply, goOn: () => goOn() };
}

/** Everything in the log, which must be numbered without gaps. */
async function logged(kit: Kit, id: string) {
  const { events } = await kit.store.read(id);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  return events;
}

const endsIn = (events: readonly EngineEvent[]) =>
  events.flatMap((event) => {
    if (event.type === "prompt.discarded") return [["discarded", event.messageId]];
    return event.type === "turn.ended" ? [[event.reason, ...(event.untaken ?? [])]] : [];
  });

describe("a disk that is full", () => {
  test("an interrupt reports no discard for a prompt that was never accepted", async () => {
    const { store, full } = fullStore();
    const kit = createKit([says("Room.")], { store });
    const session = await kit.open();
    const heard = listen(session);
    full("prompt.accepted");
    const { accepted } = session.prompt(text("lost"), { messageId: "m1" });
    const failed = expect(accepted).rejects.toMatchObject({ code: "storage_failed" });
    // The write is under way by now, and the interrupt still finds the prompt in the queue.
    await null;
    await null;
    await session.interrupt();
    await failed;
    full(false);
    expect((await ask(session, "again")).finalText).toBe("Room.");
    await heard.stop();
    expect([endsIn(heard.events), endsIn(await logged(kit, session.id))]).toEqual([[["completed"]], [["completed"]]]);
    await session.close();
  });

  test("ends waiting prompts once each and in order; they are not rerun, and later ones are", async () => {
    const { store, full } = fullStore();
    const { reply, goOn } = held();
    const kit = createKit([reply, says("Room."), says("Again.")], { store });
    const session = await kit.open();
    const heard = listen(session);
    const [first, ...others] = ["m1", "m2", "m3"].map((messageId) => session.prompt(text(messageId), { messageId }));
    for (const { accepted } of others) await accepted;
    full(true);
    goOn();
    const outcomes = await Promise.all([first, ...others].map((handle) => handle?.outcome));
    expect(outcomes.map((outcome) => [outcome?.reason, outcome?.failure?.code])).toEqual(
      Array(3).fill(["failed", "storage_failed"]),
    );
    expect([session.waiting(), session.isWorking]).toEqual([[], false]);
    await expect(session.prompt(text("no room")).accepted).rejects.toMatchObject({ code: "storage_failed" });
    full(false);
    expect((await ask(session, "room")).finalText).toBe("Room.");
    await heard.stop();
    await session.close();
    const ends = [["failed"], ["failed", "m2"], ["failed", "m3"], ["completed"]];
    expect([endsIn(heard.events), endsIn(await logged(kit, session.id))]).toEqual([ends, ends]);

    const { session: again } = await kit.engine.resume(session.id);
    expect(again.waiting()).toEqual([]);
    again.takeUpWaiting();
    expect((await ask(again, "again")).finalText).toBe("Again.");
    const users = kit.requests.at(-1)?.messages.filter(({ role }) => role === "user") ?? [];
    expect(users.map(({ content }) => content.at(-1))).toEqual([...text("m1"), ...text("room"), ...text("again")]);
    await again.close();
  });

  test.each(["turn.started", "prompt.taken"] as const)("on %s ends the prompt with its turn", async (type) => {
    const { store, full } = fullStore();
    const kit = createKit([says("Well.")], { store });
    const session = await kit.open();
    const heard = listen(session);
    full(type);
    const failed = await session.prompt(text("one"), { messageId: "m1" }).outcome;
    expect([failed.reason, failed.failure?.code, session.waiting()]).toEqual(["failed", "storage_failed", []]);
    full(false);
    expect((await ask(session, "two")).finalText).toBe("Well.");
    await heard.stop();
    expect(endsIn(heard.events)).toEqual([["failed", "m1"], ["completed"]]);
    expect(endsIn(await logged(kit, session.id))).toEqual(endsIn(heard.events));
    await session.close();
  });

  test("ends a prompt that was to join the turn", async () => {
    const { store, full } = fullStore();
    const kit = createKit([calls(["Read", { file_path: "/ws/readme.md" }]), says("unused")], { store });
    const session = await kit.open();
    const heard = listen(session);
    const first = session.prompt(text("read"));
    for await (const { type } of session.attach({ approve: false, answer: false, onDetach: "keep" }).events()) {
      if (type === "tool.started") break;
    }
    const joined = session.prompt(text("and this"), { messageId: "m2", joins: true });
    await joined.accepted;
    full("prompt.taken");
    expect([(await first.outcome).reason, (await joined.outcome).reason]).toEqual(["failed", "failed"]);
    await heard.stop();
    expect([endsIn(heard.events), session.waiting()]).toEqual([[["failed", "m2"]], []]);
    await session.close();
  });

  test("still lets waiting prompts be dropped, which the log records once there is room", async () => {
    const { store, full } = fullStore();
    const kit = createKit([held().reply, says("Room.")], { store });
    const session = await kit.open();
    const heard = listen(session);
    session.prompt(text("one"), { messageId: "m1" });
    await until(() => kit.requests.length === 1);
    const waits = session.prompt(text("two"), { messageId: "m2" });
    await waits.accepted;
    full(true);
    const refused = session.prompt(text("three"), { messageId: "m3" });
    await expect(session.interrupt()).rejects.toMatchObject({ code: "storage_failed" });
    await expect(refused.accepted).rejects.toMatchObject({ code: "storage_failed" });
    expect([(await waits.outcome).reason, session.waiting()]).toEqual(["interrupted", []]);
    full(false);
    await ask(session, "room");
    await heard.stop();
    const ends = [["discarded", "m2"], ["failed"], ["completed"]];
    expect([endsIn(heard.events), endsIn(await logged(kit, session.id))]).toEqual([ends, ends]);
    await session.close();
  });

  test("and has room when the session closes: the log has everything that ended", async () => {
    const { store, full } = fullStore();
    const kit = createKit([], { store });
    const session = await kit.open();
    full("turn.started");
    await session.prompt(text("one"), { messageId: "m1" }).accepted;
    full(true);
    await session.busy();
    const before = await logged(kit, session.id);
    full(false);
    await session.close();
    expect([endsIn(before), endsIn(await logged(kit, session.id))]).toEqual([[], [["failed", "m1"]]]);
  });

  test("leaves no part of a fork", async () => {
    const { store, full } = fullStore();
    const kit = createKit([says("Well.")], { store });
    const session = await kit.open();
    await ask(session, "one");
    full("message.ended");
    await expect(kit.engine.fork(session.id)).rejects.toMatchObject({ code: "storage_failed" });
    full(false);
    expect((await kit.engine.list()).map(({ id }) => id)).toEqual([session.id]);
    const { session: fork } = await kit.engine.fork(session.id);
    expect((await kit.engine.list()).map(({ id }) => id).sort()).toEqual([fork.id, session.id].sort());
    await fork.close();
    await session.close();
  });
});
