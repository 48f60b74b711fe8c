import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setImmediate as nextRound, setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { createSession } from "../../../src/sdk/browser.ts";
import { webSocketConnection } from "../../../src/sdk/connection/web-socket.ts";
import { type Bench, createBench } from "../../e2e/tinman.ts";
import { held, heldBeyond, isAlive, nextLine, until } from "../fakes/stand-ins.ts";
import { bridgeWebSockets, type WebSocketBridge } from "../fakes/web-socket-bridge.ts";

/* Sockets of the package `ws`. Its types are checked wherever one is passed. */

const count = 32_000;
const numbered = (i: number): string => `${i} ${"x".repeat(1024)}`;

/** A server that sends to its one client as fast as possible, then closes. */
async function serveFlood() {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  let sent = 0;
  server.on("connection", async (socket) => {
    for (let i = 0; i < count && socket.readyState === WebSocket.OPEN; i++) {
      await new Promise<void>((done) => socket.send(numbered(i), () => done()));
      sent += 1;
    }
    socket.close(4001, "all sent");
  });
  await once(server, "listening");
  return {
    address: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    sent: () => sent,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

describe("a socket of ws", () => {
  it("is paused without a reader, and nothing is lost or reordered later", async () => {
    const before = held();
    const flood = await serveFlood();
    const socket = new WebSocket(flood.address);
    const connection = await webSocketConnection(socket, {}, { maxWaiting: 64 * 1024 })();
    await until(() => socket.isPaused);
    // Enough for the rest to arrive without back-pressure; the kernel's buffers hold some megabytes.
    await sleep(300);
    expect(flood.sent()).toBeLessThan(count / 2);
    for (let i = 0; i < count; i++) {
      // Compared in full, but not through `expect`, which would be slower than all the rest.
      if ((await nextLine(connection)) !== numbered(i)) expect.fail(`line ${i} is wrong`);
      if (i % 16 === 0) await nextRound();
    }
    expect([await nextLine(connection), await connection.ended, socket.readyState]).toEqual([
      undefined,
      { reason: "The WebSocket has ended: it was closed with code 4001 (all sent)." },
      WebSocket.CLOSED,
    ]);
    await flood.close();
    expect(await heldBeyond(before)).toEqual({});
  });

  it("is closed properly while it is paused", async () => {
    const before = held();
    const flood = await serveFlood();
    const made: WebSocket[] = [];
    class Remembered extends WebSocket {
      constructor(...args: ConstructorParameters<typeof WebSocket>) {
        super(...args);
        made.push(this);
      }
    }
    const connection = await webSocketConnection(flood.address, { WebSocket: Remembered }, { maxWaiting: 1024 })();
    const [socket] = made;
    await until(() => socket?.isPaused === true);
    await connection.close();
    expect([await nextLine(connection), await connection.ended, socket?.readyState]).toEqual([
      undefined,
      { reason: "The connection was closed." },
      WebSocket.CLOSED,
    ]);
    await flood.close();
    expect(await heldBeyond(before)).toEqual({});
  });

  it("reports why it could not be opened", async () => {
    const nobody = await serveFlood();
    await nobody.close();
    const connecting = webSocketConnection(nobody.address, { WebSocket })();
    await expect(connecting).rejects.toThrow(
      `The WebSocket ${nobody.address} could not be opened: connect ECONNREFUSED ${new URL(nobody.address).host}.`,
    );
  });
});

describe("the program behind a socket", () => {
  let bench: Bench;
  let bridge: WebSocketBridge;
  beforeAll(async () => {
    bench = await createBench();
    bridge = await bridgeWebSockets(bench);
  });
  afterAll(async () => {
    await bridge.close();
    await bench.remove();
  });
  const open = async (replies: readonly object[]) =>
    createSession({
      connect: webSocketConnection(bridge.address, { WebSocket }),
      cwd: bench.cwd,
      modelId: await bench.script(replies),
    });

  it("has a turn, and ends when the session is closed", async () => {
    const session = await open([{ text: ["Hello", " there."] }]);
    const shown: string[] = [];
    for await (const event of session.stream("hi")) if (event.type === "text") shown.push(event.text);
    expect(shown).toEqual(["Hello", " there."]);
    await session.close();
    const pid = bridge.pids.at(-1) ?? 0;
    await until(() => !isAlive(pid));
  });

  it.each<[how: string, end: (bridge: WebSocketBridge) => void, told: string]>([
    ["the program dies", (it) => it.killPrograms("SIGKILL"), "1011 (the program has ended (SIGKILL))"],
    ["the server has had enough", (it) => it.closeSockets(4100, "maintenance"), "4100 (maintenance)"],
  ])("settles every waiting call when %s", async (_how, end, told) => {
    const session = await open([{ text: "Wait", delay_ms: 60_000 }]);
    const turn = session.stream("go");
    const events = turn[Symbol.asyncIterator]();
    expect(await events.next()).toEqual({
      done: false,
      value: { type: "state", state: "streaming_assistant_message" },
    });
    end(bridge);
    const reason = `The WebSocket has ended: it was closed with code ${told}.`;
    const error = { name: "BackendGoneError", message: reason };
    await expect(turn.result).rejects.toMatchObject(error);
    await expect(session.models()).rejects.toMatchObject(error);
    await expect(session.send("again")).rejects.toMatchObject(error);
    expect(await session.ended).toEqual({ reason });
    const pid = bridge.pids.at(-1) ?? 0;
    await until(() => !isAlive(pid) && bridge.openCount === 0);
  });

  it("is gone with the bridge, whatever is running", async () => {
    const other = await bridgeWebSockets(bench);
    const session = await createSession({
      connect: webSocketConnection(other.address, { WebSocket }),
      cwd: bench.cwd,
      modelId: await bench.script([{ text: "Wait", delay_ms: 60_000 }]),
    });
    const result = session.send("go");
    const failure = expect(result).rejects.toMatchObject({ name: "BackendGoneError" });
    await other.close();
    await failure;
    expect([other.openCount, other.pids.map(isAlive)]).toEqual([0, [false]]);
  });
});
