import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import type { Connection } from "../../../src/sdk/api.ts";
import type { WebSocketBounds } from "../../../src/sdk/connection/socket-connection.ts";
import { webSocketConnection } from "../../../src/sdk/connection/web-socket.ts";
import { SdkError } from "../../../src/sdk/errors.ts";
import { bundleForChild } from "../../fakes/bundle-for-child.ts";
import { isDone, settled } from "../../rpc/held-sink.ts";
import { createFakeWebSocket, type FakeOptions, type FakeWebSocket } from "../fakes/fake-web-socket.ts";
import { held, heldBeyond, nextLine, wholeOf } from "../fakes/stand-ins.ts";
import { serveWebSockets } from "../fakes/web-socket-server.ts";

const closedByUs = { reason: "The connection was closed." };

async function opened(options: FakeOptions = {}, bounds: Partial<WebSocketBounds> = {}) {
  const socket = createFakeWebSocket(options);
  return { socket, connection: await webSocketConnection(socket, {}, bounds)() };
}

/** A socket constructor whose sockets the test can access. */
function socketClass(options: FakeOptions = {}) {
  const made: { readonly socket: FakeWebSocket; readonly args: readonly unknown[] }[] = [];
  function WebSocket(...args: readonly unknown[]): FakeWebSocket {
    const socket = createFakeWebSocket(options);
    made.push({ socket, args });
    return socket;
  }
  return { made, WebSocket: WebSocket as unknown as new () => FakeWebSocket };
}

async function failureOf(connecting: Promise<Connection>): Promise<unknown> {
  const error: unknown = await connecting.catch((reason: unknown) => reason);
  return error instanceof SdkError ? error.message : error;
}

describe("a connection over a WebSocket", () => {
  it("sends each line as a message, and splits each message into lines", async () => {
    const { socket, connection } = await opened();
    connection.send("one");
    connection.send("two");
    const bytes = new TextEncoder().encode("\uFEFFfive\nsix ü\r\n");
    for (const data of ["1", "2\r\n\n3\n", "", "\uFEFF4\u2028", bytes.buffer, bytes.subarray(8)]) {
      socket.happens("message", { data });
    }
    socket.happens("close", { code: 1001, reason: "going away" });
    expect({ sent: socket.sent, binaryType: socket.binaryType, ...(await wholeOf(connection)) }).toEqual({
      sent: ["one", "two"],
      binaryType: "arraybuffer",
      lines: ["1", "2", "3", "4\u2028", "five", "six ü", "six ü"],
      end: { reason: "The WebSocket has ended: it was closed with code 1001 (going away)." },
    });
  });

  it("reports a line that is too long, and reads the next one", async () => {
    const socket = createFakeWebSocket();
    const connection = await webSocketConnection(socket, { maxLineBytes: 6 })();
    const text = "123456\n1234567\nüüü\nüüüü\n😀é\n😀€\n€€\n1";
    socket.happens("message", { data: text });
    socket.happens("message", { data: new TextEncoder().encode(text) });
    socket.happens("close", { code: 1000 });
    const each = ["123456", "too_long: 7", "üüü", "too_long: 8", "😀é", "too_long: 7", "€€", "1"];
    expect((await wholeOf(connection)).lines).toEqual([...each, ...each]);
  });

  it("skips any number of blank lines without keeping them", async () => {
    const folder = await mkdtemp(join(tmpdir(), "tinman-blanks-"));
    try {
      const client = await bundleForChild(join(import.meta.dirname, "blank-lines-client.ts"), folder);
      const { stdout } = await promisify(execFile)(process.execPath, ["--max-old-space-size=150", client]);
      expect(stdout).toBe("text\nbytes\n");
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("ends for the reader after everything that came before", async () => {
    const { socket, connection } = await opened();
    socket.happens("message", { data: "last" });
    socket.happens("error");
    socket.happens("close", { code: 1006, reason: "" });
    expect(await isDone(connection.ended)).toBe(false);
    expect(connection.gone.aborted).toBe(true);
    connection.send("in vain");
    expect(await wholeOf(connection)).toEqual({
      lines: ["last"],
      end: { reason: "The WebSocket has ended: it was closed with code 1006." },
    });
    expect([socket.sent, socket.listenerCount()]).toEqual([[], 0]);
  });

  it("applies back-pressure where possible, until enough has been read", async () => {
    const { socket, connection } = await opened({ canPause: true }, { maxWaiting: 8 });
    socket.happens("message", { data: "12345678" });
    socket.happens("message", { data: "what was under way" });
    expect(socket.asked).toEqual(["pause"]);
    await nextLine(connection);
    await settled();
    expect(socket.asked).toEqual(["pause"]);
    await nextLine(connection);
    await settled();
    expect(socket.asked).toEqual(["pause", "resume"]);
    socket.happens("message", { data: "too much again" });
    expect(socket.asked).toEqual(["pause", "resume", "pause"]);
    await connection.close();
    expect(socket.asked).toEqual(["pause", "resume", "pause", "close 1000", "resume"]);
  });

  it("keeps everything where it is not", async () => {
    const { socket, connection } = await opened({}, { maxWaiting: 8 });
    for (let i = 0; i < 1000; i++) socket.happens("message", { data: String(i) });
    socket.happens("close", { code: 1000 });
    expect((await wholeOf(connection)).lines).toEqual(Array.from({ length: 1000 }, (_, i) => String(i)));
  });

  it("asks the sender to wait while the socket has too much to send", async () => {
    const before = held();
    const { socket, connection } = await opened({}, { maxWaiting: 100 });
    expect([connection.room(), await isDone(connection.drained())]).toEqual([undefined, true]);
    socket.bufferedAmount = 101;
    const waits = [connection.room(), connection.drained()];
    expect(await Promise.all(waits.map(isDone))).toEqual([false, false]);
    socket.bufferedAmount = 100;
    await waits[0];
    expect([connection.room(), await isDone(waits[1])]).toEqual([undefined, false]);
    socket.bufferedAmount = 0;
    await waits[1];
    expect(await heldBeyond(before)).toEqual({});
  });

  it("releases a sender when the socket closes with unsent data", async () => {
    const before = held();
    const { socket, connection } = await opened({}, { maxWaiting: 100 });
    socket.bufferedAmount = 1000;
    const waits = [connection.room(), connection.drained()];
    socket.happens("close", { code: 1006 });
    expect(await Promise.all(waits.map(isDone))).toEqual([true, true]);
    expect([connection.room(), await isDone(connection.drained())]).toEqual([undefined, true]);
    expect(connection.gone.reason).toMatchObject({ code: "EPIPE" });
    expect(await heldBeyond(before)).toEqual({});
  });

  it("accepts lines while the socket is closing", async () => {
    const { socket, connection } = await opened({ answersClose: false });
    socket.close();
    connection.send("in vain");
    expect(socket.sent).toEqual([]);
  });
});

describe("opening", () => {
  it("accepts an address, subprotocols and a class of sockets, any number of times", async () => {
    const { made, WebSocket } = socketClass();
    const address = new URL("wss://host.test/path");
    await webSocketConnection("ws://host.test", { WebSocket })();
    await webSocketConnection(address, { WebSocket, protocols: "a" })();
    const connect = webSocketConnection(address, { WebSocket, protocols: ["a", "b"] });
    await connect();
    await connect();
    expect(made.map(({ args }) => args)).toEqual([
      ["ws://host.test", undefined],
      [address, "a"],
      [address, ["a", "b"]],
      [address, ["a", "b"]],
    ]);
  });

  it("waits until the socket is open, and loses nothing that comes with it", async () => {
    const socket = createFakeWebSocket({ isOpen: false });
    const connecting = webSocketConnection(socket)();
    expect(await isDone(connecting)).toBe(false);
    socket.happens("open");
    socket.happens("message", { data: "welcome" });
    expect(await nextLine(await connecting)).toBe("welcome");
  });

  it.each<[string, readonly [Parameters<FakeWebSocket["happens"]>, string]]>([
    ["with its words", [["error", { message: "connect ECONNREFUSED" }], "connect ECONNREFUSED"]],
    ["without words", [["error"], "the connection failed"]],
    ["by being closed", [["close", { code: 1013, reason: "" }], "it was closed with code 1013"]],
  ])("fails %s, without showing secrets", async (_, [event, told]) => {
    const { made, WebSocket } = socketClass({ isOpen: false });
    const connecting = webSocketConnection("ws://me:password@host.test:81/path?token=secret", { WebSocket })();
    const failure = failureOf(connecting);
    made[0]?.socket.happens(...event);
    expect(await failure).toBe(`The WebSocket ws://host.test:81/path could not be opened: ${told}.`);
    await settled();
    expect(made[0]?.socket.listenerCount()).toBe(0);
  });

  it("fails at once if a page must not connect: the socket is closed from the start, without an event", async () => {
    function WebSocket(): FakeWebSocket {
      const socket = createFakeWebSocket({ answersClose: false });
      socket.happens("close");
      return socket;
    }
    const patience = { patienceMs: 2 ** 31 - 1 };
    const given = { WebSocket: WebSocket as unknown as new () => FakeWebSocket };
    expect(await failureOf(webSocketConnection("ws://host.test/", given, patience)())).toBe(
      "The WebSocket ws://host.test/ could not be opened: the connection failed.",
    );
  });

  it("fails for an invalid address", async () => {
    function WebSocket(): never {
      throw new SyntaxError("Invalid URL");
    }
    const connect = webSocketConnection("nowhere", { WebSocket: WebSocket as unknown as new () => FakeWebSocket });
    expect(await failureOf(connect())).toBe("The WebSocket could not be opened: Invalid URL.");
  });

  it("fails without a WebSocket", async () => {
    const global = globalThis as { WebSocket?: unknown };
    const own = Object.getOwnPropertyDescriptor(global, "WebSocket");
    delete global.WebSocket;
    const failure = await failureOf(webSocketConnection("ws://host.test")());
    if (own !== undefined) Object.defineProperty(global, "WebSocket", own);
    expect(failure).toBe("No global WebSocket. Pass one as the option WebSocket, for example from the package ws.");
  });

  it("uses the global WebSocket", async () => {
    const global = globalThis as { WebSocket?: unknown };
    const own = Object.getOwnPropertyDescriptor(global, "WebSocket");
    const { made, WebSocket } = socketClass();
    Object.defineProperty(global, "WebSocket", { value: WebSocket, configurable: true });
    await webSocketConnection("ws://host.test")();
    delete global.WebSocket;
    if (own !== undefined) Object.defineProperty(global, "WebSocket", own);
    expect(made.length).toBe(1);
  });

  it("fails with a used or closed socket", async () => {
    const socket = createFakeWebSocket();
    const connect = webSocketConnection(socket);
    await connect();
    socket.happens("close", { code: 1000 });
    expect([await failureOf(connect()), await failureOf(webSocketConnection(socket)())]).toEqual([
      "The WebSocket is already in use. To connect again, pass an address.",
      "The WebSocket is already closed.",
    ]);
  });

  it("does not begin if it was abandoned before", async () => {
    const { made, WebSocket } = socketClass();
    const reason = new Error("changed my mind");
    await expect(webSocketConnection("ws://x", { WebSocket })(AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(made).toEqual([]);
  });

  it("is abandoned with the signal's reason, and closes the socket, which need not answer", async () => {
    const { made, WebSocket } = socketClass({ isOpen: false, answersClose: false });
    const reason = new Error("changed my mind");
    const giveUp = new AbortController();
    const connecting = webSocketConnection("ws://x", { WebSocket })(giveUp.signal);
    giveUp.abort(reason);
    await expect(connecting).rejects.toBe(reason);
    expect(made[0]?.socket.asked).toEqual(["close 1000"]);
    made[0]?.socket.happens("error", { message: "closed before it was open" });
    made[0]?.socket.happens("close", { code: 1006 });
    expect(made[0]?.socket.listenerCount()).toBe(0);
  });

  it("is abandoned if the other side does not answer in time", async () => {
    const { made, WebSocket } = socketClass({ isOpen: false, answersClose: false });
    const silent = webSocketConnection("ws://host.test/a?key=k", { WebSocket, openMs: 5 });
    expect(await failureOf(silent())).toBe(
      "The WebSocket ws://host.test/a could not be opened: it did not answer within 5 ms.",
    );
    expect(made[0]?.socket.asked).toEqual(["close 1000"]);
  });

  it.each([0, Infinity])("has no limit with a time of %d", async (openMs) => {
    const { made, WebSocket } = socketClass({ isOpen: false });
    const connecting = webSocketConnection("ws://x", { WebSocket, openMs })();
    await sleep(5);
    made[0]?.socket.happens("open");
    expect((await connecting).gone.aborted).toBe(false);
  });

  it("cannot be abandoned afterwards", async () => {
    const giveUp = new AbortController();
    const socket = createFakeWebSocket();
    await webSocketConnection(socket)(giveUp.signal);
    giveUp.abort();
    expect(socket.asked).toEqual([]);
  });
});

describe("closing", () => {
  it("closes the socket once, ends for the reader, and sends nothing more", async () => {
    const { socket, connection } = await opened();
    socket.happens("message", { data: "unread" });
    const closing = [connection.close(), connection.close()];
    connection.send("too late");
    socket.happens("message", { data: "too late" });
    await Promise.all(closing);
    await connection.close();
    expect([await wholeOf(connection), socket.asked, socket.sent, socket.listenerCount()]).toEqual([
      { lines: [], end: closedByUs },
      ["close 1000"],
      [],
      0,
    ]);
  });

  it("is done at once if the socket has already closed", async () => {
    const { socket, connection } = await opened();
    socket.happens("close", { code: 4000, reason: "enough" });
    await connection.close();
    expect(await connection.ended).toEqual({
      reason: "The WebSocket has ended: it was closed with code 4000 (enough).",
    });
  });

  it("does not wait forever for the other side, nor fail if it answers later", async () => {
    const before = held();
    const { socket, connection } = await opened({ answersClose: false, canPause: true }, { patienceMs: 20 });
    await connection.close();
    expect([await connection.ended, socket.asked]).toEqual([closedByUs, ["close 1000", "terminate"]]);
    socket.happens("error", { message: "late" });
    socket.happens("close", { code: 1006 });
    expect(socket.listenerCount()).toBe(0);
    expect(await heldBeyond(before)).toEqual({});
  });
});

it("works with a real socket, and lets the program end", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tinman-web-socket-"));
  const server = await serveWebSockets((text, socket) => {
    if (text === "hello") socket.sendText("two\nlines");
    else if (text === "bye") socket.close(4001, "done");
    else socket.sendBinary(Buffer.from(`${text.length}\n${text}`));
  });
  // A port without a listener.
  const nobody = await serveWebSockets(() => {});
  await nobody.close();
  try {
    const client = await bundleForChild(join(import.meta.dirname, "web-socket-client.ts"), folder);
    const args = ["--no-warnings", "--experimental-websocket", client, server.address, nobody.address];
    const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 10_000_000 });
    expect(JSON.parse(stdout)).toEqual({
      told: {
        lines: ["two", "lines", "3000000", "x".repeat(3_000_000)],
        end: { reason: "The WebSocket has ended: it was closed with code 4001 (done)." },
        isGone: true,
      },
      closed: closedByUs,
      refused: expect.stringMatching(`^SdkError: The WebSocket ${nobody.address} could not be opened: `),
      givenUp: "changed my mind",
    });
  } finally {
    await server.close();
    await rm(folder, { recursive: true });
  }
});
