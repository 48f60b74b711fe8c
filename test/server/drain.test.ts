import { expect, test } from "vitest";
import { bearer, closeOf, echoing, nextText, type Seen, serve, until, upgradeCode } from "./served.ts";

const stopping = { code: 1001, reason: "server is stopping" };

function held(): { readonly promise: Promise<void>; release(): void } {
  let release = (): void => {};
  const promise = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { promise, release: () => release() };
}

test("a stopping server finishes its work, rejects new clients, and says so", async () => {
  const served = await serve();
  const socket = await served.open();
  const closed = closeOf(socket);
  const idle = held();
  const drained = served.server.drain(idle.promise);
  const headers = bearer(served.token);
  expect(served.seen[0]?.calls).toEqual(["drain"]);
  const { code, body } = await served.ask("/readyz", { headers });
  expect([code, body]).toEqual([503, '{"status":"draining"}\n']);
  expect([(await served.ask("/healthz", { headers })).code, await upgradeCode(served, "/ws", headers)]).toEqual([
    200, 503,
  ]);
  socket.send("still served");
  expect(await nextText(socket)).toBe("still served");
  idle.release();
  expect(await closed).toEqual(stopping);
  await drained;
  expect(served.seen[0]?.calls.toSorted()).toEqual(["closed", "drain", "end"]);
  await expect(served.ask("/healthz", { headers })).rejects.toMatchObject({ code: "ECONNREFUSED" });
});

test("readyz is 200 before", async () => {
  const { ask, token } = await serve();
  const { code, body, headers } = await ask("/readyz", { headers: bearer(token) });
  expect([code, body, headers["content-type"]]).toEqual([200, '{"status":"ok"}\n', "application/json"]);
});

test("waits for work only up to the limit, and not for failed work", async () => {
  const slow = await serve({ timeouts: { pingMs: 60_000, stalledMs: 60_000, drainMs: 50 } });
  const closed = closeOf(await slow.open());
  await slow.server.drain(new Promise(() => {}));
  expect(await closed).toEqual(stopping);
  const failed = await serve();
  await failed.server.drain(Promise.reject(new Error("no")));
});

test("the last messages arrive before the end", async () => {
  const served = await serve();
  const socket = await served.open();
  const heard: number[] = [];
  socket.on("message", (data: Buffer) => void heard.push(data.length));
  const closed = closeOf(socket);
  for (let at = 0; at < 40; at += 1) served.seen[0]?.socket.transport.send("x".repeat(50_000 + at));
  await served.server.drain(Promise.resolve());
  expect(await closed).toEqual(stopping);
  expect(heard).toEqual(Array.from({ length: 40 }, (_, at) => 50_000 + at));
});

test("neither a client that does not answer the close nor endless requests delay the server", async () => {
  const served = await serve({ graceMs: 50 });
  const socket = await served.open();
  socket.pause();
  const half = served.tcp();
  half.write("POST /links HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n");
  const idle = served.tcp();
  await until(() => half.bytesWritten > 0 && !idle.connecting);
  await served.server.drain(Promise.resolve());
  expect(served.seen[0]?.calls).toContain("closed");
});

test("all handlers are released before the server has stopped", async () => {
  const seen: Seen[] = [];
  const letGo = held();
  const echo = echoing(seen);
  let isLeft = true;
  const served = await serve({
    mounted: {
      "/ws": (socket, identity) => ({
        ...echo(socket, identity),
        closed: async () => {
          await letGo.promise;
          isLeft = false;
        },
      }),
    },
  });
  await served.open();
  const drained = served.server.drain(Promise.resolve()).then(() => isLeft);
  setTimeout(letGo.release, 20);
  expect(await drained).toBe(false);
});

test("a handler that fails on stopping does not affect the others", async () => {
  const seen: Seen[] = [];
  const echo = echoing(seen);
  const served = await serve({
    mounted: {
      "/ws": (socket, identity) => {
        const connection = echo(socket, identity);
        if (seen.length > 1) return connection;
        const fail = (): never => {
          throw new Error("no");
        };
        return { drain: fail, closed: fail };
      },
    },
  });
  const closed = [closeOf(await served.open()), closeOf(await served.open())];
  await served.server.drain(Promise.resolve());
  expect(await Promise.all(closed)).toEqual([stopping, stopping]);
  expect(seen[1]?.calls.slice(0, 1)).toEqual(["drain"]);
});

test("stopping twice is stopping once; closing at once needs no draining", async () => {
  const served = await serve();
  const closed = closeOf(await served.open());
  await Promise.all([served.server.drain(Promise.resolve()), served.server.close(), served.server.close()]);
  expect(await closed).toEqual(stopping);
});
