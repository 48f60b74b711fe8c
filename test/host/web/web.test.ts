import type { IncomingHttpHeaders } from "node:http";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { createNodeHost } from "../../../src/host/node-host.ts";
import { eventually, fixture, httpServer, httpsServer, rawServer, testNetwork } from "../../net/support.ts";
import { startProxy } from "../../net/test-proxy.ts";
import { answering, asking, get, names, plain, timeouts, wordsOf } from "../web-support.ts";

describe("a page", () => {
  it("has its status, type and address, and the request has nothing of the user", async () => {
    const seen: { readonly url: string | undefined; readonly headers: IncomingHttpHeaders }[] = [];
    const { port } = await httpServer((request, response) => {
      seen.push({ url: request.url, headers: request.headers });
      response.writeHead(404, { "content-type": "text/html; charset=x", "set-cookie": "a=b" });
      response.end("not here");
    });
    expect(plain(await get(`http://127.0.0.1:${port}/a%20b?q=1#part`))).toEqual({
      url: `http://127.0.0.1:${port}/a%20b?q=1`,
      status: 404,
      contentType: "text/html; charset=x",
      body: "not here",
      truncated: false,
    });
    const { connection, ...headers } = seen[0]?.headers ?? {};
    expect({ url: seen[0]?.url, headers }).toEqual({
      url: "/a%20b?q=1",
      headers: {
        host: `127.0.0.1:${port}`,
        accept: "text/html",
        "accept-encoding": "gzip, deflate, br",
        "user-agent": `tinman/${TINMAN_VERSION}`,
      },
    });
  });

  it("is read up to its limit after decompression, and the connection is closed", async () => {
    const bomb = gzipSync(Buffer.alloc(20_000_000));
    const { port, connections } = await httpServer((request, response) => {
      if (request.url === "/exact") response.end("x".repeat(1000));
      else if (request.url === "/bomb") response.writeHead(200, { "content-encoding": "gzip" }).end(bomb);
      else {
        const more = (): void => void (response.writable && response.write("y".repeat(500), () => setImmediate(more)));
        more();
      }
    });
    const read = async (path: string) => {
      const { body, truncated } = await get(`http://127.0.0.1:${port}${path}`);
      return { length: body.length, truncated };
    };
    expect(await read("/exact")).toEqual({ length: 1000, truncated: false });
    expect(await read("/bomb")).toEqual({ length: 1000, truncated: true });
    expect(await read("/endless")).toEqual({ length: 1000, truncated: true });
    expect(await eventually(() => connections.at(-1)?.destroyed === true)).toBe(true);
  });

  it("can come in pieces of any size", async () => {
    const { port } = await rawServer((socket) => {
      socket.once("data", () => {
        socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        socket.end(`${"1\r\nz\r\n".repeat(900)}0\r\n\r\n`);
      });
    });
    expect(plain(await get(`http://127.0.0.1:${port}/`))).toMatchObject({ body: "z".repeat(900), contentType: "" });
  });
});

describe("a server with several addresses", () => {
  it("is reached through the next one if one fails", async () => {
    const { port } = await httpServer(answering("here"));
    const { lookUpAll } = names({ "two.test": ["::1", "127.0.0.1"] });
    const page = await get(`http://two.test:${port}/`, { lookUpAll, allowPrivate: ["::1/128", "127.0.0.1/32"] });
    expect(plain(page).body).toBe("here");
  });

  it("is requested only once if it returns an error", async () => {
    const { port, connections } = await rawServer((socket) => socket.once("data", () => socket.destroy()));
    const { lookUpAll } = names({ "two.test": ["127.0.0.1", "127.0.0.2"] });
    const words = await wordsOf(get(`http://two.test:${port}/`, { lookUpAll, allowPrivate: ["127.0.0.0/8"] }));
    expect(words).toContain(`two.test:${port}`);
    expect(connections).toHaveLength(1);
  });
});

describe("the web of this machine's host", () => {
  it("allows what its options say, through the given network", async () => {
    const { port } = await httpServer(answering("inside"));
    const network = testNetwork();
    let opened = 0;
    const openNetwork = async () => {
      opened += 1;
      return network;
    };
    const read = async (allowPrivate: readonly string[]) => {
      const { web } = createNodeHost({ outputsDir: "/nowhere", fetch: { allowPrivate }, openNetwork });
      const signal = new AbortController().signal;
      const pages = [1, 2].map(() => web.get(`http://127.0.0.1:${port}/`, asking, signal));
      return (await Promise.all(pages)).map((page) => plain(page).body);
    };
    expect(await read([`127.0.0.1:${port}`])).toEqual(["inside", "inside"]);
    expect(opened).toBe(1);
    expect(await wordsOf(read([]))).toContain("is not a public address");
    const { web } = createNodeHost({ outputsDir: "/nowhere" });
    expect(await wordsOf(web.get("http://127.0.0.1/", asking, new AbortController().signal))).toContain(
      "is not a public address",
    );
  });
});

describe("redirects", () => {
  it("are followed, each checked again, without cookies or referrer", async () => {
    const seen: IncomingHttpHeaders[] = [];
    const { port } = await httpServer((request, response) => {
      seen.push(request.headers);
      const step = Number(request.url?.slice(1));
      const status = [301, 302, 303, 307, 308][step];
      if (status === undefined) response.end("the end");
      else {
        const location = step === 2 ? `//other.test:${port}/3#part` : String(step + 1);
        response.writeHead(status, { location, "set-cookie": "s=1" }).end("moved");
      }
    });
    const { lookUpAll, asked } = names({ "other.test": ["127.0.0.1"] });
    expect(plain(await get(`http://127.0.0.1:${port}/0`, { lookUpAll }))).toMatchObject({
      url: `http://other.test:${port}/5`,
      status: 200,
      body: "the end",
    });
    expect(asked).toEqual([...Array(3).fill("127.0.0.1"), ...Array(3).fill("other.test")]);
    expect(seen.flatMap((headers) => [headers.cookie, headers.referer])).toEqual(Array(12).fill(undefined));
  });

  it("stop at private addresses, other schemes, loops and missing targets", async () => {
    let location = "";
    const { port, connections } = await httpServer((_, response) => response.writeHead(302, { location }).end());
    const here = `http://127.0.0.1:${port}`;
    const { lookUpAll } = names({ "inside.test": ["192.168.0.1"] });
    const to = async (where: string) => {
      location = where;
      return wordsOf(get(`${here}/start?secret=1`, { lookUpAll }));
    };
    const privately =
      "This machine and private networks are off limits. The user can allow it with fetch.allowPrivate in the configuration.";
    expect([
      await to("http://inside.test/?secret=2"),
      await to("http://[::1]/"),
      await to("http://0xa9fea9fe/latest"),
      await to("file:///etc/passwd"),
      await to("ftp://127.0.0.1/"),
      await to("http://user:pass@127.0.0.1/"),
      await to("http://["),
      await to("/start?secret=3"),
    ]).toEqual([
      `inside.test leads to 192.168.0.1, which is not a public address. ${privately}`,
      `[::1] is not a public address. ${privately}`,
      `169.254.169.254 is not a public address. ${privately}`,
      `${here}/start redirects to an address with the scheme file:; only https: and http: are supported.`,
      `${here}/start redirects to an address with the scheme ftp:; only https: and http: are supported.`,
      `${here}/start redirects to an address with a user name or password, which are never sent.`,
      `${here}/start redirects to an invalid address.`,
      `More than 5 redirects; the last one came from ${here}/start.`,
    ]);
    expect(connections.length).toBe(7 + 6);
  });

  it("do not lead from https to http", async () => {
    const open = await httpServer(answering("open"));
    const closed = await httpsServer("server.pem", (request, response) => {
      const location = request.url === "/up" ? "/" : `http://localhost:${open.port}/x?y`;
      if (request.url === "/") response.end("safe");
      else response.writeHead(302, { location }).end();
    });
    const network = testNetwork({}, { caFile: fixture("authority.pem") });
    const options = { network, ...names({ localhost: ["127.0.0.1"] }), allowPrivate: ["localhost"] };
    const start = `https://localhost:${closed.port}`;
    expect(plain(await get(`${start}/up`, options))).toMatchObject({ url: `${start}/`, body: "safe" });
    expect(await wordsOf(get(`${start}/down`, options))).toBe(
      `${start}/down redirects from https to http (http://localhost:${open.port}/x), which is not followed.`,
    );
    expect(open.connections).toEqual([]);
  });

  it("without a target are ordinary responses", async () => {
    const { port } = await httpServer((_, response) => response.writeHead(302).end("?"));
    expect(plain(await get(`http://127.0.0.1:${port}/`))).toMatchObject({ status: 302, body: "?" });
  });
});

describe("a non-web address", () => {
  it("is rejected with a message", async () => {
    expect([
      await wordsOf(get("file:///etc/passwd")),
      await wordsOf(get("http://me@127.0.0.1/")),
      await wordsOf(get("http://:secret@127.0.0.1/")),
    ]).toEqual([
      "This is an address with the scheme file:; only https: and http: are supported.",
      "This is an address with a user name or password, which are never sent.",
      "This is an address with a user name or password, which are never sent.",
    ]);
  });
});

describe("an abort", () => {
  it("closes the connection at once, before and in the middle of the response", async () => {
    const { port, connections } = await httpServer((request, response) => {
      if (request.url === "/half") response.write("half");
    });
    for (const [index, path] of ["/silent", "/half"].entries()) {
      const stop = new AbortController();
      const words = wordsOf(get(`http://127.0.0.1:${port}${path}`, {}, stop.signal));
      expect(await eventually(() => connections.length === index + 1)).toBe(true);
      stop.abort();
      expect(await words).not.toBe("It did not fail.");
      expect(await eventually(() => connections[index]?.destroyed === true)).toBe(true);
    }
  });

  it("ends the wait for a name, and comes before everything", async () => {
    const stop = new AbortController();
    const waiting = wordsOf(get("http://slow.test/", { lookUpAll: () => new Promise(() => undefined) }, stop.signal));
    stop.abort();
    expect(await waiting).toContain("could not be looked up");
    const { port, connections } = await httpServer(answering("x"));
    expect(await wordsOf(get(`http://127.0.0.1:${port}/`, {}, stop.signal))).not.toBe("It did not fail.");
    expect(connections).toEqual([]);
  });
});

describe("the time limit of a page", () => {
  it("applies even if data keeps coming", async () => {
    const { port, connections } = await httpServer((_, response) => {
      const timer = setInterval(() => response.write("."), 10);
      response.on("close", () => clearInterval(timer));
    });
    const quick = { ...timeouts, overallMs: 300 };
    expect(await wordsOf(get(`http://127.0.0.1:${port}/`, { timeouts: quick }))).toBe(
      "The page was not complete after 0.3 seconds.",
    );
    expect(await eventually(() => connections.every((socket) => socket.destroyed))).toBe(true);
  });
});

describe("through a proxy", () => {
  it("requests the checked address, over plain http too", async () => {
    const { port } = await httpServer((request, response) => response.end(request.headers.host));
    const proxy = await startProxy({ target: port });
    const network = testNetwork({ HTTP_PROXY: `http://127.0.0.1:${proxy.port}` });
    const { lookUpAll } = names({ "site.test": ["127.0.0.1"], "inside.test": ["10.0.0.1"] });
    const options = { network, lookUpAll };
    expect(plain(await get(`http://site.test:${port}/`, options)).body).toBe(`site.test:${port}`);
    expect(await wordsOf(get("http://inside.test/", options))).toContain("leads to 10.0.0.1");
    expect(await wordsOf(get("http://unknown.test/", options))).toContain("could not be looked up");
    expect(proxy.asked).toEqual([`CONNECT 127.0.0.1:${port}`]);
  });

  it("leaves names to it if they are allowed by name", async () => {
    const { port } = await httpServer(answering("from inside"));
    const proxy = await startProxy({ target: port });
    const network = testNetwork({ HTTP_PROXY: `http://127.0.0.1:${proxy.port}` });
    const { lookUpAll, asked } = names({});
    const page = await get("http://only-there.test/", { network, lookUpAll, allowPrivate: ["only-there.test"] });
    expect(plain(page).body).toBe("from inside");
    expect({ looked: asked, proxy: proxy.asked }).toEqual({ looked: [], proxy: ["GET http://only-there.test/"] });
  });

  it("a refusal names what was requested", async () => {
    const proxy = await startProxy({ target: 1, refuses: 403 });
    const network = testNetwork({ HTTP_PROXY: `http://u:secret@127.0.0.1:${proxy.port}` });
    const words = await wordsOf(get("http://site.test/", { network, ...names({ "site.test": ["127.0.0.1"] }) }));
    expect(words).toContain("with status 403. It was given the checked address");
    expect(words).not.toContain("secret");
  });
});
