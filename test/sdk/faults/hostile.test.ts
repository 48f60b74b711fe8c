import { describe, expect, it, vi } from "vitest";
import type { CommonOptions } from "../../../src/sdk/api.ts";
import { resumeSession } from "../../../src/sdk/browser.ts";
import { markOf } from "../../../src/sdk/turns/repeats.ts";
import type { TurnEvent } from "../../../src/sdk/types.ts";
import {
  busy,
  completed,
  createFakeBackend,
  delta,
  idle,
  message,
  obliging,
  openOver,
  says,
  settings,
  settled,
  usage,
} from "../fakes/fake-backend.ts";

/* Hostile backends, or ones so broken that they look it. */

const open = (options: CommonOptions = {}, backend = createFakeBackend()) => openOver(backend, options);

const user = (id: string, text: string) => message(id, "user", { type: "text", text });

describe("a turn has only its own events", () => {
  it("after deltas without a message", async () => {
    const { session, backend } = await open();
    const first = session.send("one");
    await backend.next("droid.add_user_message");
    backend.notify({ type: "assistant_text_delta", textDelta: "hi" }, idle);
    await first;
    const events: TurnEvent[] = [];
    const second = session.stream("two");
    const taking = (async () => {
      for await (const event of second) events.push(event);
    })();
    await backend.next("droid.add_user_message");
    const error = { type: "error", message: "quota", errorType: "Error", timestamp: "" };
    backend.notify(busy, { type: "tool_result", toolUseId: "c", content: "x" }, error, idle);
    await taking;
    expect(events.map(({ type }) => type)).toEqual(["state", "tool_result", "error", "state", "end"]);
    expect(await second.result).toMatchObject({ status: "failed", error: { message: "quota" } });
    await session.close();
  });

  it("after an abandoned prompt that runs anyway", async () => {
    const { "droid.add_user_message": _, ...deaf } = obliging;
    const { session, backend } = await open({ timeouts: { grace: 20, request: 40 } }, createFakeBackend(deaf));
    const first = session.stream("one");
    const one = await backend.next("droid.add_user_message");
    await expect(first.result).rejects.toMatchObject({ name: "TimeoutError" });
    await backend.next("droid.interrupt_session");
    const second = session.stream("two");
    const two = await backend.next("droid.add_user_message");
    backend.result(one, {});
    backend.notify(busy, user(first.id, "one"), says("m-1", "You said one."), completed(first.id), idle);
    backend.result(two, {});
    backend.notify(busy, user(second.id, "two"), says("m-2", "You said two."), completed(second.id), idle);
    expect(await second.result).toMatchObject({ status: "completed", text: "You said two." });
    await session.close();
  });

  it("after a prompt sent by other means", async () => {
    const { session, backend } = await open();
    const called = session.call("add_user_message", { text: "one" });
    const { id } = await backend.next("droid.add_user_message");
    await called;
    const sent = session.send("two");
    await settled();
    expect(backend.received.filter(({ method }) => method === "droid.add_user_message")).toHaveLength(1);
    backend.notify(busy, { ...user("u-1", "one"), requestId: id }, says("m-1", "You said one."), idle);
    await backend.next("droid.add_user_message");
    backend.notify(busy, says("m-2", "You said two."), idle);
    expect(await sent).toMatchObject({ text: "You said two." });
    await session.close();
  });

  it("and no error of another request", async () => {
    const { session, backend, warnings } = await open(
      {},
      createFakeBackend({ ...obliging, "droid.list_tools": () => ({}) }),
    );
    const first = session.send("one");
    const one = await backend.next("droid.add_user_message");
    backend.notify(busy, says("m-1", "One."), idle);
    await first;
    const listed = session.models();
    const { id } = await backend.next("droid.list_models");
    backend.error(null, { code: -32600, message: "about models" });
    backend.result({ id }, { models: [] });
    await listed;
    const second = session.send("two");
    await backend.next("droid.add_user_message");
    backend.error(one.id, { code: -32603, message: "about one" });
    await new Promise((resolve) => setTimeout(resolve, 60));
    backend.notify(busy, says("m-2", "Two."), idle);
    expect(await second).toMatchObject({ status: "completed", text: "Two." });
    expect(warnings.sort()).toEqual(["add user message: about one", "list models: about models"]);
    await session.close();
  });

  it("and nothing of another session", async () => {
    const { session, backend, warnings } = await open();
    const sent = session.send("one");
    await backend.next("droid.add_user_message");
    for (const notification of [says("x-1", "From another."), idle]) {
      const params = { sessionId: "other", notification };
      backend.line(JSON.stringify({ jsonrpc: "2.0", method: "droid.session_notification", params }));
    }
    backend.notify(busy, says("m-1", "Ours."), idle);
    expect(await sent).toMatchObject({ text: "Ours." });
    expect(warnings).toEqual(Array(2).fill("Skipped a notification of another session: other"));
    await session.close();
  });

  it("and no text sent between turns", async () => {
    const { session, backend } = await open();
    backend.notify(delta("m-0", "TEXT OF NOBODY"));
    await settled();
    const sent = session.send("one");
    await backend.next("droid.add_user_message");
    backend.notify(busy, { type: "error", message: "no", errorType: "Error", timestamp: "" }, idle);
    expect(await sent).toMatchObject({ status: "failed", text: "" });
    await session.close();
  });

  it("to its last delta, however long after idle it comes", async () => {
    const { session, backend } = await open({ timeouts: { grace: 40 } });
    const sent = session.send("one");
    await backend.next("droid.add_user_message");
    backend.notify(busy, delta("m-1", "a"), idle);
    for (const piece of ["b", "c", "d"]) {
      await new Promise((resolve) => setTimeout(resolve, 25));
      backend.notify(delta("m-1", piece));
    }
    backend.notify(says("m-1", "abcd"));
    expect(await sent).toMatchObject({ text: "abcd" });
    await session.close();
  });

  it("and an end, even without any other message", async () => {
    const { session, backend } = await open();
    const turn = session.stream("one");
    await backend.next("droid.add_user_message");
    backend.notify(user(turn.id, "one"), idle);
    expect(await turn.result).toMatchObject({ status: "completed", text: "" });
    await session.close();
  });
});

describe("no caller waits forever", () => {
  const running = { session: { messages: [] }, settings, isAgentLoopInProgress: true };
  const resumed = async () => {
    const backend = createFakeBackend({ ...obliging, "droid.load_session": () => running });
    const timeouts = { begin: 60, grace: 20 };
    return { backend, session: await resumeSession("s-1", { connect: backend.connect, timeouts }) };
  };

  it("behind a silent turn of another client", async () => {
    const { session } = await resumed();
    await expect(session.send("one")).rejects.toMatchObject({ name: "TimeoutError" });
    await session.close();
  });

  it("behind another client's turn that only reports its completion", async () => {
    const { session, backend } = await resumed();
    const sent = session.send("one");
    backend.notify(completed("theirs"));
    await backend.next("droid.add_user_message");
    backend.notify(idle, busy, says("m-1", "Ours."), idle);
    expect(await sent).toMatchObject({ text: "Ours." });
    await session.close();
  });

  it("behind a call that was abandoned, or is never answered", async () => {
    const { session, backend } = await open({ timeouts: { request: 80, grace: 20 } });
    const abort = new AbortController();
    const given = session.models({ signal: abort.signal });
    await backend.next("droid.list_models");
    const renamed = session.rename("A title");
    abort.abort(new Error("enough"));
    await expect(given).rejects.toThrow("enough");
    backend.result(await backend.next("droid.rename_session"), { success: true });
    await renamed;
    const lists = Array.from({ length: 10 }, () => session.tools().then(String, ({ name }: Error) => name));
    await settled();
    expect(backend.received.filter(({ method }) => method === "droid.list_tools")).toHaveLength(1);
    expect(await Promise.all(lists)).toEqual(Array(10).fill("TimeoutError"));
    await session.close();
  });

  it("behind a prompt that was stopped and is never taken", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { "droid.add_user_message": _, ...deaf } = obliging;
    const { session, backend } = await open({ timeouts: { request: 0 } }, createFakeBackend(deaf));
    const first = session.stream("one");
    await backend.next("droid.add_user_message");
    const stopped = first.interrupt();
    const second = session.send("two");
    await settled();
    vi.advanceTimersByTime(10_000);
    vi.useRealTimers();
    await stopped;
    expect(await first.result).toMatchObject({ status: "interrupted" });
    await backend.next("droid.interrupt_session");
    backend.result(await backend.next("droid.add_user_message"), {});
    backend.notify(busy, says("m-2", "Two."), idle);
    expect(await second).toMatchObject({ text: "Two." });
    await session.close();
  });

  it("with a time limit too long for a timer", async () => {
    const { session, backend } = await open({
      timeouts: { turn: Number.POSITIVE_INFINITY, silence: 3e9, begin: 2 ** 31, grace: 20 },
    });
    const sent = session.send("one");
    await backend.next("droid.add_user_message");
    await new Promise((resolve) => setTimeout(resolve, 20));
    backend.notify(busy, says("m-1", "In time."), idle);
    expect(await sent).toMatchObject({ text: "In time." });
    await session.close();
  });
});

it("does not confuse a text with a longer one by its fingerprint", () => {
  const mark = markOf("x".repeat(300));
  expect(markOf(mark)).not.toBe(mark);
});

it("events of another session during opening don't override the response", async () => {
  const { "droid.initialize_session": _, ...others } = obliging;
  const backend = createFakeBackend(others);
  const opening = open({}, backend);
  const { id } = await backend.next("droid.initialize_session");
  const tokenUsage = { ...usage, inputTokens: 666 };
  for (const notification of [
    { type: "session_title_updated", title: "Another's" },
    { type: "session_token_usage_changed", tokenUsage },
  ]) {
    const params = { sessionId: "other", notification };
    backend.line(JSON.stringify({ jsonrpc: "2.0", method: "droid.session_notification", params }));
  }
  backend.result({ id }, { sessionId: "s-1", session: { messages: [], title: "Ours" }, settings, tokenUsage: usage });
  const { session } = await opening;
  expect([session.title, session.usage]).toEqual(["Ours", usage]);
  await session.close();
});

it("reports handlers that fail later, without ending anything", async () => {
  const { session, backend, warnings } = await open({
    onEvent: async ({ type }) => {
      if (type === "message") throw new Error("later");
    },
  });
  const sent = session.send("one");
  await backend.next("droid.add_user_message");
  backend.notify(busy, says("m-1", "Fine."), idle);
  expect(await sent).toMatchObject({ text: "Fine." });
  await settled();
  expect(warnings).toEqual(["onEvent failed: later"]);
  await session.close();
});

it("closing a session in the middle of a turn stops it", async () => {
  const { session, backend } = await open();
  const sent = session.send("one").catch(({ name }: Error) => name);
  await backend.next("droid.add_user_message");
  backend.notify(busy);
  await settled();
  await session.close();
  expect(await sent).toBe("ClosedError");
  await settled();
  expect(backend.received.at(-1)).toMatchObject({ method: "droid.interrupt_session" });
});

it("a prompt behind a stopped turn waits, even where one behind a running turn is rejected", async () => {
  const { session, backend } = await open({ whenBusy: "refuse" });
  const first = session.stream("one");
  await backend.next("droid.add_user_message");
  backend.notify(busy);
  await settled();
  await expect(session.send("two")).rejects.toMatchObject({ name: "BusyError" });
  await first.interrupt();
  const third = session.send("three");
  backend.notify(idle);
  await backend.next("droid.add_user_message");
  backend.notify(busy, says("m-1", "Three."), idle);
  expect(await third).toMatchObject({ text: "Three." });
  await session.close();
});

it("a flood of invalid lines leaves time for others", async () => {
  const { session, backend, warnings } = await open();
  let rounds = 0;
  const timer = setInterval(() => {
    rounds += 1;
  });
  for (let nth = 0; nth < 300_000; nth += 1) backend.line("y");
  const sent = session.send("one");
  await backend.next("droid.add_user_message");
  backend.notify(busy, says("m-1", "Still here."), idle);
  expect(await sent).toMatchObject({ text: "Still here." });
  clearInterval(timer);
  expect(warnings).toHaveLength(101);
  expect(rounds).toBeGreaterThan(1);
  await session.close();
});
