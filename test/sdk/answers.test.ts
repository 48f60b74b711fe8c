import { describe, expect, it } from "vitest";
import { RequestError } from "../../src/sdk/errors.ts";
import { createSession, resumeSession } from "../../src/sdk/node.ts";
import {
  type Answers,
  type Asked,
  createFakeBackend,
  idle,
  obliging,
  openOver,
  settings,
  settled,
} from "./fakes/fake-backend.ts";
import { standOf } from "./fakes/naive-client.ts";

/* Unusual responses, and backends older than the current vocabulary. */

const open = () => openOver(createFakeBackend());

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "none",
    (error: unknown) => error,
  );

describe("a response", () => {
  it.each<readonly [string, object, unknown]>([
    ["with unknown fields, including a method", { type: "response", method: "droid.x", result: { a: 1 } }, { a: 1 }],
    ["without a type", { result: { a: 1 } }, { a: 1 }],
    ["with a null error", { type: "response", result: { a: 1 }, error: null }, { a: 1 }],
    ["that is empty", { type: "response", result: null }, {}],
    ["that is an error as a string", { type: "response", error: "broken" }, { code: 0, message: "x: broken" }],
    ["that is an error without a message", { type: "response", error: {} }, { code: 0, message: "x: unknown error" }],
  ])("%s", async (_, fields, expected) => {
    const { backend, session } = await open();
    const call = session.call("x").catch(({ code, message }: RequestError) => ({ code, message }));
    const { id } = await backend.next("droid.x");
    backend.line(JSON.stringify({ jsonrpc: "2.0", id, ...fields }));
    expect(await call).toEqual(expected);
    await session.close();
  });

  it("with its own id counts if it comes soon after an error without one", async () => {
    const { backend, session } = await open();
    const call = session.call("x");
    const { id } = await backend.next("droid.x");
    backend.error(null, { code: -32700, message: "Invalid JSON" });
    backend.result({ id }, { a: 1 });
    expect(await call).toEqual({ a: 1 });
    await session.close();
  });

  it("without an id belongs to the request that its data names, even if that was answered", async () => {
    const { backend, session, warnings } = await open();
    const first = session.call("x");
    const asked = await backend.next("droid.x");
    backend.result(asked, {});
    await first;
    const second = session.call("y");
    const { id } = await backend.next("droid.y");
    backend.error(null, { code: -32603, message: "Late.", data: { requestId: asked.id } });
    await new Promise((resolve) => setTimeout(resolve, 40));
    expect([await standOf(second), warnings]).toEqual(["pending", ["x: Late."]]);
    backend.error(null, { code: -32603, message: "No.", data: { requestId: id } });
    expect(await failureOf(second)).toEqual(
      new RequestError("droid.y", { code: -32603, message: "No.", data: { requestId: id } }),
    );
    await session.close();
  });

  it("is awaited by one request at a time, so that each error has an owner", async () => {
    const { backend, session } = await open();
    const calls = ["a", "b", "c"].map((method) => session.call(method));
    const settledCalls = Promise.allSettled(calls);
    await backend.next("droid.a");
    await settled();
    expect(backend.received.map(({ method }) => method)).toEqual(["droid.initialize_session", "droid.a"]);
    backend.error(null, { code: -32600, message: "Invalid request format" });
    backend.result(await backend.next("droid.b"), { b: 1 });
    backend.error(null, { code: -1, message: "c" });
    backend.error((await backend.next("droid.c")).id, { code: -32603, message: "c" });
    expect(await settledCalls).toEqual([
      {
        status: "rejected",
        reason: new RequestError("droid.a", { code: -32600, message: "Invalid request format" }, true),
      },
      { status: "fulfilled", value: { b: 1 } },
      { status: "rejected", reason: new RequestError("droid.c", { code: -32603, message: "c" }) },
    ]);
    await session.close();
  });

  it("that is no longer awaited does not answer the next request", async () => {
    const { backend, session } = await open();
    const controller = new AbortController();
    const [first, waiting] = ["a", "b"].map((method) => session.call(method, {}, { signal: controller.signal }));
    const last = session.call("c");
    const { id } = await backend.next("droid.a");
    controller.abort(new Error("Enough."));
    expect(await Promise.all([first, waiting].map((each) => failureOf(each ?? Promise.resolve())))).toEqual([
      new Error("Enough."),
      new Error("Enough."),
    ]);
    backend.result({ id }, { a: 1 });
    backend.result(await backend.next("droid.c"), { c: 1 });
    expect(await last).toEqual({ c: 1 });
    await session.close();
  });
});

describe("an error without an id", () => {
  const given = async () => {
    const parts = await open();
    const abort = new AbortController();
    const first = failureOf(parts.session.call("first", {}, { signal: abort.signal }));
    const one = await parts.backend.next("droid.first");
    abort.abort(new Error("enough"));
    expect(await first).toMatchObject({ message: "enough" });
    const second = failureOf(parts.session.call("second"));
    return { ...parts, one, two: await parts.backend.next("droid.second"), second };
  };
  const error = { code: -32600, message: "bad" };

  it("belongs to the abandoned, unanswered request, and fails no other", async () => {
    const { session, backend, two, second } = await given();
    backend.error(null, error);
    await new Promise((resolve) => setTimeout(resolve, 60));
    backend.result(two, {});
    expect(await second).toBe("none");
    await session.close();
  });

  it("belongs to the next one if the abandoned request is answered", async () => {
    const { session, backend, one, second } = await given();
    backend.error(null, error);
    backend.result(one, {});
    expect(await second).toMatchObject({ name: "RequestError", isAssigned: true, code: -32600 });
    await session.close();
  });
});

describe("an older backend", () => {
  /** Returns these errors, without an id, until it gets a request it knows. */
  function choosy(isKnown: (request: Asked) => boolean, words = "Invalid request format", code = -32600) {
    const backend = createFakeBackend({});
    void (async () => {
      for (;;) {
        const request = await backend.next();
        const answer = obliging[request.method];
        if (isKnown(request)) backend.result(request, answer?.(request) ?? {});
        else backend.error(null, { code, message: words });
      }
    })();
    return backend;
  }
  const asked = ({ received }: ReturnType<typeof createFakeBackend>) =>
    received.map(({ method, params }) => ({ method: method?.replace("droid.", ""), params }));
  const quick = { timeouts: { grace: 5 } };

  it("gets the level in its own word if it rejects the current one", async () => {
    const backend = choosy(({ params }) => /^(auto-|spec|normal)/.test(String(params?.autonomyLevel)));
    const { connect } = backend;
    const session = await createSession({
      connect,
      cwd: "/w",
      autonomyLevel: "medium",
      interactionMode: "auto",
      ...quick,
    });
    const machineId = expect.any(String);
    expect(asked(backend)).toEqual([
      {
        method: "initialize_session",
        params: { machineId, cwd: "/w", autonomyLevel: "medium", interactionMode: "auto" },
      },
      { method: "initialize_session", params: { machineId, cwd: "/w", autonomyLevel: "auto-medium" } },
    ]);
    await session.close();
  });

  it("is not retried with a request it would not understand either", async () => {
    const backend = choosy(() => false);
    expect(await failureOf(createSession({ connect: backend.connect, cwd: "/w", ...quick }))).toEqual(
      new RequestError("droid.initialize_session", { code: -32600, message: "Invalid request format" }, true),
    );
    expect([asked(backend).length, backend.far.gone.aborted]).toEqual([1, true]);
  });

  it("opens a session, with a folder, before it loads one", async () => {
    const seen = new Set<string>();
    const backend = choosy(
      ({ method, params }) => {
        if (method === "droid.initialize_session" && typeof params?.cwd === "string") seen.add(method);
        return seen.size > 0;
      },
      "No active session.",
      -32603,
    );
    const session = await resumeSession("s-9", { connect: backend.connect, cwd: "/w", ...quick });
    expect(asked(backend)).toEqual([
      { method: "load_session", params: { sessionId: "s-9" } },
      { method: "initialize_session", params: { machineId: expect.any(String), cwd: "/w" } },
      { method: "load_session", params: { sessionId: "s-9" } },
    ]);
    expect(session.id).toBe("s-9");
    await session.close();
  });

  it("reports why it cannot load a session, and opens no other for it", async () => {
    const words = "Session s-9 is in use by process 7.";
    const backend = choosy(() => false, words, -32603);
    expect(await failureOf(resumeSession("s-9", { connect: backend.connect, cwd: "/w", ...quick }))).toEqual(
      new RequestError("droid.load_session", { code: -32603, message: words }, true),
    );
    expect(asked(backend)).toEqual([{ method: "load_session", params: { sessionId: "s-9" } }]);
  });

  it("that cannot open one to load another is quoted with its first message", async () => {
    const backend = choosy(() => false, "No active session.", -32603);
    expect(await failureOf(resumeSession("s-9", { connect: backend.connect, cwd: "/w", ...quick }))).toEqual(
      new RequestError("droid.load_session", { code: -32603, message: "No active session." }, true),
    );
    expect(asked(backend).map(({ method }) => method)).toEqual(["load_session", "initialize_session"]);
  });

  it("can report settings in notifications only", async () => {
    const answers: Answers = { "droid.initialize_session": () => ({ sessionId: "s" }) };
    const backend = createFakeBackend(answers);
    backend.notify({ type: "settings_updated", settings: { ...settings, autonomyLevel: "auto-high" } }, idle);
    const session = await createSession({ connect: backend.connect });
    expect(session.settings).toEqual({ ...settings, autonomyLevel: "high" });
    await session.close();
  });
});
