import type { Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { ask, eventually, failureOf, httpServer, rawServer, type TestServer, testNetwork, textOf } from "./support.ts";

const abortedTo = (where: string) => ({
  name: "AbortError",
  kind: "aborted",
  message: `The request to ${where} was aborted.`,
});

const allClosed = ({ connections }: TestServer) =>
  eventually(() => connections.length > 0 && connections.every((socket) => socket.destroyed));

/** Reads, in order to notice the end of the connection, but sends nothing. */
const silent = (socket: Socket) => socket.resume();

describe("an abort", () => {
  test("before the request opens no connection", async () => {
    const server = await rawServer(silent);
    const asked = ask(`http://127.0.0.1:${server.port}/`, testNetwork(), { signal: AbortSignal.abort() });
    expect(await failureOf(asked)).toEqual(abortedTo(`127.0.0.1:${server.port}`));
    expect(server.connections.length).toBe(0);
  });

  test("in the same tick as the request", async () => {
    const server = await rawServer(silent);
    const stop = new AbortController();
    const asked = ask(`https://127.0.0.1:${server.port}/`, testNetwork(), { signal: stop.signal });
    stop.abort(new Error("reasons are the caller's own"));
    expect(await failureOf(asked)).toEqual(abortedTo(`127.0.0.1:${server.port}`));
    expect(server.connections.length).toBe(0);
  });

  test("during the DNS lookup", async () => {
    const stop = new AbortController();
    const asked = ask("http://localhost:9/", testNetwork(), { signal: stop.signal });
    setImmediate(() => stop.abort());
    expect(await failureOf(asked)).toEqual(abortedTo("localhost:9"));
  });

  test("during the TLS handshake", async () => {
    const server = await rawServer((socket) => socket.once("data", () => stop.abort()));
    const stop = new AbortController();
    const asked = ask(`https://127.0.0.1:${server.port}/`, testNetwork(), { signal: stop.signal });
    expect(await failureOf(asked)).toEqual(abortedTo(`127.0.0.1:${server.port}`));
    expect(await allClosed(server)).toBe(true);
  });

  test.each(["http", "https"])("while waiting for the proxy, for %s", async (scheme) => {
    const proxy = await rawServer((socket) => socket.once("data", () => stop.abort()));
    const stop = new AbortController();
    const network = testNetwork({ ALL_PROXY: `http://127.0.0.1:${proxy.port}` });
    const asked = ask(`${scheme}://service.test:77/`, network, { signal: stop.signal });
    expect(await failureOf(asked)).toEqual(abortedTo("service.test:77"));
    expect(await allClosed(proxy)).toBe(true);
  });

  test("while waiting for the response, on a new connection", async () => {
    const server = await rawServer((socket) => socket.once("data", () => stop.abort()));
    const stop = new AbortController();
    const asked = ask(`http://127.0.0.1:${server.port}/`, testNetwork(), { signal: stop.signal });
    expect(await failureOf(asked)).toEqual(abortedTo(`127.0.0.1:${server.port}`));
    expect(await allClosed(server)).toBe(true);
  });

  test("while waiting for the response on a reused connection, without resending", async () => {
    let requests = 0;
    const server = await httpServer((_incoming, response) => {
      requests += 1;
      if (requests === 1) response.end();
      else stop.abort();
    });
    const stop = new AbortController();
    const network = testNetwork();
    await textOf(await ask(`http://127.0.0.1:${server.port}/`, network));
    const asked = ask(`http://127.0.0.1:${server.port}/`, network, { signal: stop.signal });
    expect(await failureOf(asked)).toEqual(abortedTo(`127.0.0.1:${server.port}`));
    expect([await allClosed(server), requests, server.connections.length]).toEqual([true, 2, 1]);
  });

  test("while sending the request", async () => {
    const server = await rawServer((socket) => {
      socket.once("data", () => {
        socket.pause();
        stop.abort();
        setImmediate(() => socket.resume());
      });
    });
    const stop = new AbortController();
    const body = new Uint8Array(32 * 1024 * 1024);
    const asked = ask(`http://127.0.0.1:${server.port}/`, testNetwork(), { signal: stop.signal, method: "POST", body });
    expect(await failureOf(asked)).toEqual(abortedTo(`127.0.0.1:${server.port}`));
    expect(await allClosed(server)).toBe(true);
  });

  test.each(["identity", "gzip"])("in the middle of the body (%s)", async (coding) => {
    const server = await httpServer((_incoming, response) => {
      response.writeHead(200, { "Content-Encoding": coding }).flushHeaders();
    });
    const stop = new AbortController();
    const response = await ask(`http://127.0.0.1:${server.port}/`, testNetwork(), { signal: stop.signal });
    setImmediate(() => stop.abort());
    expect(await failureOf(textOf(response))).toEqual(abortedTo(`127.0.0.1:${server.port}`));
    expect(await allClosed(server)).toBe(true);
  });

  test("without a reader closes the socket, and a later reader gets the error", async () => {
    const server = await httpServer((_incoming, response) => response.write("first"));
    const stop = new AbortController();
    const response = await ask(`http://127.0.0.1:${server.port}/`, testNetwork(), { signal: stop.signal });
    stop.abort();
    expect(await allClosed(server)).toBe(true);
    expect(await failureOf(textOf(response))).toEqual(abortedTo(`127.0.0.1:${server.port}`));
  });

  test("ends all requests that share the signal, without a warning about listeners", async () => {
    const warnings: string[] = [];
    const warn = ({ message }: Error) => warnings.push(message);
    process.on("warning", warn);
    onTestFinished(() => {
      process.off("warning", warn);
    });
    const server = await httpServer((incoming, response) => {
      if (incoming.url !== "/silent") response.write("first");
    });
    const stop = new AbortController();
    const network = testNetwork();
    const url = `http://127.0.0.1:${server.port}/`;
    const get = async (address: string) => textOf(await ask(address, network, { signal: stop.signal }));
    const asked = Array.from({ length: 30 }, (_, i) => failureOf(get(i % 2 === 0 ? url : `${url}silent`)));
    expect(await eventually(() => server.connections.length === 30)).toBe(true);
    stop.abort();
    expect(new Set((await Promise.all(asked)).map(({ kind }) => kind))).toEqual(new Set(["aborted"]));
    expect([await allClosed(server), warnings]).toEqual([true, []]);
  });

  test("after the end has no effect, and no listener is left on the signal", async () => {
    const { port, connections } = await httpServer((_incoming, response) => response.end("whole"));
    const listeners = new Set<unknown>();
    const { signal, abort } = watched(listeners);
    const network = testNetwork();
    const get = async () => textOf(await ask(`http://127.0.0.1:${port}/`, network, { signal }));
    expect([await get(), await get(), listeners.size]).toEqual(["whole", "whole", 0]);
    abort();
    expect(await textOf(await ask(`http://127.0.0.1:${port}/`, network))).toBe("whole");
    expect(connections.length).toBe(1);
  });
});

/** A signal that records its listeners. */
function watched(listeners: Set<unknown>): { signal: AbortSignal; abort(): void } {
  const stop = new AbortController();
  const { signal } = stop;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  Object.assign(signal, {
    addEventListener(...args: Parameters<typeof add>) {
      listeners.add(args[1]);
      add(...args);
    },
    removeEventListener(...args: Parameters<typeof remove>) {
      listeners.delete(args[1]);
      remove(...args);
    },
  });
  return { signal, abort: () => stop.abort() };
}
