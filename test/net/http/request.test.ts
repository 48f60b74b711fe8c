import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { NetworkError } from "../../../src/net/network-error.ts";
import { ask, cannedServer, eventually, failureOf, httpServer, rawServer, testNetwork, textOf } from "../support.ts";

describe("a request", () => {
  async function sentBy(changes: Parameters<typeof ask>[2], path = "/a/b?c=d#e"): Promise<string> {
    let sent = "";
    const { port } = await rawServer((socket) =>
      socket.on("data", (bytes) => {
        sent += bytes.toString("latin1");
        if (sent.includes("\r\n\r\n")) socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
      }),
    );
    await textOf(await ask(`http://127.0.0.1:${port}${path}`, testNetwork(), changes));
    return sent.replace(String(port), "PORT");
  }

  test("adds only host, length and connection headers", async () => {
    expect(await sentBy({ headers: { "X-Key": "k", accept: "text/html" } })).toBe(
      "GET /a/b?c=d HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nX-Key: k\r\naccept: text/html\r\nConnection: keep-alive\r\n\r\n",
    );
  });

  test("counts the length of text in bytes", async () => {
    expect(await sentBy({ method: "POST", body: "ä€" }, "/")).toBe(
      `POST / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\n${Buffer.from("ä€").toString("latin1")}`,
    );
  });

  test("sends bytes unchanged, and a length of 0 for a POST without a body", async () => {
    expect(await sentBy({ method: "PUT", body: new Uint8Array([0, 255]) }, "/")).toMatch(
      /Content-Length: 2\r\n.*\r\n\r\n\0\xff$/s,
    );
    expect(await sentBy({ method: "POST" }, "/")).toContain("\r\nContent-Length: 0\r\n");
  });

  test("ignores the caller's framing and connection headers", async () => {
    const headers = {
      Host: "elsewhere",
      "content-length": "99",
      "Transfer-Encoding": "chunked",
      connection: "close",
      "Proxy-Authorization": "x",
      expect: "100-continue",
      upgrade: "websocket",
    };
    expect(await sentBy({ method: "POST", body: "ab", headers }, "/")).toBe(
      "POST / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nab",
    );
  });

  test("connects to a pinned address but sends the host name", async () => {
    const { port } = await httpServer((incoming, response) => response.end(incoming.headers.host));
    const response = await ask(`http://no-such-name.invalid:${port}/`, testNetwork(), { address: "127.0.0.1" });
    expect(await textOf(response)).toBe(`no-such-name.invalid:${port}`);
  });
});

describe("a response", () => {
  test("has status, status text, lower-case headers with repeated ones joined, and the body", async () => {
    const { port } = await cannedServer(
      "HTTP/1.1 418 Short And Stout\r\nX-One: 1\r\nX-One: 2\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nContent-Length: 3\r\n\r\nabc",
    );
    const response = await ask(`http://127.0.0.1:${port}/`, testNetwork());
    const { status, statusText, headers } = response;
    expect({ status, statusText, headers, text: await textOf(response) }).toEqual({
      status: 418,
      statusText: "Short And Stout",
      headers: { "x-one": "1, 2", "set-cookie": "a, b", "content-length": "3" },
      text: "abc",
    });
  });

  test("can be a redirect, which is not followed", async () => {
    const { port, connections } = await cannedServer("HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n");
    const response = await ask(`http://127.0.0.1:${port}/`, testNetwork());
    expect([response.status, response.headers.location, await textOf(response), connections.length]).toEqual([
      302,
      "/x",
      "",
      1,
    ]);
  });

  test.each([
    ["HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nContent-Encoding: gzip\r\n\r\n", 200],
    ["GET", "HTTP/1.1 204 No Content\r\n\r\n", 204],
    ["GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 1000\r\n\r\n", 304],
    ["GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200],
    ["GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 200],
    ["GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Encoding: gzip\r\n\r\n", 200],
    ["GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Encoding: deflate\r\n\r\n", 200],
    ["GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Encoding: br\r\n\r\n", 200],
    ["GET", "HTTP/1.1 200 OK\r\n\r\n", 200],
  ])("to %s has no body: %j", async (method, answer, status) => {
    const { port } = await cannedServer(answer);
    const response = await ask(`http://127.0.0.1:${port}/`, testNetwork(), { method });
    expect([response.status, await textOf(response)]).toEqual([status, ""]);
  });

  test("can follow informational responses, which are skipped", async () => {
    const { port } = await cannedServer(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    );
    const response = await ask(`http://127.0.0.1:${port}/`, testNetwork());
    expect([response.status, response.headers, await textOf(response)]).toEqual([200, { "content-length": "2" }, "ok"]);
  });

  test("without a length ends with the connection", async () => {
    const { port } = await cannedServer("HTTP/1.0 200 OK\r\n\r\nuntil the end");
    expect(await textOf(await ask(`http://127.0.0.1:${port}/`, testNetwork()))).toBe("until the end");
  });
});

describe("compression", () => {
  const text = "compressed ".repeat(20_000);
  test.each([
    ["gzip", gzipSync(text)],
    ["x-gzip", gzipSync(text)],
    ["GZIP", gzipSync(text)],
    ["deflate", deflateSync(text)],
    ["deflate", deflateRawSync(text)],
    ["br", brotliCompressSync(text)],
  ])("%s is decompressed, and its headers are removed", async (coding, bytes) => {
    const { port } = await httpServer((_incoming, response) => {
      response.writeHead(200, { "Content-Encoding": coding, "Content-Length": bytes.byteLength, "X-Kept": "1" });
      response.end(bytes);
    });
    const response = await ask(`http://127.0.0.1:${port}/`, testNetwork());
    const { date: _date, connection: _connection, "keep-alive": _keepAlive, ...headers } = response.headers;
    expect([headers, await textOf(response)]).toEqual([{ "x-kept": "1" }, text]);
  });

  test("yields each flushed part at once", async () => {
    const { createGzip, constants } = await import("node:zlib");
    const gzip = createGzip();
    const { port } = await httpServer((_incoming, response) => {
      response.writeHead(200, { "Content-Encoding": "gzip" });
      gzip.pipe(response);
      gzip.write("first");
      gzip.flush(constants.Z_SYNC_FLUSH);
    });
    const response = await ask(`http://127.0.0.1:${port}/`, testNetwork());
    const parts: string[] = [];
    for await (const piece of response.body) {
      parts.push(Buffer.from(piece).toString());
      if (parts.length === 1) gzip.end("second");
    }
    expect([parts[0], parts.join("")]).toEqual(["first", "firstsecond"]);
  });

  test("keeps bytes and headers of an unknown encoding", async () => {
    const { port } = await cannedServer("HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\nContent-Length: 2\r\n\r\nok");
    const response = await ask(`http://127.0.0.1:${port}/`, testNetwork());
    expect([response.headers, await textOf(response)]).toEqual([
      { "content-encoding": "zstd", "content-length": "2" },
      "ok",
    ]);
  });

  test.each(["gzip", "deflate", "br"])("reports plain bytes declared as %s as malformed", async (coding) => {
    const { port } = await cannedServer(
      `HTTP/1.1 200 OK\r\nContent-Encoding: ${coding}\r\nContent-Length: 9\r\n\r\n\xff\xff\xff plain`,
    );
    const response = await ask(`http://127.0.0.1:${port}/`, testNetwork());
    expect(await failureOf(textOf(response))).toEqual({
      name: "NetworkError",
      kind: "malformed",
      message: `The response from 127.0.0.1:${port} does not match its Content-Encoding.`,
    });
  });

  test.each([
    ["gzip", gzipSync("whole")],
    ["br", brotliCompressSync("whole")],
  ])("%s: never returns trailing garbage as part of the body", async (coding, bytes) => {
    const { port } = await httpServer((_incoming, response) => {
      response.writeHead(200, { "Content-Encoding": coding });
      response.end(Buffer.concat([bytes, Buffer.from("and more")]));
    });
    const response = await ask(`http://127.0.0.1:${port}/`, testNetwork());
    const text = await textOf(response).catch((error: NetworkError) => error.kind);
    expect(text).toBe(coding === "gzip" ? "malformed" : "whole");
  });

  test("disconnects from a server that sends more after the compressed end", async () => {
    const { port, connections } = await httpServer((_incoming, response) => {
      response.writeHead(200, { "Content-Encoding": "gzip" });
      response.write(Buffer.concat([gzipSync("whole"), Buffer.alloc(3)]));
    });
    expect(await textOf(await ask(`http://127.0.0.1:${port}/`, testNetwork()))).toBe("whole");
    expect(await eventually(() => connections.every((socket) => socket.destroyed))).toBe(true);
  });
});

describe("rejects unsendable requests", () => {
  const secret = "sk-very-secret";
  const header = (name: string) =>
    `The request to host.invalid:80 has a character in its header "${name}" that cannot be sent, such as a line break at the end of a key.`;
  test.each([
    [{ headers: { Authorization: `Bearer ${secret}\n` } }, header("Authorization")],
    [{ headers: { "x-api-key": `${secret}\r\nX-Other: 1` } }, header("x-api-key")],
    [{ headers: { "x-api-key": `${secret}\0` } }, header("x-api-key")],
    [{ headers: { "x-api-key": `${secret}€` } }, header("x-api-key")],
    [{ headers: { [`${secret} :`]: "x" } }, "The request to host.invalid:80 has a header whose name cannot be sent."],
    [{ headers: { "": "x" } }, "The request to host.invalid:80 has a header whose name cannot be sent."],
    [{ method: "GET / HTTP/1.1\r\nX: 1" }, "Unsupported method for a request to host.invalid."],
    [{ method: "connect" }, "Unsupported method for a request to host.invalid."],
    [{ url: new URL("ftp://host.invalid/") }, 'Unsupported scheme "ftp:". Use "http:" or "https:".'],
    [
      { url: new URL(`http://user:${secret}@host.invalid/?q=${secret}`) },
      "The address of host.invalid contains a user or password. Send them in a header.",
    ],
  ])("%j", async (changes, message) => {
    expect(await failureOf(ask("http://host.invalid/?q=secret", testNetwork(), changes))).toEqual({
      name: "NetworkError",
      kind: "invalid",
      message,
    });
  });
});
