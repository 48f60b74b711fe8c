import { describe, expect, it } from "vitest";
import type { CommonOptions } from "../../../src/sdk/api.ts";
import { BusyError, ClosedError, RequestError, TimeoutError } from "../../../src/sdk/errors.ts";
import { createSession, query, resumeSession } from "../../../src/sdk/node.ts";
import type { TurnEvent } from "../../../src/sdk/types.ts";
import {
  type Answers,
  busy,
  completed,
  createFakeBackend,
  delta,
  idle,
  obliging,
  says,
  settled,
} from "../fakes/fake-backend.ts";
import { standOf } from "../fakes/naive-client.ts";

/* One prompt after the other, abandoned or not. */

async function open(options: CommonOptions = {}, answers?: Answers) {
  const backend = createFakeBackend(answers);
  const session = await createSession({ connect: backend.connect, timeouts: { grace: 20 }, ...options });
  const sent = (): readonly unknown[] =>
    backend.received.flatMap(({ method, params }) => {
      if (method === "droid.add_user_message") return [params?.text];
      return method === "droid.interrupt_session" ? ["interrupt"] : [];
    });
  return { backend, session, sent };
}

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "none",
    (error: unknown) => error,
  );
const ended = (turnId: string, text: string) => ({ status: "completed", reason: "completed", text, turnId });
const notRun = (turnId: string) => ({ status: "interrupted", reason: "interrupted", text: "", turnId });
const reason = new Error("Enough.");

describe("a prompt during a turn", () => {
  it("is sent when that turn has ended, and each has its own end", async () => {
    const { backend, session, sent } = await open();
    const turns = ["a", "b", "c"].map((text) => session.send(text, { id: text }));
    for (const text of ["a", "b", "c"]) {
      await backend.next("droid.add_user_message");
      expect(sent().at(-1)).toBe(text);
      backend.notify(busy, says(`m-${text}`, text.toUpperCase()), completed(text), idle);
    }
    expect(await Promise.all(turns)).toMatchObject(["a", "b", "c"].map((text) => ended(text, text.toUpperCase())));
    expect(session.isBusy).toBe(false);
    await session.close();
  });

  it("is rejected if so configured", async () => {
    const { backend, session, sent } = await open({ whenBusy: "refuse" });
    const first = session.send("a", { id: "a" });
    const second = session.stream("b");
    expect(await failureOf(second.result)).toEqual(new BusyError("A turn is already running."));
    expect(await failureOf(second[Symbol.asyncIterator]().next())).toBeInstanceOf(BusyError);
    await backend.next("droid.add_user_message");
    backend.notify(busy, says("m", "A"), idle);
    expect([await first, sent()]).toEqual([ended("a", "A"), ["a"]]);
    await session.close();
  });

  it("is sent after one that the backend rejected", async () => {
    const { "droid.add_user_message": _, ...others } = obliging;
    const { backend, session } = await open({}, others);
    const [first, second] = [session.send("a"), session.send("b", { id: "b" })];
    backend.error((await backend.next("droid.add_user_message")).id, { code: -32602, message: "No." });
    expect(await failureOf(first)).toEqual(
      new RequestError("droid.add_user_message", { code: -32602, message: "No." }),
    );
    backend.result(await backend.next("droid.add_user_message"), {});
    backend.notify(busy, says("m", "B"), idle);
    expect(await second).toEqual(ended("b", "B"));
    await session.close();
  });

  it("waits for another client's turn", async () => {
    const backend = createFakeBackend({
      ...obliging,
      "droid.load_session": () => ({ session: { messages: [] }, isAgentLoopInProgress: true }),
    });
    const session = await resumeSession("s", { connect: backend.connect });
    const turn = session.send("a", { id: "a" });
    backend.notify(delta("m-0", "x"), says("m-0", "xyz"));
    await settled();
    expect(backend.received.map(({ method }) => method)).toEqual(["droid.load_session"]);
    backend.notify(idle);
    await backend.next("droid.add_user_message");
    backend.notify(busy, says("m", "A"), idle);
    expect(await turn).toEqual(ended("a", "A"));
    await session.close();
  });

  it("can be withdrawn without affecting the backend or the running turn's questions", async () => {
    const asked: AbortSignal[] = [];
    let allow = (_: string): void => {};
    const { backend, session, sent } = await open({
      onPermission: ({ signal }) => {
        asked.push(signal);
        return new Promise((resolve) => {
          allow = resolve;
        });
      },
    });
    const controller = new AbortController();
    const first = session.send("a", { id: "a" });
    const second = session.stream("b", { id: "b" });
    const third = session.send("c", { signal: controller.signal });
    await backend.next("droid.add_user_message");
    const toolUse = { type: "tool_use", id: "c-1", name: "Execute", input: {} };
    backend.notify(busy);
    const options = [{ value: "proceed_once", label: "Yes" }];
    backend.ask("q-1", "droid.request_permission", { toolUses: [{ toolUse }], options });
    await settled();
    await second.interrupt();
    controller.abort(reason);
    expect(await second.result).toEqual(notRun("b"));
    expect(await failureOf(third)).toBe(reason);
    expect(asked.map(({ aborted }) => aborted)).toEqual([false]);
    allow("proceed_once");
    expect((await backend.next("response")).result).toEqual({ selectedOption: "proceed_once" });
    backend.notify(says("m", "A"), idle);
    expect([await first, sent()]).toEqual([ended("a", "A"), ["a"]]);
    await session.close();
  });
});

describe("an unwanted turn", () => {
  it("does not begin if its signal was already aborted", async () => {
    const { session, sent } = await open();
    expect(await failureOf(session.send("a", { signal: AbortSignal.abort(reason) }))).toBe(reason);
    await settled();
    expect([sent(), session.isBusy]).toEqual([[], false]);
    await session.close();
  });

  it("is rejected at once when its signal aborts; the next waits until the backend has ended it", async () => {
    const { backend, session, sent } = await open();
    const controller = new AbortController();
    const first = session.stream("a", { signal: controller.signal });
    const second = session.send("b", { id: "b" });
    await backend.next("droid.add_user_message");
    backend.notify(busy, delta("m-1", "A"));
    await settled();
    controller.abort(reason);
    expect(await failureOf(first.result)).toBe(reason);
    await settled();
    expect(sent()).toEqual(["a", "interrupt"]);
    backend.notify(idle);
    await backend.next("droid.add_user_message");
    backend.notify(busy, says("m-2", "B"), idle);
    expect(await second).toEqual(ended("b", "B"));
    await session.close();
  });

  it("ignores its signal after its end", async () => {
    const { backend, session, sent } = await open();
    const controller = new AbortController();
    const turn = session.stream("a", { id: "a", signal: controller.signal });
    await backend.next("droid.add_user_message");
    backend.notify(busy, says("m", "A"), idle);
    await turn.result;
    controller.abort(reason);
    await settled();
    expect([await turn.result, sent()]).toEqual([ended("a", "A"), ["a"]]);
    await session.close();
  });

  it("is interrupted by leaving the loop, and still has a result", async () => {
    const { backend, session, sent } = await open();
    const turn = session.stream("a", { id: "a" });
    await backend.next("droid.add_user_message");
    backend.notify(busy, delta("m", "Be"));
    for await (const { type } of turn) if (type === "text") break;
    await settled();
    expect([sent(), session.isBusy]).toEqual([["a", "interrupt"], true]);
    backend.notify(idle);
    expect(await turn.result).toEqual({ ...notRun("a"), text: "Be" });
    expect(session.isBusy).toBe(false);
    await session.close();
  });

  it("is interrupted with all prompts behind it", async () => {
    const { backend, session, sent } = await open();
    const [first, second] = [session.send("a", { id: "a" }), session.send("b", { id: "b" })];
    await backend.next("droid.add_user_message");
    backend.notify(busy);
    await session.interrupt();
    expect([await second, await standOf(first)]).toEqual([notRun("b"), "pending"]);
    backend.notify(idle);
    expect([await first, sent()]).toEqual([notRun("a"), ["a", "interrupt"]]);
    await session.interrupt();
    expect(sent()).toEqual(["a", "interrupt"]);
    await session.close();
  });

  it("is interrupted while another request waits for its response", async () => {
    const { backend, session } = await open();
    const turn = session.send("a", { id: "a" });
    await backend.next("droid.add_user_message");
    backend.notify(busy);
    const tools = session.tools();
    await backend.next("droid.list_tools");
    await session.interrupt();
    backend.notify(idle);
    expect(await turn).toEqual(notRun("a"));
    await session.close();
    expect(await failureOf(tools)).toEqual(new ClosedError("The session is closed."));
  });

  it("is rejected when the session is closed", async () => {
    const { backend, session } = await open();
    const turns = [session.send("a"), session.send("b")];
    await backend.next("droid.add_user_message");
    await session.close();
    await session.close();
    for (const turn of [...turns, session.send("c")]) expect(await failureOf(turn)).toBeInstanceOf(ClosedError);
  });

  it("is closed with its session if it was alone in it", async () => {
    const backend = createFakeBackend();
    const turn = query("a", { connect: backend.connect });
    const events: TurnEvent[] = [];
    const loop = (async () => {
      for await (const event of turn) {
        events.push(event);
        if (event.type === "text") break;
      }
    })();
    await backend.next("droid.add_user_message");
    backend.notify(busy, delta("m", "Be"));
    await loop;
    expect([events.at(-1), backend.far.gone.aborted]).toEqual([{ type: "text", messageId: "m", text: "Be" }, true]);
  });
});

describe("a backend that does not begin", () => {
  it("is abandoned, and a late start does not affect the next turn", async () => {
    const { backend, session } = await open({ timeouts: { begin: 300, grace: 20 } });
    expect(await failureOf(session.send("a"))).toEqual(new TimeoutError("The backend began nothing within 300 ms."));
    const second = session.send("b", { id: "b" });
    await settled();
    backend.notify(busy, delta("m-1", "A"), idle);
    await backend.next("droid.add_user_message");
    await backend.next("droid.add_user_message");
    backend.notify(says("m-1", "A!"), idle, busy, says("m-2", "B"), idle);
    expect(await second).toEqual(ended("b", "B"));
    await session.close();
  });

  it("is followed if it works without accepting the prompt", async () => {
    const { "droid.add_user_message": _, ...others } = obliging;
    const { backend, session } = await open({ timeouts: { request: 20, grace: 20 } }, others);
    const turn = session.send("a", { id: "a" });
    await backend.next("droid.add_user_message");
    backend.notify(busy, delta("m", "A"));
    await new Promise((resolve) => setTimeout(resolve, 40));
    expect(await standOf(turn)).toBe("pending");
    backend.notify(says("m", "A"), idle);
    expect(await turn).toEqual(ended("a", "A"));
    await session.close();
  });
});
