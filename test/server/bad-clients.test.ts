import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { bearer, closeOf, nextText, type Served, serve, tokens, until, upgradeCode, usualLimits } from "./served.ts";

/** Whatever a client does, others are served. */

async function isUp(served: Served): Promise<boolean> {
  const socket = await served.open();
  socket.send("still there");
  return (await nextText(socket)) === "still there";
}

const count = async ({ ask, token }: Served, line: string): Promise<number> => {
  const { body } = await ask("/metrics", { headers: bearer(token) });
  const found = body.split("\n").find((one) => one.startsWith(`tinman_${line} `));
  return Number(found?.split(" ").at(-1) ?? 0);
};

test("text goes both ways, frame by frame, in order", async () => {
  const served = await serve();
  const socket = await served.open();
  const heard: string[] = [];
  socket.on("message", (data: Buffer, isBinary) => void heard.push(isBinary ? "binary" : data.toString()));
  const said = Array.from({ length: 5_000 }, (_, at) => `{"at":${at},"é":"\n${"x".repeat(at % 50)}"}`);
  for (const text of said) socket.send(text);
  await until(() => heard.length === said.length);
  expect(heard).toEqual(said);
});

test("a too large message closes with 1009, and is not read", async () => {
  const served = await serve();
  const fits = await served.open();
  fits.send("x".repeat(1024 * 1024));
  expect((await nextText(fits)).length).toBe(1024 * 1024);
  for (const size of [1024 * 1024 + 1, 20 * 1024 * 1024]) {
    const socket = await served.open();
    socket.on("error", () => {});
    const closed = closeOf(socket);
    socket.send("x".repeat(size));
    expect((await closed).code).toBe(1009);
  }
  expect(served.seen.slice(1).map(({ lines }) => lines)).toEqual([[], []]);
  expect(await isUp(served)).toBe(true);
});

test("a binary message closes with 1003", async () => {
  const served = await serve();
  const socket = await served.open();
  const closed = closeOf(socket);
  socket.send(Buffer.from("{}"));
  socket.send("after");
  expect(await closed).toEqual({ code: 1003, reason: "only text frames are supported" });
  expect([served.seen[0]?.lines, await isUp(served)]).toEqual([[], true]);
});

test("invalid UTF-8 closes with 1007", async () => {
  const served = await serve();
  const socket = await served.open();
  const closed = closeOf(socket);
  socket.send(Buffer.from([0xff, 0xfe]), { binary: false });
  expect((await closed).code).toBe(1007);
  expect(await isUp(served)).toBe(true);
});

test("a connection beyond the limit is 503, and there is room again after one has left", async () => {
  const served = await serve({ limits: { ...usualLimits, connections: 3 } });
  const sockets = [await served.open(), await served.open("/rpc"), await served.open()];
  expect(await upgradeCode(served, "/ws", bearer(served.token))).toBe(503);
  expect(await count(served, 'connections_refused_total{reason="limit"}')).toBe(1);
  sockets[0]?.close();
  await until(() => served.seen[0]?.calls.includes("closed") === true);
  expect(await upgradeCode(served, "/ws", bearer(served.token))).toBe(101);
});

test("one user cannot take all connections, whichever tokens and cookies they use", async () => {
  const served = await serve({ limits: { ...usualLimits, connections: 4, connectionsPerUser: 2 } });
  const [first] = [await served.open("/ws", { token: tokens.ann }), await served.open("/rpc", { token: tokens.ann })];
  const { body } = await served.ask("/links", { method: "POST", headers: bearer(tokens.ann) });
  const entered = await served.ask((JSON.parse(body) as { url: string }).url.replace(/^.*(?=\/enter)/, ""));
  const cookie = { Cookie: entered.headers["set-cookie"]?.[0]?.split(";")[0] ?? "" };
  const codes = [bearer(tokens.ann), cookie, bearer(tokens.vic)].map((headers) => upgradeCode(served, "/ws", headers));
  expect(await Promise.all(codes)).toEqual([503, 503, 101]);
  expect(await count(served, 'connections_refused_total{reason="user_limit"}')).toBe(2);
  const refused = served.log().filter(({ event }) => event === "connection.refused");
  expect(refused).toMatchObject([1, 2].map(() => ({ reason: "user_limit", user: "ann" })));
  first?.close();
  await until(() => served.seen[0]?.calls.includes("closed") === true);
  expect(await upgradeCode(served, "/ws", cookie)).toBe(101);
});

test("disconnects a client that does not answer pings, unless it sends anything", async () => {
  const served = await serve({ timeouts: { pingMs: 200, stalledMs: 60_000, drainMs: 1_000 } });
  const dead = await served.open("/ws", { autoPong: false });
  const closed = closeOf(dead);
  const talking = await served.open("/ws", { autoPong: false });
  const chatter = setInterval(() => talking.send("x"), 10);
  const pongs = await served.open();
  let pings = 0;
  pongs.on("ping", () => {
    pings += 1;
  });
  expect((await closed).code).toBe(1006);
  await until(() => pings >= 4);
  clearInterval(chatter);
  expect([talking.readyState, pongs.readyState, await count(served, 'connections_cut_total{reason="silent"}')]).toEqual(
    [1, 1, 1],
  );
  expect(served.log().filter(({ event }) => event === "connection.cut")).toMatchObject([
    { level: "warn", reason: "silent", user: "local" },
  ]);
  expect(served.seen.map(({ calls }) => calls.includes("closed"))).toEqual([true, false, false]);
});

test("a client whose messages are not taken in time is held up, not disconnected", async () => {
  const taken: string[] = [];
  let goOn = (): void => {};
  const free = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const served = await serve({
    timeouts: { pingMs: 30, stalledMs: 60_000, drainMs: 1_000 },
    mounted: {
      "/ws": ({ transport }) => {
        void free.then(async () => {
          for await (const frame of transport.incoming) if (frame.type === "line") taken.push(frame.text);
        });
        return { drain() {}, closed() {} };
      },
    },
  });
  const socket = await served.open();
  let unsentAtMost = 0;
  const text = "x".repeat(100_000);
  for (let at = 0; at < 300; at += 1) socket.send(`${at} ${text}`);
  for (let wait = 0; wait < 10; wait += 1) {
    await new Promise((resolve) => setTimeout(resolve, 30));
    unsentAtMost = socket.bufferedAmount;
  }
  // Its unread messages stayed with the client.
  expect([unsentAtMost > 10_000_000, socket.readyState]).toEqual([true, 1]);
  goOn();
  await until(() => taken.length === 300);
  expect(taken.map((line) => Number(line.split(" ")[0]))).toEqual(Array.from({ length: 300 }, (_, at) => at));
});

test("a client that does not read is disconnected before much is queued", async () => {
  const limits = { ...usualLimits, unsentBytes: 4 * 1024 * 1024 };
  const served = await serve({ limits });
  const socket = await served.open();
  socket.pause();
  const transport = served.seen[0]?.socket.transport;
  const line = "x".repeat(64 * 1024);
  let sent = 0;
  for (; transport?.gone.aborted === false && sent < 10_000; sent += 1) {
    transport.send(line);
    if (sent % 8 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  // Plus the system's own buffers.
  expect(sent).toBeLessThan(500);
  await until(() => served.seen[0]?.calls.includes("closed") === true);
  expect([await count(served, 'connections_cut_total{reason="unsent"}'), await isUp(served)]).toEqual([1, true]);
});

test("a waiting sender is released when the client reads nothing for too long", async () => {
  const served = await serve({ timeouts: { pingMs: 60_000, stalledMs: 100, drainMs: 1_000 } });
  const socket = await served.open();
  socket.pause();
  const transport = served.seen[0]?.socket.transport;
  const line = "x".repeat(64 * 1024);
  while (transport?.gone.aborted === false) {
    transport.send(line);
    await transport.room();
  }
  await until(() => served.seen[0]?.calls.includes("closed") === true);
  expect([await count(served, 'connections_cut_total{reason="stalled"}'), await isUp(served)]).toEqual([1, true]);
});

test("unread pongs do not pile up; a reading client gets them", async () => {
  const served = await serve();
  const listening = await served.open();
  const answered = new Promise<string>((resolve) => void listening.once("pong", (data) => resolve(data.toString())));
  listening.ping("are you there?");
  expect(await answered).toBe("are you there?");
  const socket = await served.open();
  socket.pause();
  const data = "x".repeat(125);
  for (let count = 0; count < 150_000; count += 1) socket.ping(data);
  await until(() => socket.bufferedAmount === 0);
  socket.send("all of them came");
  await until(() => served.seen[1]?.lines.length === 1);
  expect(served.seen[1]?.socket.transport.room()).toBeUndefined();
});

test("a slow reader gets everything", async () => {
  const served = await serve({ timeouts: { pingMs: 60_000, stalledMs: 5_000, drainMs: 1_000 } });
  const socket = await served.open();
  const transport = served.seen[0]?.socket.transport;
  const line = "x".repeat(64 * 1024);
  let bytes = 0;
  socket.on("message", (data: Buffer) => {
    bytes += data.length;
    socket.pause();
    setTimeout(() => socket.resume(), 5);
  });
  for (let at = 0; at < 160; at += 1) {
    transport?.send(line);
    await transport?.room();
  }
  await until(() => bytes === 160 * line.length || socket.readyState !== WebSocket.OPEN);
  expect([bytes, transport?.gone.aborted]).toEqual([160 * line.length, false]);
});

test("a failing handler affects only its own client, which does not learn why", async () => {
  const served = await serve({
    mounted: {
      "/ws": () => {
        throw new Error("secret detail");
      },
    },
  });
  const socket = await served.open();
  expect(await closeOf(socket)).toEqual({ code: 1011, reason: "internal error" });
  expect(served.log().filter(({ level }) => level === "error")).toMatchObject([{ reason: "secret detail" }]);
  expect(await count(served, 'connections{route="/ws"}')).toBe(0);
});
