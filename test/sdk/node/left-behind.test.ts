import { afterEach, describe, expect, it, vi } from "vitest";
import type { CommonOptions } from "../../../src/sdk/api.ts";
import { resumeSession } from "../../../src/sdk/browser.ts";
import {
  busy,
  completed,
  createFakeBackend,
  delta,
  type FakeBackend,
  idle,
  message,
  obliging,
  openOver,
  says,
  settings,
  settled,
} from "../fakes/fake-backend.ts";

/* Whose turn is running: ours, another client's, an abandoned one, or none. */

const { "droid.add_user_message": _, ...deaf } = obliging;
const user = (id: string) => message(id, "user", { type: "text", text: "…" });

const permission = {
  toolUses: [{ toolUse: { type: "tool_use", id: "c-1", name: "Execute", input: { command: "rm -rf x" } } }],
  options: [
    { value: "proceed_once", label: "Yes" },
    { value: "cancel", label: "No" },
  ],
};

/** Answers, by the ids of their requests. */
const answers = (backend: FakeBackend) =>
  backend.received.filter(({ type }) => type === "response").map(({ id, result }) => [id, result]);

const prompts = (backend: FakeBackend) =>
  backend.received.filter(({ method }) => method === "droid.add_user_message").map(({ params }) => params?.messageId);

afterEach(() => {
  vi.useRealTimers();
});

describe("behind another client's silent turn", () => {
  const running = { session: { messages: [] }, settings, isAgentLoopInProgress: true };
  const resumed = async (options: CommonOptions = {}) => {
    const backend = createFakeBackend({ ...obliging, "droid.load_session": () => running });
    const timeouts = { begin: 60, grace: 20 };
    return { backend, session: await resumeSession("s-1", { connect: backend.connect, timeouts, ...options }) };
  };
  const tooLate = { name: "TimeoutError", message: "The turn that ran before did not end within 60 ms." };

  it("no prompt is lost when the one before it is interrupted", async () => {
    const ends: string[] = [];
    const { session } = await resumed({
      onEvent: (event) => event.type === "end" && ends.push(event.result.turnId),
    });
    const first = session.stream("one", { id: "p-1" });
    const second = session.stream("two", { id: "p-2" });
    await first.interrupt();
    expect(await first.result).toMatchObject({ status: "interrupted" });
    await expect(second.result).rejects.toMatchObject(tooLate);
    const events = [];
    for await (const { type } of first) events.push(type);
    expect([events, ends]).toEqual([["end"], ["p-1", "p-2"]]);
    await session.close();
  });

  it("no prompt is lost when the one before it is aborted", async () => {
    const { session } = await resumed();
    const abort = new AbortController();
    const first = session.send("one", { signal: abort.signal });
    const second = session.send("two");
    abort.abort(new Error("enough"));
    await expect(first).rejects.toThrow("enough");
    await expect(second).rejects.toMatchObject(tooLate);
    await session.close();
  });

  it("a prompt times out even after an answered question", async () => {
    const { session, backend } = await resumed();
    const sent = session.send("one");
    backend.ask("q-1", "droid.request_permission", permission);
    await expect(sent).rejects.toMatchObject(tooLate);
    expect(answers(backend)).toEqual([["q-1", { selectedOption: "cancel" }]]);
    await session.close();
  });

  it("a prompt waits while a handler decides on that turn's question", async () => {
    let allow = (_: string): void => {};
    const { session, backend } = await resumed({
      timeouts: { begin: 200, grace: 20 },
      onPermission: () => new Promise((resolve) => (allow = resolve)),
    });
    backend.ask("q-1", "droid.request_permission", permission);
    const sent = session.send("one", { id: "p-1" });
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(session.isBusy).toBe(true);
    allow("proceed_once");
    await settled();
    backend.notify(idle);
    await backend.next("droid.add_user_message");
    backend.notify(user("p-1"), says("m-1", "Ours."), idle);
    expect(await sent).toMatchObject({ text: "Ours." });
    await session.close();
  });
});

it("prompts behind a rejected one sent by a call have their turns, however long they take", async () => {
  const { session, backend } = await openOver(createFakeBackend(deaf), { timeouts: { begin: 200, grace: 20 } });
  const called = session.call("add_user_message", { text: "x", messageId: "x" });
  const [first, second] = [session.send("one", { id: "p-1" }), session.send("two", { id: "p-2" })];
  backend.error((await backend.next("droid.add_user_message")).id, { code: -32000, message: "no" });
  await expect(called).rejects.toMatchObject({ name: "RequestError" });
  const one = await backend.next("droid.add_user_message");
  await new Promise((resolve) => setTimeout(resolve, 300));
  backend.result(one, {});
  backend.notify(user("p-1"), says("m-1", "One."), completed("p-1"));
  backend.result(await backend.next("droid.add_user_message"), {});
  backend.notify(user("p-2"), says("m-2", "Two."), completed("p-2"));
  expect([(await first).text, (await second).text]).toEqual(["One.", "Two."]);
  await session.close();
});

describe("a prompt not sent yet", () => {
  /** One turn has ended without a response to its request; another prompt waits for it. */
  const waiting = async () => {
    const { session, backend } = await openOver(createFakeBackend(deaf));
    const first = session.send("one", { id: "p-1" });
    const one = await backend.next("droid.add_user_message");
    backend.notify(user("p-1"), says("m-1", "One."), idle);
    expect(await first).toMatchObject({ text: "One." });
    const second = session.stream("two", { id: "p-2" });
    return { session, backend, one, second };
  };

  it("gets nothing of the turn before it", async () => {
    const { session, backend, one, second } = await waiting();
    backend.notify(busy, says("m-2", "More of one."), idle);
    await settled();
    expect(prompts(backend)).toEqual(["p-1"]);
    backend.result(one, {});
    backend.result(await backend.next("droid.add_user_message"), {});
    backend.notify(user("p-2"), says("m-3", "Two."), idle);
    expect(await second.result).toMatchObject({ status: "completed", text: "Two." });
    await session.close();
  });

  it("is never sent if it is interrupted", async () => {
    const { session, backend, one, second } = await waiting();
    await second.interrupt();
    expect(await second.result).toMatchObject({ status: "interrupted", text: "" });
    expect(session.isBusy).toBe(false);
    backend.result(one, {});
    await settled();
    expect(prompts(backend)).toEqual(["p-1"]);
    await session.close();
  });
});

describe("a prompt behind an abandoned one", () => {
  /** The first was never answered; the second was. */
  const behind = async (options: CommonOptions = {}) => {
    const { session, backend } = await openOver(createFakeBackend(deaf), {
      timeouts: { request: 200, begin: 200, grace: 20 },
      ...options,
    });
    await expect(session.send("one", { id: "p-1" })).rejects.toMatchObject({ name: "TimeoutError" });
    await backend.next("droid.add_user_message");
    const second = session.send("two", { id: "p-2" });
    backend.result(await backend.next("droid.add_user_message"), {});
    return { session, backend, second };
  };

  it("does not wait forever if that one asks and nothing follows", async () => {
    let asked = 0;
    const { session, backend, second } = await behind({
      onPermission: () => {
        asked += 1;
        return "proceed_once";
      },
    });
    backend.notify(busy, user("p-1"));
    backend.ask("q-1", "droid.request_permission", permission);
    backend.notify(idle);
    await expect(second).rejects.toThrow("began nothing within 200 ms");
    expect([asked, answers(backend)]).toEqual([0, [["q-1", { selectedOption: "cancel" }]]]);
    await session.close();
  });
});

describe("asks nothing in the name of a turn", () => {
  const onPermission = () => "proceed_once";

  it("that was stopped and has ended", async () => {
    const { session, backend } = await openOver(createFakeBackend(), { onPermission });
    const turn = session.stream("one", { id: "p-1" });
    await backend.next("droid.add_user_message");
    backend.notify(user("p-1"), delta("m-1", "x"));
    await settled();
    await turn.interrupt();
    backend.notify(idle);
    expect(await turn.result).toMatchObject({ status: "interrupted" });
    backend.ask("q-1", "droid.request_permission", permission);
    await settled();
    expect(answers(backend)).toEqual([["q-1", { selectedOption: "cancel" }]]);
    // Another client's turn is different.
    backend.notify(user("theirs"));
    backend.ask("q-2", "droid.request_permission", permission);
    await settled();
    expect(answers(backend).slice(1)).toEqual([["q-2", { selectedOption: "proceed_once" }]]);
    await session.close();
  });

  it("that was abandoned, and runs when nothing else does", async () => {
    const { session, backend } = await openOver(createFakeBackend(deaf), {
      onPermission,
      timeouts: { request: 40, grace: 20 },
    });
    await expect(session.send("one", { id: "p-1" })).rejects.toMatchObject({ name: "TimeoutError" });
    backend.notify(busy, user("p-1"));
    backend.ask("q-1", "droid.request_permission", permission);
    await settled();
    expect(answers(backend)).toEqual([["q-1", { selectedOption: "cancel" }]]);
    await session.close();
  });

  it("except of a prompt sent by a call", async () => {
    const { session, backend } = await openOver(createFakeBackend(), { onPermission });
    const first = session.send("one", { id: "p-1" });
    await session.call("add_user_message", { text: "x", messageId: "x" });
    backend.notify(user("p-1"), says("m-1", "One."), idle);
    await first;
    const second = session.send("two", { id: "p-2" });
    backend.notify(user("x"));
    backend.ask("q-1", "droid.request_permission", permission);
    backend.notify(says("m-2", "Of x."), idle, user("p-2"), says("m-3", "Two."), idle);
    expect(await second).toMatchObject({ text: "Two." });
    expect(answers(backend)).toEqual([["q-1", { selectedOption: "proceed_once" }]]);
    await session.close();
  });
});

describe("an abandoned turn that continues adds nothing to the next", () => {
  const goesOn = [says("m-2", "The secret of one."), idle, user("p-2"), says("m-3", "Two."), idle];

  it.each([
    ["by its id", (id: string) => id],
    ["without an id", () => null],
  ])("if its prompt was rejected %s", async (_what, idOf) => {
    const { session, backend } = await openOver(createFakeBackend(deaf));
    const first = session.send("one", { id: "p-1" });
    const one = await backend.next("droid.add_user_message");
    backend.notify(user("p-1"), busy, delta("m-1", "x"));
    backend.error(idOf(one.id), { code: -32000, message: "no" });
    await expect(first).rejects.toMatchObject({ name: "RequestError" });
    await backend.next("droid.interrupt_session");
    const second = session.send("two", { id: "p-2" });
    backend.result(await backend.next("droid.add_user_message"), {});
    backend.notify(...goesOn);
    expect(await second).toMatchObject({ text: "Two." });
    await session.close();
  });

  it("if its end was awaited long enough", async () => {
    const { session, backend } = await openOver(createFakeBackend());
    const turn = session.stream("one", { id: "p-1" });
    await backend.next("droid.add_user_message");
    backend.notify(user("p-1"), busy, delta("m-1", "x"));
    await settled();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    await turn.interrupt();
    const second = session.send("two", { id: "p-2" });
    vi.advanceTimersByTime(10_000);
    vi.useRealTimers();
    expect(await turn.result).toMatchObject({ status: "interrupted" });
    await backend.next("droid.add_user_message");
    backend.notify(says("m-1", "x"), ...goesOn);
    expect(await second).toMatchObject({ text: "Two." });
    await session.close();
  });
});

describe("a turn's leftovers do not end the next one", () => {
  const call = { type: "tool_use", id: "c-1", name: "LS", input: {} };
  const result = { type: "tool_result", toolUseId: "c-1", content: "a.txt" };

  /** After a turn whose call has no result. */
  const secondTurn = async () => {
    const { session, backend } = await openOver(createFakeBackend());
    const first = session.send("one", { id: "p-1" });
    await backend.next("droid.add_user_message");
    backend.notify(user("p-1"), message("m-1", "assistant", call), completed("p-1"));
    await first;
    const turn = session.stream("two", { id: "p-2" });
    await backend.next("droid.add_user_message");
    return { session, backend, turn };
  };

  it.each([
    ["a result", result],
    ["news of a call", { type: "tool_progress_update", toolUseId: "c-1", toolName: "LS", update: { text: "a" } }],
    ["an error", { type: "error", message: "quota", errorType: "Error", timestamp: "" }],
  ])("such as %s", async (_what, leftover) => {
    const { session, backend, turn } = await secondTurn();
    backend.notify(leftover, idle);
    await new Promise((resolve) => setTimeout(resolve, 50));
    backend.notify(user("p-2"), says("m-2", "Two."), completed("p-2"));
    expect(await turn.result).toMatchObject({ status: "completed", text: "Two." });
    await session.close();
  });

  it("but its own call has its result, whatever its id", async () => {
    const { session, backend, turn } = await secondTurn();
    backend.notify(user("p-2"), message("m-2", "assistant", call), result, says("m-3", "Two."), completed("p-2"));
    const seen: string[] = [];
    for await (const { type } of turn) seen.push(type);
    expect(seen).toEqual(["message", "message", "tool_result", "text", "message", "end"]);
    await session.close();
  });
});

it("a repeatedly interrupted turn still ends", async () => {
  const { session, backend } = await openOver(createFakeBackend());
  const turn = session.stream("one", { id: "p-1" });
  await backend.next("droid.add_user_message");
  backend.notify(user("p-1"), busy);
  await settled();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  for (let nth = 0; nth < 3; nth += 1) {
    await turn.interrupt();
    vi.advanceTimersByTime(4_000);
  }
  vi.useRealTimers();
  expect(await turn.result).toMatchObject({ status: "interrupted" });
  await session.close();
});
