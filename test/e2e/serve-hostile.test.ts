import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { leaksIn, type Program, type SocketClient, startProgram, userOf } from "../fakes/ws/program.ts";
import { isFullRun } from "../full-run.ts";
import type { Bench } from "./tinman.ts";
import { createBench } from "./tinman.ts";

const mebibyte = 1024 * 1024;
const [ann, bob] = [userOf("ann", "user"), userOf("bob", "user")];
const connections = isFullRun ? 2_000 : 120;

let bench: Bench;
let program: Program;
let good: SocketClient;
let goodSession: unknown;
const seen: SocketClient[] = [];

beforeAll(async () => {
  bench = await createBench();
  await bench.script([
    { when: { user: "much" }, repeat_text: { text: "0123456789".repeat(1_000), times: 500 }, times: "any" },
    { when: { user: "slow" }, text: Array(200).fill("w "), chunk_delay_ms: 50, times: "any" },
    { text: "Well.", times: "any" },
  ]);
  program = await startProgram(bench, {
    model: "script:../script-1.json",
    auth: true,
    config: {
      serve: {
        users: [ann.entry, bob.entry],
        limits: { connections, connectionsPerUser: connections },
        timeouts: { stalled: "1s" },
      },
      interactive: { limits: { sessionsPerMinute: 120, messagesPerMinute: 3_000 } },
    },
  });
  good = await open(bob.token);
  goodSession = (await good.request("startSession", { userId: "good" })).result?.sessionId;
});

afterAll(async () => {
  program.kill("SIGTERM");
  expect(await program.exit).toEqual({ code: 0, signal: null });
  expect(seen.flatMap(({ frames }) => leaksIn(frames.slice(0, 500), bench.root))).toEqual([]);
  expect(program.log().filter(({ level }) => level === "error")).toEqual([]);
  await bench.remove();
}, 60_000);

async function open(token = ann.token): Promise<SocketClient> {
  const client = await program.connect({ token });
  seen.push(client);
  return client;
}

/** A well-behaved client is served as usual. */
async function isServed(): Promise<void> {
  const { result } = await good.request("sendUserMessage", { sessionId: goodSession, message: "hello" });
  const isEnd = ({ params }: SocketClient["frames"][number]): boolean =>
    params?.isFinal === true && params.messageId === result?.messageId;
  expect((await good.until(isEnd)).params?.reason).toBe("completed");
}

function rawFrame(opcode: number, payload: Buffer): Buffer {
  const head = Buffer.from([0x80 | opcode, 0x80 | payload.length, 0, 0, 0, 0]);
  return Buffer.concat([head, payload]);
}

/** The underlying socket, for what no client would send. */
function under({ socket }: SocketClient): Socket {
  return (socket as unknown as { readonly _socket: Socket })._socket;
}

test("frames that are binary, too large or not UTF-8 close only their own connection", async () => {
  const [binary, large, broken, reserved, unmasked] = await Promise.all(Array.from({ length: 5 }, () => open()));
  binary?.raw(Buffer.from("{}"));
  large?.raw("x".repeat(20 * mebibyte));
  if (broken !== undefined) under(broken).write(rawFrame(1, Buffer.from([0xff, 0xfe, 0xc0])));
  if (reserved !== undefined) under(reserved).write(rawFrame(7, Buffer.from("{}")));
  if (unmasked !== undefined) under(unmasked).write(Buffer.from([0x81, 2, 0x7b, 0x7d]));
  const codes = await Promise.all(
    [binary, large, broken, reserved, unmasked].map(async (one) => (await one?.closed)?.code),
  );
  expect(codes).toEqual([1003, expect.any(Number), 1007, 1002, 1002]);
  // The rest of an oversized frame can still be under way when the server closes.
  expect([1009, 1006]).toContain(codes[1]);
  await isServed();
});

test("incomplete and slow handshakes keep no other client out", async () => {
  const { port } = new URL(program.url);
  const half = Array.from({ length: 60 }, () => connect(Number(port), "127.0.0.1"));
  for (const socket of half) {
    socket.on("error", () => undefined);
    socket.write("GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websoc");
  }
  for (const letter of "ket\r\nConnection: Upgr") {
    for (const socket of half) socket.write(letter);
    await sleep(2);
  }
  await isServed();
  expect((await (await open()).request("echo", 1)).result).toBe(1);
  for (const socket of half) socket.destroy();
  await isServed();
});

test(`more than ${connections} connections: 503, and room again after some have left`, async () => {
  for (const client of seen) if (client !== good) client.socket.terminate();
  const many: SocketClient[] = [];
  let refused: unknown;
  while (refused === undefined && many.length <= connections + 200) {
    await open().then(
      (client) => many.push(client),
      (error: unknown) => {
        refused = error;
      },
    );
  }
  expect(String(refused)).toContain("503");
  expect(many.length).toBeLessThanOrEqual(connections);
  await isServed();
  for (const client of many) client.socket.terminate();
  for (let tries = 0; tries < 100; tries += 1) {
    const back = await open().catch(() => sleep(20));
    if (back !== undefined) break;
  }
  expect((await (await open()).request("echo", 2)).result).toBe(2);
});

test("disconnects a client that does not read; another listener gets the whole answer", async () => {
  const before = await program.memory();
  const [deaf, other] = [await open(), await open()];
  const sessions: unknown[] = [];
  for (let nth = 0; nth < 20; nth += 1) {
    const { sessionId } = (await deaf.request("startSession", { userId: "u" })).result ?? {};
    await other.request("resumeSession", { sessionId });
    sessions.push(sessionId);
  }
  under(deaf).pause();
  // The system's buffers hold several answers; only the excess waits in the server.
  for (const sessionId of sessions) {
    if (isCut()) break;
    await other.request("sendUserMessage", { sessionId, message: "much" });
    const { params } = await other.until((frame) => frame.params?.isFinal === true);
    expect([params?.reason, params?.offset]).toEqual(["completed", 5_000_000]);
  }
  while (!isCut()) await sleep(20);
  expect((await program.memory()) - before).toBeLessThan(200 * mebibyte);
  await isServed();
  deaf.socket.terminate();
});

function isCut(): boolean {
  return program
    .log()
    .some(({ event, reason }) => event === "connection.cut" && ["stalled", "unsent"].includes(String(reason)));
}

test("unread echoes of a mebibyte take no memory", async () => {
  const before = await program.memory();
  const deaf = await open();
  under(deaf).pause();
  const frame = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "echo", params: "x".repeat(mebibyte - 100) });
  for (let nth = 0; nth < 50 && deaf.socket.readyState === 1; nth += 1) {
    deaf.raw(frame);
    await sleep(1);
  }
  await isServed();
  expect((await program.memory()) - before).toBeLessThan(200 * mebibyte);
  deaf.socket.terminate();
});

test("floods of messages and sessions reach their limits, each with its reason, and others are unaffected", async () => {
  const client = await open();
  const { result } = await client.request("startSession", { userId: "u" });
  const { sessionId } = result ?? {};
  const sent = await Promise.all(
    Array.from({ length: 300 }, () => client.request("sendUserMessage", { sessionId, message: "slow" })),
  );
  const reasons = sent.map(({ error }) => error?.data?.reason ?? "taken");
  expect(new Set(reasons)).toEqual(new Set(["taken", "queue_full"]));
  expect(reasons.filter((reason) => reason === "taken")).toHaveLength(33);
  await isServed();
  expect((await client.request("cancel", { sessionId })).result).toEqual({ status: 1, cancelled: 33 });
  const begun = await Promise.all(Array.from({ length: 150 }, () => client.request("startSession", { userId: "u" })));
  const limited = begun.filter(({ error }) => error?.data?.reason === "rate_limited");
  expect(limited.length).toBeGreaterThan(10);
  expect(begun.filter(({ result: started }) => started?.status === 1).length + limited.length).toBe(150);
  await isServed();
  const ids = begun.flatMap(({ result: started }) => started?.sessionId ?? []);
  await Promise.all(ids.map((id) => client.request("stopSession", { sessionId: id })));
});

test("requesting a long history repeatedly: memory is bounded, others are served", async () => {
  // The other user has used up the limit per minute.
  const client = await open(bob.token);
  const sessionId = (await client.request("startSession", { userId: "u" })).result?.sessionId;
  await client.request("sendUserMessage", { sessionId, message: "much" });
  await client.until(({ params }) => params?.isFinal === true && params.sessionId === sessionId);
  const before = await program.memory();
  const many = await Promise.all(Array.from({ length: isFullRun ? 22 : 12 }, () => open(bob.token)));
  for (const one of many) {
    under(one).pause();
    for (let nth = 0; nth < 5; nth += 1) {
      one.raw(JSON.stringify({ jsonrpc: "2.0", id: nth, method: "resumeSession", params: { sessionId } }));
    }
  }
  await isServed();
  await sleep(300);
  expect((await program.memory()) - before).toBeLessThan((isFullRun ? 900 : 500) * mebibyte);
  await isServed();
  for (const one of many) one.socket.terminate();
});

test(`${isFullRun ? 100_000 : 3_000} garbage frames at full speed: each is answered`, {
  timeout: 120_000,
}, async () => {
  const count = isFullRun ? 100_000 : 3_000;
  const client = await open();
  const kinds = [
    "",
    "x",
    "[]",
    "5",
    '{"jsonrpc":"2.0","id":1}',
    "[".repeat(2_000),
    '{"jsonrpc":"2.0","id":1,"method":"nope"}',
  ];
  for (let nth = 0; nth < count; nth += 1) client.raw(kinds[nth % kinds.length] ?? "");
  await client.request("echo", "last");
  expect(client.frames).toHaveLength(count + 1);
  expect(new Set(client.frames.map(({ error }) => error?.code))).toEqual(new Set([-32700, -32600, -32601, undefined]));
  await isServed();
});
