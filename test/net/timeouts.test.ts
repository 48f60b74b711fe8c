import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { ask, eventually, failureOf, httpServer, patient, rawServer, testNetwork, textOf } from "./support.ts";

const error = (kind: string, message: string) => ({ name: "NetworkError", kind, message });

describe("the connection timeout", () => {
  const timeouts = { ...patient, connectMs: 60 };

  test("covers the TLS handshake", async () => {
    const { port, connections } = await rawServer((socket) => socket.resume());
    expect(await failureOf(ask(`https://127.0.0.1:${port}/`, testNetwork(), { timeouts }))).toEqual(
      error("connect_timeout", `No connection to 127.0.0.1:${port} within 0.06 s.`),
    );
    expect(await eventually(() => connections.every((socket) => socket.destroyed))).toBe(true);
  });

  test.each(["http", "https"])("covers reaching the proxy, for %s", async (scheme) => {
    const { port, connections } = await rawServer((socket) => socket.resume());
    const network = testNetwork({ ALL_PROXY: `https://user:secret@127.0.0.1:${port}` });
    expect(await failureOf(ask(`${scheme}://service.test/`, network, { timeouts }))).toEqual(
      error("proxy_failed", `No connection to the proxy 127.0.0.1:${port} (ALL_PROXY) within 0.06 s.`),
    );
    expect(await eventually(() => connections.every((socket) => socket.destroyed))).toBe(true);
  });

  test("covers the proxy's response", async () => {
    // Long enough to reach the proxy first.
    const later = { ...patient, connectMs: 500 };
    const { port, connections } = await rawServer((socket) => socket.resume());
    const network = testNetwork({ HTTPS_PROXY: `http://user:secret@127.0.0.1:${port}` });
    expect(await failureOf(ask("https://service.test/", network, { timeouts: later }))).toEqual(
      error(
        "connect_timeout",
        `No connection to service.test:443 through the proxy 127.0.0.1:${port} (HTTPS_PROXY) within 0.5 s.`,
      ),
    );
    expect(await eventually(() => connections.every((socket) => socket.destroyed))).toBe(true);
  });
});

describe("the first-byte timeout", () => {
  test.each(["", "HTTP/1.1 200 OK\r\nX: y\r\n", "HTTP/1.1 100 Continue\r\n\r\n"])("fires after %j", async (sent) => {
    const { port, connections } = await rawServer((socket) => socket.resume().write(sent));
    const timeouts = { ...patient, firstByteMs: 60 };
    expect(await failureOf(ask(`http://127.0.0.1:${port}/`, testNetwork(), { timeouts }))).toEqual(
      error("first_byte_timeout", `There was no answer from 127.0.0.1:${port} within 0.06 s.`),
    );
    expect(await eventually(() => connections.every((socket) => socket.destroyed))).toBe(true);
  });
});

describe("a silent body", () => {
  const unbegun = (port: number) =>
    error("first_byte_timeout", `127.0.0.1:${port} sent headers but no body within 0.5 s.`);
  const silent = (port: number) =>
    error("idle_timeout", `127.0.0.1:${port} stopped sending its response: no data came within 0.06 s.`);

  test.each([
    ["identity", ""],
    ["identity", "some"],
    ["gzip", ""],
    ["deflate", ""],
  ])("fails: %s, after headers and %j", async (coding, sent) => {
    const { port, connections } = await httpServer((_incoming, response) => {
      response.writeHead(200, { "Content-Encoding": coding }).flushHeaders();
      if (sent !== "") response.write(sent);
    });
    // Long enough for the headers.
    const timeouts = sent === "" ? { ...patient, firstByteMs: 500, idleMs: 60 } : { ...patient, idleMs: 60 };
    const response = await ask(`http://127.0.0.1:${port}/`, testNetwork(), { timeouts });
    expect(await failureOf(textOf(response))).toEqual(sent === "" ? unbegun(port) : silent(port));
    expect(await eventually(() => connections.every((socket) => socket.destroyed))).toBe(true);
  });

  test("is tolerated only between chunks, however long the response takes", async () => {
    const { port } = await httpServer(async (_incoming, response) => {
      for (let i = 0; i < 12; i += 1) {
        response.write(".");
        await sleep(100);
      }
      response.end();
    });
    const timeouts = { ...patient, idleMs: 1_000 };
    expect(await textOf(await ask(`http://127.0.0.1:${port}/`, testNetwork(), { timeouts }))).toBe("............");
  });

  test("does not include compressed bytes that decode to nothing yet", async () => {
    // A long file name in the gzip header delays the text.
    const bytes = Buffer.concat([Buffer.from("1f8b080800000000000a", "hex"), Buffer.from(`${"n".repeat(30)}\0`)]);
    const { port } = await httpServer(async (_incoming, response) => {
      response.writeHead(200, { "Content-Encoding": "gzip" });
      for (const byte of bytes) {
        response.write(Buffer.of(byte));
        await sleep(60);
      }
      response.end(gzipSync("hello").subarray(10));
    });
    const timeouts = { ...patient, idleMs: 700 };
    expect(await textOf(await ask(`http://127.0.0.1:${port}/`, testNetwork(), { timeouts }))).toBe("hello");
  });

  test("does not include waits for a slow reader", async () => {
    const bytes = Buffer.alloc(8 * 1024 * 1024);
    const { port } = await httpServer((_incoming, response) => response.end(bytes));
    const timeouts = { ...patient, idleMs: 150 };
    const response = await ask(`http://127.0.0.1:${port}/`, testNetwork(), { timeouts });
    let [read, waits] = [0, 0];
    for await (const piece of response.body) {
      read += piece.byteLength;
      if (waits < 2) await sleep(400);
      waits += 1;
    }
    expect(read).toBe(bytes.length);
  });

  test("can have no limit", async () => {
    const { port } = await httpServer((_incoming, response) => response.end("ok"));
    const timeouts = {
      connectMs: Number.POSITIVE_INFINITY,
      firstByteMs: Number.POSITIVE_INFINITY,
      idleMs: Number.POSITIVE_INFINITY,
    };
    expect(await textOf(await ask(`http://127.0.0.1:${port}/`, testNetwork(), { timeouts }))).toBe("ok");
  });
});
