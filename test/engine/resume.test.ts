import { describe, expect, test } from "vitest";
import type { SessionStore } from "../../src/engine/ports.ts";
import { fullStore } from "../fakes/full-store.ts";
import { ask, calls, countingIds, createKit, says, until } from "../fakes/kit.ts";

const text = (words: string) => [{ type: "text", text: words }] as const;

describe("resume", () => {
  test("continues with the whole history and dense numbers", async () => {
    const kit = createKit([says("OK"), says("GRAPE")]);
    const session = await kit.open();
    await ask(session, "Remember GRAPE");
    await session.close();
    const { session: again, damage } = await kit.engine.resume(session.id);
    await ask(again, "What was it?");
    await again.close();
    expect(damage).toEqual({ damagedLines: [], missingRecords: [] });
    expect(kit.requests[1]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    const { events } = await kit.store.read(session.id);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  });

  test("loading writes nothing until something happens", async () => {
    const kit = createKit([says("unused"), says("x")]);
    const killed = await killedMidTurn(kit);
    const before = await kit.store.read(killed);
    const { session } = await kit.engine.resume(killed);
    expect(session.history().at(-1)).toMatchObject({ role: "assistant", stop: "interrupted" });
    await session.close();
    expect(await kit.store.read(killed)).toEqual(before);
  });

  test("closes what a killed process left open, once", async () => {
    const kit = createKit([says("unused"), says("back"), says("again")]);
    const killed = await killedMidTurn(kit);
    for (const words of ["are you there?", "still?"]) {
      const { session } = await kit.engine.resume(killed);
      expect((await ask(session, words)).reason).toBe("completed");
      await session.close();
    }
    const { events } = await kit.store.read(killed);
    const turns = events.filter(({ type }) => type === "turn.started" || type === "turn.ended");
    expect(turns.map((event) => event.type)).toEqual(
      Array.from({ length: 3 }, () => ["turn.started", "turn.ended"]).flat(),
    );
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  });

  test("a prompt that was accepted but never run joins the next turn", async () => {
    const kit = createKit([says("both done")]);
    const session = await kit.open();
    await session.close();
    await append(kit.store, session.id, [{ type: "prompt.accepted", messageId: "lost", content: text("buy milk") }]);
    const { session: again } = await kit.engine.resume(session.id);
    expect(again.waiting()).toMatchObject([{ messageId: "lost", content: text("buy milk") }]);
    const outcome = await ask(again, "and bread");
    expect(outcome.reason).toBe("completed");
    expect(again.waiting()).toEqual([]);
    expect(kit.requests).toHaveLength(1);
    expect(kit.requests[0]?.messages.map(({ content }) => content.at(-1))).toEqual([
      ...text("buy milk"),
      ...text("and bread"),
    ]);
  });

  test("a half-run tool is marked interrupted and not rerun", async () => {
    const kit = createKit([says("I see")]);
    const session = await kit.open();
    await session.close();
    const message = {
      id: "m1",
      role: "assistant",
      content: [
        { type: "tool_call", id: "c1", name: "Execute", input: { command: "make" } },
        { type: "tool_call", id: "c2", name: "LS", input: {} },
      ],
      createdAt: 1,
      stop: "tool_calls",
      model: "fake",
    } as const;
    await append(kit.store, session.id, [
      { type: "prompt.accepted", messageId: "p1", content: text("build") },
      { type: "turn.started", turnId: "t1", model: "fake" },
      { type: "prompt.taken", messageId: "p1", reminders: [] },
      { type: "message.ended", message },
      { type: "tool.started", callId: "c1", name: "Execute" },
    ]);
    const { session: again } = await kit.engine.resume(session.id);
    await ask(again, "well?");
    expect(kit.host.commands).toEqual([]);
    expect(kit.requests[0]?.messages[2]?.content).toMatchObject([
      { callId: "c1", status: "interrupted", text: expect.stringContaining("partly done") },
      { callId: "c2", status: "interrupted", text: expect.stringContaining("not run") },
    ]);
  });

  test("settings come back, and changes are stored", async () => {
    const kit = createKit([], { files: { "/elsewhere/a": "" } });
    const session = await kit.open({ autonomy: "low", specModelId: "other", tags: [{ name: "ci" }] });
    await session.update({ autonomy: "medium", specModelId: null });
    await session.close();
    const { session: again } = await kit.engine.resume(session.id, {
      changes: { reasoningEffort: "high" },
      cwd: "/elsewhere",
    });
    expect(again.settings).toEqual({
      modelId: "fake",
      reasoningEffort: "high",
      autonomy: "medium",
      mode: "auto",
      tags: [{ name: "ci" }],
    });
    expect(again.cwd).toBe("/elsewhere");
  });

  test("rejects a session in use, and does not find an unknown one", async () => {
    const kit = createKit([]);
    const session = await kit.open();
    await expect(kit.engine.resume(session.id)).rejects.toMatchObject({ code: "session_in_use" });
    await expect(kit.engine.resume("nobody")).rejects.toMatchObject({ code: "session_not_found" });
  });
});

test("a fork has the conversation, its own id and its own future", async () => {
  const kit = createKit([says("OK"), says("in the fork"), says("in the original")], { ids: countingIds() });
  const session = await kit.open();
  await ask(session, "Remember PEAR");
  const { session: fork } = await kit.engine.fork(session.id);
  await ask(fork, "fork here");
  await ask(session, "original here");
  expect(fork.id).not.toBe(session.id);
  const said = (s: typeof session) => s.history().map(({ content }) => content.at(-1));
  expect(said(fork)).toMatchObject([
    { text: "Remember PEAR" },
    { text: "OK" },
    { text: "fork here" },
    { text: "in the fork" },
  ]);
  expect(said(session)).toMatchObject([
    { text: "Remember PEAR" },
    { text: "OK" },
    { text: "original here" },
    { text: "in the original" },
  ]);
  const { events } = await kit.store.read(fork.id);
  expect(events[0]).toMatchObject({ type: "session.opened", forkOf: { sessionId: session.id } });
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
});

async function killedMidTurn(kit: ReturnType<typeof createKit>): Promise<string> {
  const session = await kit.open();
  await session.close();
  await append(kit.store, session.id, [
    { type: "prompt.accepted", messageId: "p1", content: text("go") },
    { type: "turn.started", turnId: "t1", model: "fake" },
    { type: "prompt.taken", messageId: "p1", reminders: [] },
    { type: "message.checkpoint", messageId: "m1", block: 0, kind: "text", from: 0, text: "I was " },
    { type: "message.checkpoint", messageId: "m1", block: 0, kind: "text", from: 6, text: "about to" },
  ]);
  kit.requests.push({ system: "", mark: "", messages: [], tools: [], reasoningEffort: "none", mode: "auto" });
  return session.id;
}

/** Writes like a process that is then killed. */
async function append(store: SessionStore, id: string, bodies: readonly object[]): Promise<void> {
  const { events } = await store.read(id);
  const log = await store.acquire(id);
  const numbered = bodies.map((body, index) => ({ at: 1, sessionId: id, seq: events.length + 1 + index, ...body }));
  await log.append(numbered as never);
  await log.release();
}

test("a fork copies no request previews, and is closed if it cannot be named", async () => {
  const { store, full } = fullStore();
  const kit = createKit([calls(["Create", { file_path: "a", content: "a" }]), says("made")], {
    store,
    ids: countingIds(),
  });
  const session = await kit.open({ autonomy: "off" });
  const attachment = session.attach({ approve: true, answer: true, onDetach: "cancel" });
  const turn = session.prompt([{ type: "text", text: "go" }]);
  await until(() => session.openRequests().size > 0);
  const [requestId = ""] = session.openRequests().keys();
  attachment.answer(requestId, { kind: "allow" });
  await turn.outcome;
  const shownIn = async (id: string) => JSON.stringify((await store.read(id)).events).includes('"preview"');
  const { session: fork } = await kit.engine.fork(session.id);
  expect([await shownIn(session.id), await shownIn(fork.id)]).toEqual([true, false]);
  await fork.close();

  full("session.titled");
  await expect(kit.engine.fork(session.id, { title: "named" })).rejects.toMatchObject({ code: "storage_failed" });
  full(false);
  const ids = (await store.list()).map(({ id }) => id).filter((id) => id !== session.id && id !== fork.id);
  for (const id of ids) await (await store.acquire(id)).release();
  await session.close();
});
