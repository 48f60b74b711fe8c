import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Frame, isFinal } from "../../frontends/interactive/served.ts";
import { type Server, startServer } from "./server.ts";
import { connectTo, isStatus, type WireClient } from "./wire-client.ts";

let server: Server;
let client: WireClient;

beforeAll(async () => {
  server = await startServer({ replies: [{ times: "any", text: "Yes: {{user}}" }] });
});
afterAll(() => server.remove());
beforeEach(async () => {
  client = await server.connect();
});
afterEach(() => client.close());

/** The responses to one text frame. */
async function answerTo(text: string): Promise<Frame> {
  client.raw(text);
  return client.next();
}

function error(id: unknown, code: number, message: string, data?: unknown): unknown {
  return { jsonrpc: "2.0", id, error: { code, message, ...(data === undefined ? {} : { data }) } };
}

const parseError = error(null, -32700, "Parse error");
const invalidRequest = (id: unknown = null): unknown => error(id, -32600, "Invalid Request");
const notFound = (id: unknown): unknown => error(id, -32601, "Method not found");

/** Whatever came before, the connection still answers. */
async function expectNothingBut(...expected: readonly unknown[]): Promise<void> {
  client.post("last", "echo", { message: "still here" });
  const frames = await client.until(({ id }) => id === "last");
  expect(frames).toEqual([...expected, { jsonrpc: "2.0", id: "last", result: "still here" }]);
}

describe("echo", () => {
  test("returns params under the request's own id", async () => {
    client.post("test-1", "echo", { text: "ping" });
    expect(await client.next()).toEqual({ jsonrpc: "2.0", id: "test-1", result: { text: "ping" } });
    client.post(42, "echo", { message: "test" });
    expect(await client.next()).toEqual({ jsonrpc: "2.0", id: 42, result: "test" });
  });

  test("returns only the message if there is one", async () => {
    client.post(1, "echo", { message: "hello", other: 1 });
    expect(await client.next()).toEqual({ jsonrpc: "2.0", id: 1, result: "hello" });
  });

  test.each([
    ['"method":"echo"', {}],
    ['"method":"echo","params":null', {}],
    ['"method":"echo","params":[1,"two"]', [1, "two"]],
    ['"method":"echo","params":"text"', "text"],
    ['"method":"echo","params":{"message":null}', null],
    ['"method":"echo","params":{"message":{"a":[false]}}', { a: [false] }],
  ])("answers {%s}", async (members, result) => {
    expect(await answerTo(`{"jsonrpc":"2.0","id":7,${members}}`)).toEqual({ jsonrpc: "2.0", id: 7, result });
  });

  test("distinguishes two clients that use the same id", async () => {
    const other = await server.connect();
    client.post(1, "echo", { text: "mine" });
    other.post(1, "echo", { text: "theirs" });
    expect([await client.next(), await other.next()].map(({ result }) => result)).toEqual([
      { text: "mine" },
      { text: "theirs" },
    ]);
    await other.close();
  });

  test("a leaving client is closed as requested, and others continue", async () => {
    const leaving = await server.connect();
    leaving.post(1, "echo", {});
    await leaving.next();
    leaving.socket.close(1000, "done");
    expect(await leaving.closedWith).toEqual({ code: 1000, reason: "done" });
    await expectNothingBut();
  });
});

describe("invalid requests", () => {
  test.each([["not a json string"], [""], ["{"], ['{"jsonrpc":"2.0"}}'], ["undefined"]])(
    "%j is a parse error without an id",
    async (text) => {
      expect(await answerTo(text)).toEqual(parseError);
    },
  );

  test.each([
    ["5"],
    ['"x"'],
    ["null"],
    ["true"],
    ["[]"],
    ['[{"jsonrpc":"2.0","id":1,"method":"echo"},{"jsonrpc":"2.0","id":2,"method":"echo"}]'],
  ])("%s is rejected once, as is a batch", async (text) => {
    client.raw(text);
    await expectNothingBut(invalidRequest());
  });

  test.each([
    ['{"id":2,"method":"echo"}', 2],
    ['{"jsonrpc":"1.0","id":"a","method":"echo"}', "a"],
    ['{"jsonrpc":2,"id":0,"method":"echo"}', 0],
    ['{"jsonrpc":"2.0","id":2}', 2],
    ['{"jsonrpc":"2.0","id":2,"params":{}}', 2],
    ['{"jsonrpc":"2.0","id":3,"method":5}', 3],
    ['{"jsonrpc":"2.0","id":4,"method":null}', 4],
    ['{"jsonrpc":"2.0","id":5,"method":{"a":1}}', 5],
    ['{"jsonrpc":"2.0"}', null],
    ["{}", null],
  ])("%s is an invalid request, returned with its id", async (text, id) => {
    expect(await answerTo(text)).toEqual(invalidRequest(id));
  });

  test("rejects too deep nesting, and accepts the deepest allowed", async () => {
    const nested = (depth: number): string =>
      `{"jsonrpc":"2.0","id":1,"method":"echo","params":${"[".repeat(depth)}${"]".repeat(depth)}}`;
    expect(await answerTo(nested(100_000))).toEqual(invalidRequest(1));
    expect(await answerTo(nested(600))).toEqual(invalidRequest(1));
    expect(await answerTo(nested(400))).toMatchObject({ id: 1 });
  });

  test("answers both bad JSON and a request without a method, on the same connection", async () => {
    client.raw("{nonsense");
    client.raw('{"jsonrpc":"2.0","id":200,"params":{}}');
    await expectNothingBut(parseError, invalidRequest(200));
  });
});

describe("methods and ids", () => {
  test.each(["unknown_method", "add", "", "toString", "__proto__", "constructor", "STARTSESSION"])(
    "the method %j does not exist",
    async (method) => {
      client.post(10, method, { a: 1 });
      expect(await client.next()).toEqual(notFound(10));
    },
  );

  test("reports an unknown method before checking its params", async () => {
    expect(await answerTo('{"jsonrpc":"2.0","id":11,"method":"add","params":5}')).toEqual(notFound(11));
  });

  test("answers requests of one connection in order, good and bad ones", async () => {
    client.post(1, "echo", { message: "hi" });
    client.post(2, "add", {});
    client.post(3, "unknown_method");
    await expectNothingBut({ jsonrpc: "2.0", id: 1, result: "hi" }, notFound(2), notFound(3));
  });

  test.each([[null], [0], [""], [{ of: ["mine"] }], [[1]], [false], [1.5], ["a".repeat(1_000)]])(
    "returns the id %j unchanged",
    async (id) => {
      client.post(id, "echo", { message: "x" });
      expect(await client.next()).toEqual({ jsonrpc: "2.0", id, result: "x" });
      client.post(id, "nothing");
      expect(await client.next()).toEqual(notFound(id));
    },
  );

  test("without an id, it is neither answered nor executed", async () => {
    const sessionId = await client.start();
    const before = await client.request("listSessions");
    client.raw('{"jsonrpc":"2.0","method":"notify","params":{}}');
    client.raw('{"jsonrpc":"2.0","method":"startSession","params":{"userId":"u"}}');
    client.raw(JSON.stringify({ jsonrpc: "2.0", method: "sendUserMessage", params: { sessionId, message: "hi" } }));
    client.raw(JSON.stringify({ jsonrpc: "2.0", method: "stopSession", params: { sessionId } }));
    await expectNothingBut();
    expect((await client.request("listSessions")).result).toEqual(before.result);
    const frames = await client.ask(sessionId, "and now?");
    expect(frames.filter(isFinal)).toHaveLength(1);
  });

  test("unknown members are ignored", async () => {
    client.raw(
      '{"jsonrpc":"2.0","id":1,"method":"startSession","trace":"x","params":{"userId":"u","color":1,"sessionParams":{"size":[2]}}}',
    );
    const { result } = await client.next();
    expect(result).toEqual({ sessionId: expect.any(String), status: 1 });
    await client.next();
    const params = { sessionId: result?.sessionId, message: "hi", color: { a: 1 } };
    expect((await client.request("sendUserMessage", params)).result).toMatchObject({ status: 0 });
  });
});

describe("params", () => {
  const badParams = (id: unknown): unknown =>
    error(id, -32602, "Invalid params", { reason: "params", detail: expect.any(String) });

  test.each([
    [
      "startSession",
      [undefined, null, [], "u", 5, {}, { userId: 5 }, { userId: null }, { userId: "u", sessionParams: 5 }],
    ],
    [
      "startSession",
      [
        { userId: "u", sessionParams: { model: 5 } },
        { userId: "u", sessionParams: { context: [] } },
      ],
    ],
    [
      "startSession",
      [
        { userId: "u", sessionParams: { tools: {} } },
        { userId: "u", sessionParams: { tools: [{ name: "a b" }] } },
      ],
    ],
    ["sendUserMessage", [undefined, null, [], "x", {}, { sessionId: 5, message: "x" }, { message: "x" }]],
    ["provideToolResult", [undefined, null, [], {}, { sessionId: "x", toolCallId: "y" }]],
    [
      "provideToolResult",
      [5, null, { a: 1 }, [1], true].map((result) => ({ sessionId: "x", toolCallId: "y", result })),
    ],
    ["stopSession", [undefined, null, [], "x", {}, { sessionId: 5 }]],
    ["cancel", [undefined, {}, { sessionId: 5 }]],
    ["resumeSession", [undefined, {}, { sessionId: "x", afterSeq: -1 }, { sessionId: "x", afterSeq: "1" }]],
    ["listSessions", [5, { limit: 0 }, { limit: "all" }]],
    ["capabilities", [5, "x"]],
  ] as const)("of %s: missing and mistyped ones are invalid params with a message", async (method, all) => {
    for (const [id, params] of all.entries()) client.post(id, method, params);
    await expectNothingBut(...all.map((_, id) => badParams(id)));
  });

  test("null counts as omitted", async () => {
    const sessionParams = { language: null, model: null, context: null };
    for (const given of [{ sessionParams }, { sessionParams: null }]) {
      expect((await client.request("startSession", { userId: "u", ...given })).result).toMatchObject({ status: 1 });
      await client.next();
    }
  });

  test("an unknown session is invalid params in every method", async () => {
    const params = { sessionId: "nonexistent", message: "x", toolCallId: "y", result: "z" };
    for (const method of ["sendUserMessage", "provideToolResult", "cancel", "resumeSession"]) {
      expect((await client.request(method, params)).error).toEqual({
        code: -32602,
        message: "Invalid params",
        data: { reason: "unknown_session", detail: expect.any(String) },
      });
    }
  });

  test.each(["../../etc/passwd", "a/b", "..", "", ".", "a".repeat(100_000), "\0", "%2e%2e%2f"])(
    "a session id that is a path or worse is an unknown session",
    async (sessionId) => {
      for (const method of ["sendUserMessage", "resumeSession"]) {
        const { error: told } = await client.request(method, { sessionId, message: "x" });
        expect(told).toMatchObject({ code: -32602, message: "Invalid params", data: { reason: "unknown_session" } });
      }
      expect((await client.request("stopSession", { sessionId })).result).toEqual({ status: 2 });
    },
  );

  test("a non-string message is rejected, with an error status for the session, which continues", async () => {
    const sessionId = await client.start();
    for (const message of [{ text: "hi" }, 5, null, ["hi"], undefined]) {
      expect(await client.request("sendUserMessage", { sessionId, message })).toEqual(badParams(expect.any(Number)));
      const status = await client.next();
      expect(status).toMatchObject({ params: { sessionId, status: 3 } });
      expect(isStatus(3)(status) && String(status.params?.reason).includes("Error")).toBe(true);
    }
    await expectNothingBut();
    expect((await client.ask(sessionId, "hi")).at(-1)?.params).toMatchObject({ isFinal: true, reason: "completed" });
  });
});

describe("frames", () => {
  test("a binary frame closes only its connection", async () => {
    const other = await server.connect();
    other.socket.send(Buffer.from('{"jsonrpc":"2.0","id":1,"method":"echo"}'));
    expect((await other.closedWith).code).toBe(1003);
    await expectNothingBut();
  });

  test("a frame of 20 MiB closes only its connection", async () => {
    const other = await server.connect();
    other.raw("x".repeat(20 * 1024 * 1024));
    expect((await other.closedWith).code).toBe(1009);
    await expectNothingBut();
  });

  test("other paths have no WebSocket", async () => {
    await expect(connectTo(server.url.replace(/ws$/, "nothing"))).rejects.toThrow("404");
  });
});
