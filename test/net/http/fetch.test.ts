import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createFetch } from "../../../src/net/http/fetch.ts";
import { FetchHeaders } from "../../../src/net/http/fetch-headers.ts";
import { bundleForChild } from "../../fakes/bundle-for-child.ts";
import {
  cannedServer,
  closedPort,
  eventually,
  failureOf,
  httpServer,
  patient,
  tempFolder,
  testNetwork,
} from "../support.ts";

const fetchOf = (timeouts = patient) => createFetch(testNetwork(), timeouts);

/** A server that echoes the request. */
const mirror = () =>
  httpServer(async (incoming, response) => {
    const { method, url, headers } = incoming;
    const { host: _host, connection: _connection, ...given } = headers;
    const body = (await incoming.toArray()).join("");
    response.end(JSON.stringify({ method, url, headers: given, body }));
  });

describe("sends", () => {
  test.each([
    ["none", undefined, undefined, {}, ""],
    ["a record with undefined values", { A: "1", b: undefined }, "text", { a: "1", "content-length": "4" }, "text"],
    [
      "pairs",
      [
        ["A", "1"],
        ["a", "2"],
      ],
      new Uint8Array([65, 66]),
      { a: "1, 2", "content-length": "2" },
      "AB",
    ],
    [
      "the platform's",
      new Headers({ "X-Y": "z" }),
      new Uint8Array([67]).buffer,
      { "x-y": "z", "content-length": "1" },
      "C",
    ],
    ["our own", new FetchHeaders({ "X-Y": "z" }), null, { "x-y": "z", "content-length": "0" }, ""],
  ])("headers: %s", async (_what, headers, body, expected, text) => {
    const { port } = await mirror();
    const init = { headers, body, method: body === undefined ? "get" : "post" } as RequestInit;
    const response = await fetchOf()(new URL(`http://127.0.0.1:${port}/p?q=r`), init);
    expect(await response.json()).toEqual({
      method: body === undefined ? "GET" : "POST",
      url: "/p?q=r",
      headers: expected,
      body: text,
    });
  });

  test.each([
    ["not an address", {}, "The request URL is invalid."],
    ["http://a.test/?secret", { body: new FormData() }, "A request body must be text or bytes."],
    [
      "http://a.test/?secret",
      { headers: { "X-Api-Key": "secret\n" } },
      'The request to a.test:80 has a character in its header "x-api-key" that cannot be sent, such as a line break at the end of a key.',
    ],
  ])("nothing for the invalid request %s with %j", async (url, init, message) => {
    expect(await failureOf(fetchOf()(url, init))).toEqual({ name: "NetworkError", kind: "invalid", message });
  });
});

describe("returns", () => {
  test("status, headers and body", async () => {
    const answer = 'HTTP/1.1 429 Slow Down\r\nX-B: 2\r\nRetry-After: 7\r\nContent-Length: 7\r\n\r\n{"a":1}';
    const { port } = await cannedServer(answer);
    const response = await fetchOf()(`http://127.0.0.1:${port}/x`);
    const { ok, status, statusText, url, redirected } = response;
    expect({
      ok,
      status,
      statusText,
      url,
      redirected,
      headers: [...response.headers],
      body: await response.json(),
    }).toEqual({
      ok: false,
      status: 429,
      statusText: "Slow Down",
      url: `http://127.0.0.1:${port}/x`,
      redirected: false,
      headers: [
        ["content-length", "7"],
        ["retry-after", "7"],
        ["x-b", "2"],
      ],
      body: { a: 1 },
    });
    expect([response.headers.get("Retry-AFTER"), response.headers.get("none"), response.headers.has("x-b")]).toEqual([
      "7",
      null,
      true,
    ]);
  });

  test("the body as text or bytes, but only once", async () => {
    const { port } = await httpServer((_incoming, response) => response.end("\ufeffä€"));
    const fetch = fetchOf();
    const get = () => fetch(`http://127.0.0.1:${port}/`);
    expect(await (await get()).text()).toBe("ä€");
    expect(Buffer.from(await (await get()).arrayBuffer()).toString("hex")).toBe("efbbbfc3a4e282ac");
    const read = await get();
    await read.text();
    await expect(read.text()).rejects.toThrow(TypeError);
  });

  test("a redirect without following it", async () => {
    const { port, connections } = await cannedServer(
      "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n",
    );
    const response = await fetchOf()(`http://127.0.0.1:${port}/`, { method: "POST", body: "x" });
    expect([response.status, response.ok, await response.text(), connections.length]).toEqual([307, false, "", 1]);
  });

  test("a null body for a status without one", async () => {
    const { port } = await cannedServer("HTTP/1.1 204 No Content\r\n\r\n");
    const response = await fetchOf()(`http://127.0.0.1:${port}/`);
    expect([response.ok, response.body, await response.text()]).toEqual([true, null, ""]);
  });

  test("each chunk before the next is sent", async () => {
    let next = () => {};
    const { port } = await httpServer((_incoming, response) => {
      let count = 0;
      next = () => {
        count += 1;
        if (count === 4) response.end();
        else response.write(`piece ${count}`);
      };
      next();
    });
    const { body } = await fetchOf()(`http://127.0.0.1:${port}/`);
    const pieces: string[] = [];
    for await (const piece of body ?? []) {
      pieces.push(Buffer.from(piece).toString());
      next();
    }
    expect(pieces).toEqual(["piece 1", "piece 2", "piece 3"]);
  });
});

describe("ends early", () => {
  const halfway = () => httpServer((_incoming, response) => response.write("half"));
  const read = async (body: ReadableStream<Uint8Array> | null) => {
    for await (const _piece of body ?? []);
  };

  test("if no server is there", async () => {
    const port = await closedPort();
    expect(await failureOf(fetchOf()(`http://127.0.0.1:${port}/`))).toMatchObject({ kind: "refused" });
  });

  test("on an abort before the request or during the body", async () => {
    const { port, connections } = await halfway();
    const url = `http://127.0.0.1:${port}/`;
    expect(await failureOf(fetchOf()(url, { signal: AbortSignal.abort() }))).toMatchObject({ name: "AbortError" });
    const stop = new AbortController();
    const { body } = await fetchOf()(url, { signal: stop.signal });
    const reading = failureOf(read(body));
    stop.abort();
    expect(await reading).toMatchObject({ name: "AbortError", kind: "aborted" });
    expect(await eventually(() => connections.every((socket) => socket.destroyed))).toBe(true);
  });

  test("if the reader cancels", async () => {
    const { port, connections } = await halfway();
    const { body } = await fetchOf()(`http://127.0.0.1:${port}/`);
    await body?.cancel();
    expect(await eventually(() => connections.every((socket) => socket.destroyed))).toBe(true);
  });

  test("if the server is silent", async () => {
    const { port } = await halfway();
    const { body } = await fetchOf({ ...patient, idleMs: 60 })(`http://127.0.0.1:${port}/`);
    expect(await failureOf(read(body))).toMatchObject({ kind: "idle_timeout" });
  });

  test("if the body is cut", async () => {
    const { port } = await cannedServer("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf");
    const { body } = await fetchOf()(`http://127.0.0.1:${port}/`);
    expect(await failureOf(read(body))).toEqual({
      name: "NetworkError",
      kind: "reset",
      message: `The connection to 127.0.0.1:${port} was closed in the middle of the response.`,
    });
  });
});

test("our headers behave like the platform's", () => {
  const both = [new FetchHeaders({ B: "2", a: "1" }), new Headers({ B: "2", a: "1" })] as const;
  const seen = both.map((headers) => {
    headers.append("b", "3");
    headers.set("C", "4");
    headers.delete("A");
    headers.append("d", "5");
    const each: string[] = [];
    headers.forEach((value: string, name: string) => {
      each.push(`${name}=${value}`);
    });
    const lists = [[...headers], [...headers.entries()], [...headers.keys()], [...headers.values()]];
    return [each, lists, headers.get("B"), headers.get("a"), headers.has("D"), headers.has("A")];
  });
  expect(seen[0]).toEqual(seen[1]);
});

test("does not load Node's own fetch", async () => {
  const { port } = await httpServer((_incoming, response) => response.end("ok"));
  const program = await bundleForChild(join(import.meta.dirname, "fetch-child.ts"), await tempFolder());
  const child = spawn(process.execPath, [program, `http://127.0.0.1:${port}/`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const output = (await child.stdout.toArray()).join("");
  const [code] = child.exitCode === null ? await once(child, "close") : [child.exitCode];
  expect([code, JSON.parse(output)]).toEqual([0, { text: "ok", loaded: [] }]);
});
