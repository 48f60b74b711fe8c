import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NetworkError } from "../../src/net/network-error.ts";
import { isFullRun } from "../full-run.ts";
import {
  ask,
  cannedServer,
  closedPort,
  eventually,
  failureOf,
  httpServer,
  rawServer,
  testNetwork,
  textOf,
} from "./support.ts";

const whole = [
  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: b\r\n\r\n5\r\nfirst\r\n6\r\nsecond\r\n0\r\n\r\n",
  "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nfirstsecond",
];

/** The body's text, or how the request failed. */
async function outcomeOf(port: number): Promise<string> {
  try {
    const response = await ask(`http://127.0.0.1:${port}/`, testNetwork());
    return await textOf(response).catch((error: NetworkError) => `body: ${error.kind}: ${error.message}`);
  } catch (error) {
    if (error instanceof NetworkError) return `head: ${error.kind}: ${error.message}`;
    throw error;
  }
}

describe("a cut response", () => {
  test.each(whole)("is an error at any byte of %j, for an end or a reset", async (answer) => {
    let cut = { at: 0, reset: false };
    const { port } = await rawServer((socket) =>
      socket.once("data", () => {
        const part = answer.slice(0, cut.at);
        if (!cut.reset) socket.end(part);
        else if (part === "") socket.resetAndDestroy();
        else socket.write(part, () => setImmediate(() => socket.resetAndDestroy()));
      }),
    );
    const head = `head: reset: The connection to 127.0.0.1:${port} was closed before it answered.`;
    const body = `body: reset: The connection to 127.0.0.1:${port} was closed in the middle of the response.`;
    const wrong: unknown[] = [];
    for (const reset of [false, true]) {
      for (let at = 0; at < answer.length; at += 1) {
        cut = { at, reset };
        const outcome = await outcomeOf(port);
        const inHead = at < answer.indexOf("\r\n\r\n") + 4;
        // A reset can overtake the bytes sent before it.
        const right = inHead ? [head] : reset ? [head, body] : [body];
        if (!right.includes(outcome)) wrong.push({ ...cut, outcome });
      }
    }
    expect(wrong).toEqual([]);
    cut = { at: answer.length, reset: false };
    expect(await outcomeOf(port)).toBe("firstsecond");
  });

  test("is an error even if compressed", async () => {
    const { gzipSync } = await import("node:zlib");
    const bytes = gzipSync("long ".repeat(1000));
    const { port } = await rawServer((socket) =>
      socket.once("data", () => {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${bytes.length}\r\n\r\n`);
        socket.end(bytes.subarray(0, 30));
      }),
    );
    expect(await outcomeOf(port)).toBe(
      `body: reset: The connection to 127.0.0.1:${port} was closed in the middle of the response.`,
    );
  });
});

describe("a malformed response", () => {
  const invalid = "head: malformed: The response from HERE is not valid HTTP.";
  test.each([
    ["SSH-2.0-OpenSSH_9.9\r\n", invalid],
    ["HTTP/1.1 abc OK\r\n\r\n", invalid],
    ["HTTP/9.9 200 OK\r\n\r\n", invalid],
    ["HTTP/1.1 200 OK\r\nNo colon\r\n\r\n", invalid],
    ["HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n", invalid],
    ["HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", invalid],
    ["HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", invalid],
    ["HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", invalid],
    [
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nab\r\n0\r\n\r\n",
      "body: malformed: The response from HERE is not valid HTTP.",
    ],
    [
      `HTTP/1.1 200 OK\r\nX: ${"a".repeat(70_000)}\r\n\r\n`,
      "head: malformed: The response headers from HERE are too large.",
    ],
    [
      `HTTP/1.1 200 OK\r\n${"X: aa\r\n".repeat(40_000)}\r\n`,
      "head: malformed: The response headers from HERE are too large.",
    ],
    [
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nxyz",
      "head: malformed: HERE switched to another protocol without being asked.",
    ],
  ])("is reported: case %#", async (answer, expected) => {
    const { port } = await cannedServer(answer);
    expect((await outcomeOf(port)).replace(`127.0.0.1:${port}`, "HERE")).toBe(expected);
  });

  test("with extra bytes is returned without them, and the connection is dropped", async () => {
    const one = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n";
    const { port, connections } = await rawServer((socket) =>
      socket.on("data", () => socket.write(`${one}yes${one}bad`)),
    );
    const network = testNetwork();
    const ends: unknown[] = [];
    for (const _ of [1, 2]) {
      const response = await ask(`http://127.0.0.1:${port}/`, network);
      ends.push(await textOf(response).catch((error: NetworkError) => error.kind));
    }
    expect([ends, connections.length]).toEqual([["yes", "yes"], 2]);
  });
});

describe("an unreachable or hasty server", () => {
  test("does not listen", async () => {
    const port = await closedPort();
    expect(await failureOf(ask(`http://127.0.0.1:${port}/secret?key=secret`, testNetwork()))).toEqual({
      name: "NetworkError",
      kind: "refused",
      message: `Nothing accepts connections at 127.0.0.1:${port}.`,
    });
  });

  test("does not exist", async () => {
    // Too long for a DNS label, so that it fails without a network.
    const host = `${"a".repeat(64)}.invalid`;
    expect(await failureOf(ask(`http://${host}/`, testNetwork()))).toEqual({
      name: "NetworkError",
      kind: "name",
      message: `The host ${host} of ${host}:80 does not exist.`,
    });
  });

  test("closes the connection during a large request", async () => {
    const { port } = await httpServer((incoming) => incoming.socket.destroy());
    const body = new Uint8Array(32 * 1024 * 1024);
    expect(await failureOf(ask(`http://127.0.0.1:${port}/`, testNetwork(), { method: "POST", body }))).toEqual({
      name: "NetworkError",
      kind: "reset",
      message: `The connection to 127.0.0.1:${port} was closed before the whole request was sent; it may be too large for the server.`,
    });
  });

  test("responds before reading the request, and its connection is not reused", async () => {
    const { port, connections } = await rawServer((socket) =>
      socket.once("data", () => {
        socket.pause();
        socket.write("HTTP/1.1 413 Too Large\r\nContent-Length: 4\r\n\r\nmuch");
      }),
    );
    const body = new Uint8Array(32 * 1024 * 1024);
    const network = testNetwork();
    const response = await ask(`http://127.0.0.1:${port}/`, network, { method: "POST", body });
    expect([response.status, await textOf(response)]).toEqual([413, "much"]);
    for (const socket of connections) socket.resume();
    expect(await eventually(() => connections.every((socket) => socket.destroyed))).toBe(true);
  });
});

describe("arbitrary server behaviour", () => {
  const answer =
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n4\r\nabcd\r\n0\r\n\r\n";
  const step = fc.oneof(
    fc.record({ say: fc.integer({ min: 0, max: answer.length }).map((at) => answer.slice(at)) }),
    fc.record({ say: fc.integer({ min: 0, max: answer.length }).map((at) => answer.slice(0, at)) }),
    fc.record({ say: fc.constantFrom(...whole, "\r\n", "\0", "HTTP/1.1 100 Continue\r\n\r\n", "ffffffffff\r\n") }),
    fc.record({ say: fc.string({ maxLength: 20, unit: "binary-ascii" }) }),
    fc.record({ act: fc.constantFrom("wait", "end", "destroy", "resetAndDestroy", "pause") }),
  );
  const client = fc.constantFrom("read", "leave", "close", "abort", "abort before");

  test("always ends in a response or a NetworkError", async () => {
    let steps: readonly { say?: string; act?: string }[] = [];
    const { port } = await rawServer(async (socket) => {
      for (const { say, act } of steps) {
        if (socket.destroyed) return;
        if (say !== undefined) socket.write(say, "latin1");
        else if (act === "wait") await new Promise((resolve) => socket.once("data", resolve).once("close", resolve));
        else if (act === "pause") socket.pause();
        else {
          if (act === "end") socket.end();
          else if (act === "destroy") socket.destroy();
          else socket.resetAndDestroy();
          return;
        }
      }
    });
    const network = testNetwork();
    const timeouts = { connectMs: 20_000, firstByteMs: 30, idleMs: 30 };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 6 }), client, async (chosen, how) => {
        steps = chosen;
        const stop = new AbortController();
        const { signal } = stop;
        const method = how === "leave" ? "HEAD" : "POST";
        const asked = ask(`http://127.0.0.1:${port}/`, network, { timeouts, signal, method, body: "x" });
        if (how === "abort before") setImmediate(() => stop.abort());
        try {
          const response = await asked;
          if (how === "close") response.close();
          if (how === "abort") setImmediate(() => stop.abort());
          for await (const _piece of response.body) if (how === "leave") break;
          response.close();
        } catch (error) {
          if (!(error instanceof NetworkError)) throw error;
          expect([error.name === "AbortError", error.message.endsWith(".")]).toEqual([error.kind === "aborted", true]);
        }
      }),
      { numRuns: isFullRun ? 300 : 100, seed: 7 },
    );
  });
});
