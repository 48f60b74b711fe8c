import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { fieldsOf } from "../../src/text/values.ts";
import { startEverything, stop } from "./http-program.ts";
import { type OpenSession, openSession } from "./sessions.ts";

function web(url: string, headers: Readonly<Record<string, string>> = {}): OpenSession {
  return openSession({ given: { web: { kind: "http", url, headers } } });
}

describe("a server over streamable HTTP", () => {
  it("offers tools, shows progress, and fails calls when it is gone", async () => {
    const { port, child } = await startEverything("streamableHttp");
    const session = web(`http://127.0.0.1:${port}/mcp`);
    await session.settled();
    expect(session.servers.states()).toEqual([
      {
        name: "web",
        source: "client",
        kind: "http",
        status: "connected",
        toolCount: 15,
        promptCount: 4,
        hasTokens: false,
      },
    ]);
    expect(await session.call("web___echo", { message: "hi" })).toEqual({ status: "ok", text: "Echo: hi" });
    await session.call("web___trigger-long-running-operation", { duration: 0.1, steps: 2 });
    expect(session.progress).toEqual(["1 of 2", "2 of 2"]);
    const long = session.call("web___trigger-long-running-operation", { duration: 60, steps: 60 });
    const started = session.progress.length;
    await new Promise<void>((resolve) => {
      const look = () => (session.progress.length > started ? resolve() : setTimeout(look, 20));
      look();
    });
    await stop(child);
    expect((await long).status).toBe("failed");
    const error = `The server cannot be reached. Nothing accepts connections at 127.0.0.1:${port}.`;
    expect(await session.call("web___echo", { message: "hi" })).toEqual({
      status: "failed",
      text: `Error: The server web did not answer. ${error}`,
    });
    await startEverything("streamableHttp", port);
    expect(await session.call("web___echo", { message: "again" })).toEqual({ status: "ok", text: "Echo: again" });
  });
});

it("an old server is reached over SSE, also if it was named as http", async () => {
  const { port } = await startEverything("sse");
  const url = `http://127.0.0.1:${port}/sse`;
  const session = openSession({
    given: { sse: { kind: "sse", url, headers: {} }, http: { kind: "http", url, headers: {} } },
  });
  await session.settled();
  const echo = { status: "ok", text: "Echo: hi" };
  expect(await session.call("sse___echo", { message: "hi" })).toEqual(echo);
  expect(await session.call("http___echo", { message: "hi" })).toEqual(echo);
});

type Handle = (message: Readonly<Record<string, unknown>>, response: ServerResponse, request: IncomingMessage) => void;

/** A server that answers with JSON, except for calls. Returns its address and the headers that it got. */
async function small(call: Handle, status = 200): Promise<{ readonly url: string; readonly headers: unknown[] }> {
  const headers: unknown[] = [];
  const results: Readonly<Record<string, unknown>> = {
    initialize: {
      protocolVersion: "2025-06-18",
      capabilities: { tools: {} },
      serverInfo: { name: "small", version: "1" },
    },
    "tools/list": { tools: [{ name: "work" }] },
  };
  const server = createServer(async (request, response) => {
    headers.push(request.headers["x-key"]);
    let body = "";
    for await (const bytes of request) body += String(bytes);
    if (status !== 200) return void response.writeHead(status).end("<html>Secret words</html>");
    if (request.method !== "POST") return void response.writeHead(405).end();
    const message = fieldsOf(JSON.parse(body));
    if (message.method === "tools/call") return call(message, response, request);
    if (message.id === undefined) return void response.writeHead(202).end();
    const result = results[String(message.method)];
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}/mcp`, headers };
}

function events(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
}

async function called(handle: Handle): Promise<readonly [unknown, OpenSession]> {
  const { url } = await small(handle);
  const session = web(url);
  await session.settled();
  return [await session.call("web___work"), session];
}

const textResult = (id: unknown, text: string): string =>
  JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text }] } });

describe("an answer over HTTP", () => {
  it("can be large, as JSON and as an event", async () => {
    const text = `"é\n${"x".repeat(2_000_000)}`;
    const [json] = await called(({ id }, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end(textResult(id, text));
    });
    expect(json).toEqual({ status: "ok", text });
    const [event] = await called(({ id }, response) => {
      events(response);
      response.end(`: hello\n\nevent: message\ndata: ${textResult(id, text)}\n\n`);
    });
    expect(event).toEqual({ status: "ok", text });
  });

  it.each([["application/json"], ["text/event-stream"]])("of 50 MB fails the call (%s)", async (type) => {
    const [result, session] = await called(({ id }, response) => {
      response.writeHead(200, { "content-type": type });
      response.write(`data: {"jsonrpc":"2.0","id":${id},"result":{"x":"`);
      const more = () => {
        for (let at = 0; at < 50; at += 1) if (!response.write("x".repeat(1024 * 1024))) break;
        response.once("drain", more);
      };
      more();
    });
    expect(result).toEqual({
      status: "failed",
      text: "Error: The server web did not answer. The server sent a message of more than 16 MiB.",
    });
    expect(session.servers.states()).toMatchObject([{ status: "connected" }]);
  });

  it.each([
    [
      "ends",
      (response: ServerResponse) => response.end("data: {"),
      "The server closed the connection before it answered.",
    ],
    ["breaks", (response: ServerResponse) => response.destroy(), "The connection to the server broke."],
  ])("that %s in the middle fails the call", async (_, stopIt, words) => {
    const [result] = await called((_message, response) => {
      events(response);
      response.write("event: message\n", () => stopIt(response));
    });
    expect(result).toEqual({ status: "failed", text: `Error: The server web did not answer. ${words}` });
  });
});

describe("a refusal over HTTP", () => {
  it.each([
    [401, { error: "The server needs a sign-in.", needsSignIn: true }],
    [403, { error: "The server answered with HTTP 403." }],
    [404, { error: "The server answered with HTTP 404." }],
    [500, { error: "The server answered with HTTP 500." }],
  ])("%s fails without the server's words", async (status, expected) => {
    const { url } = await small(() => undefined, status);
    const session = web(url);
    await session.settled();
    expect(session.servers.states()).toEqual([
      { name: "web", source: "client", kind: "http", status: "failed", hasTokens: false, ...expected },
    ]);
  });

  it("of an address where nothing listens names the address without its secrets", async () => {
    const session = web("http://127.0.0.1:9/mcp?key=secret");
    await session.settled();
    expect(session.servers.states()).toMatchObject([
      { error: "The server cannot be reached. Nothing accepts connections at 127.0.0.1:9." },
    ]);
  });
});

it("headers of an entry are sent with every request to its server", async () => {
  const { url, headers } = await small(({ id }, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(textResult(id, "ok"));
  });
  const session = web(url, { "X-Key": "k" });
  await session.settled();
  await session.call("web___work");
  await session.servers.close();
  expect([headers.length > 3, new Set(headers)]).toEqual([true, new Set(["k"])]);
});
