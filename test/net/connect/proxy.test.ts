import type { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import {
  ask,
  cannedServer,
  closedPort,
  failureOf,
  fixture,
  httpServer,
  httpsServer,
  rawServer,
  testNetwork,
  textOf,
} from "../support.ts";
import { startProxy } from "../test-proxy.ts";

const trusting = { caFile: fixture("authority.pem") };
const error = (kind: string, message: string) => ({ name: "NetworkError", kind, message });
const proxyError = (message: string) => error("proxy", message);

describe("through a proxy", () => {
  test("http: sends the full URL, over one connection for several servers", async () => {
    const { port } = await httpServer((incoming, response) => {
      response.end(`${incoming.method} ${incoming.url} ${incoming.headers.host}`);
    });
    const proxy = await startProxy({ target: port });
    const network = testNetwork({ HTTP_PROXY: `127.0.0.1:${proxy.port}` });
    const texts = [
      await textOf(await ask("http://service.test/a", network)),
      await textOf(await ask("http://other.test:81/b", network, { method: "POST", body: "x" })),
    ];
    expect({ texts, asked: proxy.asked, connections: proxy.sockets.length }).toEqual({
      texts: ["GET /a service.test", "POST /b other.test:81"],
      asked: ["GET http://service.test/a", "POST http://other.test:81/b"],
      connections: 1,
    });
  });

  test.each([false, true])(
    "https: opens a tunnel and reuses it for the same server (proxy over TLS: %j)",
    async (secure) => {
      const { port, connections } = await httpsServer("server.pem", (incoming, response) =>
        response.end(incoming.headers.host),
      );
      const proxy = await startProxy({ target: port, secure });
      const network = testNetwork({ HTTPS_PROXY: `${secure ? "https" : "http"}://127.0.0.1:${proxy.port}` }, trusting);
      const get = async () => textOf(await ask("https://service.test/", network));
      expect([await get(), await get(), proxy.asked, connections.length]).toEqual([
        "service.test",
        "service.test",
        ["CONNECT service.test:443"],
        1,
      ]);
    },
  );

  test("asks the proxy for a pinned address but sends the server the host name", async () => {
    const plain = await httpServer((incoming, response) => response.end(incoming.headers.host));
    const secure = await httpsServer("server.pem", (incoming, response) => response.end(incoming.headers.host));
    const [plainProxy, secureProxy] = [
      await startProxy({ target: plain.port }),
      await startProxy({ target: secure.port }),
    ];
    const at = (port: number) => `http://127.0.0.1:${port}`;
    const network = testNetwork({ HTTP_PROXY: at(plainProxy.port), HTTPS_PROXY: at(secureProxy.port) }, trusting);
    const texts = [
      await textOf(await ask("http://service.test/", network, { address: "192.0.2.1" })),
      await textOf(await ask("https://service.test/", network, { address: "2001:db8::1" })),
    ];
    expect([texts, plainProxy.asked, secureProxy.asked]).toEqual([
      ["service.test", "service.test"],
      ["CONNECT 192.0.2.1:80"],
      ["CONNECT [2001:db8::1]:443"],
    ]);
  });

  test("sends the proxy the user and password of its address", async () => {
    const { port } = await httpsServer("server.pem", (incoming, response) =>
      response.end(JSON.stringify(incoming.headers)),
    );
    const plain = await httpServer((incoming, response) => response.end(JSON.stringify(incoming.headers)));
    const wants = `Basic ${Buffer.from("us er:p@ss:ä").toString("base64")}`;
    const [secureProxy, plainProxy] = [
      await startProxy({ target: port, wants }),
      await startProxy({ target: plain.port, wants }),
    ];
    const at = (to: number) => `http://us%20er:p%40ss%3A%C3%A4@127.0.0.1:${to}`;
    const network = testNetwork({ HTTP_PROXY: at(plainProxy.port), HTTPS_PROXY: at(secureProxy.port) }, trusting);
    for (const scheme of ["http", "https"]) {
      const response = await ask(`${scheme}://service.test/`, network);
      expect([response.status, (await textOf(response)).includes("authorization")]).toEqual([200, false]);
    }
  });

  test("http: returns the proxy's own response", async () => {
    const proxy = await startProxy({ target: 1, refuses: 502 });
    const network = testNetwork({ http_proxy: `http://127.0.0.1:${proxy.port}` });
    const response = await ask("http://service.test/", network);
    expect([response.status, await textOf(response)]).toEqual([502, "the proxy's own page"]);
  });
});

describe("a failing proxy", () => {
  test.each(["http", "https"])("requires a password, for %s", async (scheme) => {
    const proxy = await startProxy({ target: 1, wants: "Basic other" });
    const where = `the proxy 127.0.0.1:${proxy.port} (ALL_PROXY)`;
    const without = testNetwork({ ALL_PROXY: `http://127.0.0.1:${proxy.port}` });
    expect(await failureOf(ask(`${scheme}://service.test/`, without))).toEqual(
      proxyError(`Status 407 from ${where}: add a user and password to that variable.`),
    );
    const wrong = testNetwork({ ALL_PROXY: `http://me:secret@127.0.0.1:${proxy.port}` });
    expect(await failureOf(ask(`${scheme}://service.test/`, wrong))).toEqual(
      proxyError(`Status 407 from ${where}: correct the user or password in that variable.`),
    );
  });

  test.each([
    ["proxy", "was refused by", 302],
    ["proxy", "was refused by", 403],
    ["proxy_failed", "failed at", 408],
    ["proxy_failed", "failed at", 429],
    ["unreachable", "failed at", 500],
    ["unreachable", "failed at", 502],
    ["unreachable", "failed at", 503],
    ["unreachable", "failed at", 504],
  ])("%s: a tunnel %s the proxy with status %d", async (kind, outcome, refuses) => {
    const proxy = await startProxy({ target: 1, refuses });
    const network = testNetwork({ https_proxy: `http://me:secret@127.0.0.1:${proxy.port}` });
    expect(await failureOf(ask("https://service.test:8443/", network))).toEqual(
      error(
        kind,
        `The connection to service.test:8443 ${outcome} the proxy 127.0.0.1:${proxy.port} (https_proxy) with status ${refuses}.`,
      ),
    );
    expect(proxy.asked).toEqual(["CONNECT service.test:8443"]);
  });

  test("is not there", async () => {
    const port = await closedPort();
    const network = testNetwork({ ALL_PROXY: `http://me:secret@127.0.0.1:${port}` });
    for (const scheme of ["http", "https"]) {
      expect(await failureOf(ask(`${scheme}://service.test/`, network))).toEqual(
        error("proxy_failed", `Nothing accepts connections at the proxy 127.0.0.1:${port} (ALL_PROXY).`),
      );
    }
  });

  test.each([
    ["ends", (socket: Socket) => socket.end()],
    ["resets", (socket: Socket) => socket.resetAndDestroy()],
  ])("%s the connection during the TLS handshake", async (_how, hangUp) => {
    const { port } = await rawServer((socket) => socket.once("data", () => hangUp(socket)));
    const network = testNetwork({ ALL_PROXY: `https://me:secret@127.0.0.1:${port}` });
    for (const scheme of ["http", "https"]) {
      expect(await failureOf(ask(`${scheme}://service.test/`, network))).toEqual(
        error(
          "proxy_failed",
          `The connection to the proxy 127.0.0.1:${port} (ALL_PROXY) was closed during the TLS handshake.`,
        ),
      );
    }
  });

  test("has an untrusted certificate", async () => {
    const proxy = await startProxy({ target: 1, secure: true });
    const network = testNetwork({ HTTPS_PROXY: `https://127.0.0.1:${proxy.port}` });
    expect(await failureOf(ask("https://service.test/", network))).toEqual(
      error(
        "tls",
        `The certificate of the proxy 127.0.0.1:${proxy.port} (HTTPS_PROXY) is signed by an unknown authority; to trust it, set NODE_EXTRA_CA_CERTS or caFile.`,
      ),
    );
  });

  test("does not speak TLS", async () => {
    const { port } = await cannedServer("HTTP/1.1 400 Bad Request\r\n\r\n");
    const network = testNetwork({ HTTPS_PROXY: `https://127.0.0.1:${port}` });
    expect(await failureOf(ask("https://service.test/", network))).toEqual(
      error("tls", `No TLS at the proxy 127.0.0.1:${port} (HTTPS_PROXY); is it an http address?`),
    );
  });

  test.each([
    ["", "proxy_failed", "The connection was closed by PROXY before it reached service.test:443."],
    ["HTTP/1.1 200", "proxy_failed", "The connection was closed by PROXY before it reached service.test:443."],
    ["SSH-2.0\r\n", "proxy", "The response from PROXY is not valid HTTP."],
    ["HTTP/1.1 200 OK\r\n\r\nand more", "proxy", "The response from PROXY is not valid HTTP."],
  ])("answers %j", async (answer, kind, message) => {
    const { port } = await rawServer((socket) => socket.once("data", () => socket.end(answer)));
    const network = testNetwork({ HTTPS_PROXY: `http://127.0.0.1:${port}` });
    const seen = await failureOf(ask("https://service.test/", network));
    expect({ ...seen, message: seen.message.replace(`the proxy 127.0.0.1:${port} (HTTPS_PROXY)`, "PROXY") }).toEqual(
      error(kind, message),
    );
  });

  test("opens a tunnel and then closes it", async () => {
    const { port } = await rawServer((socket) =>
      socket.once("data", () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        socket.once("data", () => socket.destroy());
      }),
    );
    const network = testNetwork({ HTTPS_PROXY: `http://127.0.0.1:${port}` });
    expect(await failureOf(ask("https://service.test/", network))).toEqual({
      name: "NetworkError",
      kind: "reset",
      message: "The connection to service.test:443 was closed during the TLS handshake.",
    });
  });
});

describe("choosing a proxy", () => {
  const chosen = (env: Record<string, string>, url: string) => {
    const proxy = testNetwork(env).proxyFor(new URL(url));
    return proxy && `${proxy.variable}=${proxy.secure ? "https" : "http"}://${proxy.host}:${proxy.port}`;
  };

  test.each([
    [{}, "http://a.test/", undefined],
    [{ HTTP_PROXY: "http://p:1" }, "http://a.test/", "HTTP_PROXY=http://p:1"],
    [{ HTTP_PROXY: "http://p:1" }, "https://a.test/", undefined],
    [{ HTTPS_PROXY: "http://p:1" }, "http://a.test/", undefined],
    [{ HTTPS_PROXY: "http://p:1" }, "https://a.test/", "HTTPS_PROXY=http://p:1"],
    [{ HTTPS_PROXY: "http://p:1", https_proxy: "http://q:2" }, "https://a.test/", "https_proxy=http://q:2"],
    [{ HTTPS_PROXY: "http://p:1", https_proxy: "" }, "https://a.test/", "HTTPS_PROXY=http://p:1"],
    [{ ALL_PROXY: "http://p:1", HTTP_PROXY: "http://q:2" }, "http://a.test/", "HTTP_PROXY=http://q:2"],
    [{ ALL_PROXY: "http://p:1", all_proxy: "http://q:2" }, "http://a.test/", "all_proxy=http://q:2"],
    [{ HTTP_PROXY: "http://p:1", REQUEST_METHOD: "GET" }, "http://a.test/", undefined],
    [{ http_proxy: "http://p:1", REQUEST_METHOD: "GET" }, "http://a.test/", "http_proxy=http://p:1"],
    [{ HTTPS_PROXY: "http://p:1", REQUEST_METHOD: "GET" }, "https://a.test/", "HTTPS_PROXY=http://p:1"],
    [{ HTTP_PROXY: "p" }, "http://a.test/", "HTTP_PROXY=http://p:80"],
    [{ HTTP_PROXY: " user:pass@p:8080/ " }, "http://a.test/", "HTTP_PROXY=http://p:8080"],
    [{ HTTP_PROXY: "https://p" }, "http://a.test/", "HTTP_PROXY=https://p:443"],
    [{ HTTP_PROXY: "http://[::1]:3128" }, "http://a.test/", "HTTP_PROXY=http://::1:3128"],
  ])("%j, %s: %s", (env, url, expected) => {
    expect(chosen(env, url)).toBe(expected);
  });

  test.each([
    ["socks5://me:secret@p:1", 'ALL_PROXY has an unsupported proxy scheme "socks5". Supported: http, https.'],
    ["SOCKS4A://p", 'ALL_PROXY has an unsupported proxy scheme "socks4a". Supported: http, https.'],
    ["http://me:secret@", "ALL_PROXY is not a valid proxy address."],
    ["http://p:99999", "ALL_PROXY is not a valid proxy address."],
    ["http://me:secret%zz@p", "The user or password in ALL_PROXY has an invalid % sequence."],
  ])("%s fails every request that would use it", async (value, message) => {
    const network = testNetwork({ ALL_PROXY: value, NO_PROXY: "b.test" });
    for (const _ of [1, 2]) expect(await failureOf(ask("https://a.test/", network))).toEqual(proxyError(message));
    expect(network.proxyFor(new URL("https://b.test/"))).toBe(undefined);
  });

  test("never uses a proxy for this machine", () => {
    const hosts = ["localhost", "LOCALHOST.", "a.localhost", "127.0.0.1", "127.8.9.10", "2130706433", "[::1]"];
    const network = testNetwork({ ALL_PROXY: "http://p:1" });
    expect(hosts.map((host) => network.proxyFor(new URL(`http://${host}:1234/`)))).toEqual(hosts.map(() => undefined));
    const others = ["localhost.test", "127.0.0.1.test", "10.0.0.1", "[::2]", "0.0.0.0"];
    expect(others.filter((host) => network.proxyFor(new URL(`http://${host}/`)) === undefined)).toEqual([]);
  });

  test.each([
    ["a.test", ["http://a.test/", "https://A.TEST:8080/", "http://a.test./", "http://b.a.test/"], ["http://xa.test/"]],
    [".a.test", ["http://a.test/", "http://b.a.test/", "http://c.b.a.test/"], ["http://xa.test/", "http://a.test.x/"]],
    ["*.a.test", ["http://a.test/", "http://b.a.test/"], ["http://xa.test/"]],
    ["a.test:8080", ["http://a.test:8080/"], ["http://a.test/", "https://a.test/"]],
    ["a.test:443", ["https://a.test/"], ["http://a.test/"]],
    [".a.test:80", ["http://b.a.test/"], ["https://b.a.test/"]],
    ["*", ["http://a.test/", "https://10.1.2.3/"], []],
    ["x.test, A.Test.  y.test,,", ["http://x.test/", "http://a.test/", "http://y.test/"], ["http://z.test/"]],
    ["10.0.0.0/8", ["http://10.255.0.1/", "https://10.0.0.0:99/"], ["http://11.0.0.1/", "http://10.test/"]],
    ["192.168.1.7", ["http://192.168.1.7/"], ["http://192.168.1.70/"]],
    ["192.168.1.7:81", ["http://192.168.1.7:81/"], ["http://192.168.1.7/"]],
    ["fd00::/8", ["http://[fd12::1]/"], ["http://[fe80::1]/"]],
    ["2001:DB8:0::1", ["http://[2001:db8::1]/"], ["http://[2001:db8::2]/"]],
    ["[2001:db8::1]:81", ["http://[2001:db8::1]:81/"], ["http://[2001:db8::1]/"]],
    ["10.0.0.0/33,fd00::/129,/8,a/8,:80,.,*.,[", [], ["http://10.0.0.1/", "http://a/", "http://a.test/"]],
  ])("NO_PROXY=%s", (value, direct, proxied) => {
    for (const env of [{ NO_PROXY: value }, { no_proxy: value, NO_PROXY: "ignored.test" }]) {
      const network = testNetwork({ ALL_PROXY: "http://p:1", ...env });
      const isDirect = (url: string) => network.proxyFor(new URL(url)) === undefined;
      expect([...direct, ...proxied].filter(isDirect)).toEqual(direct);
    }
  });
});
