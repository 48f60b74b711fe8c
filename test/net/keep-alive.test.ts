import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { bundleForChild } from "../fakes/bundle-for-child.ts";
import {
  ask,
  eventually,
  failureOf,
  fixture,
  httpServer,
  httpsServer,
  rawServer,
  tempFolder,
  testNetwork,
  textOf,
} from "./support.ts";
import { startProxy } from "./test-proxy.ts";

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

describe("a connection is reused", () => {
  test("after its body was read", async () => {
    const { port, connections } = await httpServer((incoming, response) => response.end(incoming.url));
    const network = testNetwork();
    const texts: string[] = [];
    for (const path of ["/1", "/2", "/3"])
      texts.push(await textOf(await ask(`http://127.0.0.1:${port}${path}`, network)));
    expect([texts, connections.length]).toEqual([["/1", "/2", "/3"], 1]);
  });

  test("after a response without a body, even unread", async () => {
    const { port, connections } = await httpServer((_incoming, response) => response.writeHead(204).end());
    const network = testNetwork();
    for (const method of ["GET", "HEAD", "GET"]) {
      await ask(`http://127.0.0.1:${port}/`, network, { method });
      const pool = network.pool();
      const idle = () => pool.hasIdle(`http: 127.0.0.1 ${port}  by `);
      expect(await eventually(idle)).toBe(true);
    }
    expect(connections.length).toBe(1);
  });

  test("along with others opened for concurrent requests", async () => {
    const { port, connections } = await httpServer((_incoming, response) => setTimeout(() => response.end("x"), 20));
    const network = testNetwork();
    const three = () => Promise.all([1, 2, 3].map(async () => textOf(await ask(`http://127.0.0.1:${port}/`, network))));
    expect([await three(), await three(), connections.length]).toEqual([["x", "x", "x"], ["x", "x", "x"], 3]);
  });

  test("if it becomes idle while another is opening, which is then closed", async () => {
    let openSecond = () => {};
    // Tunnels, because the test can delay their opening.
    const { port, connections } = await rawServer((socket, nth) => {
      socket.once("data", () => {
        const open = () => socket.write("HTTP/1.1 200 OK\r\n\r\n");
        if (nth === 1) open();
        else openSecond = open;
        socket.on("data", () => setImmediate(() => socket.write(ok)));
      });
    });
    const network = testNetwork({ HTTP_PROXY: `http://127.0.0.1:${port}` });
    const get = async () => textOf(await ask("http://service.test/", network, { address: "192.0.2.1" }));
    const [first, second] = [get(), get()];
    expect(await first).toBe("ok");
    expect(await eventually(() => connections.length === 2)).toBe(true);
    await textOf({ body: (await ask("http://service.test/", network, { address: "192.0.2.1" })).body });
    openSecond();
    expect(await second).toBe("ok");
    expect(await eventually(() => connections[1]?.destroyed === true)).toBe(true);
    expect(connections[0]?.destroyed).toBe(false);
  });

  test("but not for another pinned address or another network", async () => {
    const { port, connections } = await httpServer((_incoming, response) => response.end());
    const network = testNetwork();
    await textOf(await ask(`http://127.0.0.1:${port}/`, network));
    await textOf(await ask(`http://127.0.0.1:${port}/`, network, { address: "127.0.0.1" }));
    await textOf(await ask(`http://127.0.0.1:${port}/`, testNetwork()));
    expect(connections.length).toBe(3);
  });

  test("but not if the server sends Connection: close", async () => {
    const { port, connections } = await httpServer((_incoming, response) => {
      response.setHeader("Connection", "close").end("x");
    });
    const network = testNetwork();
    for (const _ of [1, 2]) await textOf(await ask(`http://127.0.0.1:${port}/`, network));
    expect(connections.length).toBe(2);
  });

  test("but closed if the reader leaves its loop early", async () => {
    let open = 0;
    const { port } = await httpServer((_incoming, response) => {
      open += 1;
      response.on("close", () => {
        open -= 1;
      });
      response.write("first");
    });
    const response = await ask(`http://127.0.0.1:${port}/`, testNetwork());
    for await (const _piece of response.body) break;
    expect(await eventually(() => open === 0)).toBe(true);
  });

  test("but closed by close(), which has no effect twice or after the end", async () => {
    const { port, connections } = await httpServer((incoming, response) => {
      if (incoming.url === "/whole") response.end("whole");
      else response.write("first");
    });
    const network = testNetwork();
    const response = await ask(`http://127.0.0.1:${port}/`, network);
    response.close();
    response.close();
    expect(await eventually(() => connections.every((socket) => socket.destroyed))).toBe(true);
    expect(await failureOf(textOf(response))).toMatchObject({ name: "AbortError", kind: "aborted" });
    const whole = await ask(`http://127.0.0.1:${port}/whole`, network);
    expect(await textOf(whole)).toBe("whole");
    whole.close();
    expect(await textOf(await ask(`http://127.0.0.1:${port}/whole`, network))).toBe("whole");
    expect(connections.length).toBe(2);
  });
});

describe("a stale connection", () => {
  /** Answers the first request of the first connection, then calls `second` for its second request. */
  async function hangsUp(second: (socket: import("node:net").Socket) => void) {
    const bodies: string[] = [];
    const server = await rawServer((socket, nth) => {
      let requests = 0;
      socket.on("data", (bytes) => {
        bodies.push(bytes.toString().split("\r\n\r\n")[1] ?? "");
        requests += 1;
        if (nth === 1 && requests === 2) second(socket);
        else socket.write(ok);
      });
    });
    return { ...server, bodies };
  }

  test.each([
    ["ended", (socket: import("node:net").Socket) => socket.end()],
    ["destroyed", (socket: import("node:net").Socket) => socket.destroy()],
    ["reset", (socket: import("node:net").Socket) => socket.resetAndDestroy()],
  ])("that was %s: the request is resent on a new one", async (_how, second) => {
    const { port, connections, bodies } = await hangsUp(second);
    const network = testNetwork();
    const post = async (body: string) =>
      textOf(await ask(`http://127.0.0.1:${port}/`, network, { method: "POST", body }));
    expect([await post("one"), await post("two"), connections.length, bodies]).toEqual([
      "ok",
      "ok",
      2,
      ["one", "two", "two"],
    ]);
  });

  test("makes other idle connections of the route unused", async () => {
    const waiting: (() => void)[] = [];
    const { port, connections } = await rawServer((socket, nth) => {
      let requests = 0;
      socket.on("data", () => {
        requests += 1;
        if (nth > 2) socket.write(ok);
        else if (requests === 1) waiting.push(() => socket.write(ok));
        else socket.destroy();
        if (waiting.length === 2) for (const answer of waiting.splice(0)) answer();
      });
    });
    const network = testNetwork();
    const get = async () => textOf(await ask(`http://127.0.0.1:${port}/`, network));
    expect([await Promise.all([get(), get()]), await get(), connections.length]).toEqual([["ok", "ok"], "ok", 3]);
  });

  test("fails without resending after a byte of the response", async () => {
    const { port, connections } = await hangsUp((socket) => socket.end("H"));
    const network = testNetwork();
    await textOf(await ask(`http://127.0.0.1:${port}/`, network));
    expect(await failureOf(ask(`http://127.0.0.1:${port}/`, network))).toEqual({
      name: "NetworkError",
      kind: "reset",
      message: `The connection to 127.0.0.1:${port} was closed before it answered.`,
    });
    expect(connections.length).toBe(1);
  });

  test("fails without resending after a while, as the server may have done billable work", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const { port, connections, bodies } = await hangsUp((socket) => {
      vi.advanceTimersByTime(1_000);
      socket.resetAndDestroy();
    });
    const network = testNetwork();
    const post = (body: string) => ask(`http://127.0.0.1:${port}/`, network, { method: "POST", body });
    await textOf(await post("one"));
    expect(await failureOf(post("two"))).toMatchObject({ kind: "reset" });
    expect([connections.length, bodies]).toEqual([1, ["one", "two"]]);
  });

  test("leads to only one resend", async () => {
    const { port, connections } = await rawServer((socket, nth) => {
      let requests = 0;
      socket.on("data", () => {
        requests += 1;
        if (nth === 1 && requests === 1) socket.write(ok);
        else socket.destroy();
      });
    });
    const network = testNetwork();
    await textOf(await ask(`http://127.0.0.1:${port}/`, network));
    expect(await failureOf(ask(`http://127.0.0.1:${port}/`, network))).toMatchObject({ kind: "reset" });
    expect(connections.length).toBe(2);
  });

  test("is handled the same over TLS", async () => {
    let requests = 0;
    const { port, connections } = await httpsServer("server.pem", (incoming, response) => {
      requests += 1;
      if (requests === 2) incoming.socket.destroy();
      else response.end("ok");
    });
    const network = testNetwork({}, { caFile: fixture("authority.pem") });
    const get = async () => textOf(await ask(`https://127.0.0.1:${port}/`, network));
    expect([await get(), await get(), requests, connections.length]).toEqual(["ok", "ok", 3, 2]);
  });
});

describe("the end of the process", () => {
  /** Runs a program that requests each address once, reads the responses, and leaves its connections open. */
  async function exitOf(env: Record<string, string>, ...args: string[]): Promise<unknown> {
    const program = await bundleForChild(join(import.meta.dirname, "exit-child.ts"), await tempFolder());
    const child = spawn(process.execPath, [program, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    child.stdout.on("data", (bytes) => {
      output += bytes;
    });
    child.stderr.on("data", (bytes) => {
      output += bytes;
    });
    const [code] = await once(child, "close");
    return { code, output };
  }

  test("does not wait for idle connections: plain, TLS, and TLS within a proxy's TLS", async () => {
    const plain = await httpServer((_incoming, response) => response.end("ok"));
    const secure = await httpsServer("server.pem", (_incoming, response) => response.end("ok"));
    const proxy = await startProxy({ secure: true, target: secure.port });
    const open = () => [plain, secure].flatMap(({ connections }) => connections).filter((socket) => !socket.destroyed);
    const env = { HTTPS_PROXY: `https://127.0.0.1:${proxy.port}`, CA_FILE: fixture("authority.pem") };
    const urls = [plain, secure].map(({ port }, i) => `http${i === 1 ? "s" : ""}://127.0.0.1:${port}/`);
    expect(await exitOf(env, ...urls, `https://service.test:${secure.port}/`)).toEqual({
      code: 0,
      output: "ok\nok\nok\nall read\n",
    });
    expect(await eventually(() => open().length === 0)).toBe(true);
  });

  test("waits for a pending response", async () => {
    const { port } = await httpServer((_incoming, response) => {
      response.write("slow");
      setTimeout(() => response.end(" but whole"), 300);
    });
    expect(await exitOf({}, `http://127.0.0.1:${port}/`)).toEqual({ code: 0, output: "slow but whole\nall read\n" });
  });
});
