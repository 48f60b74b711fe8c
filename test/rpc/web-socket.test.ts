import { afterEach, describe, expect, it, vi } from "vitest";
import { serveWebSocket } from "../../src/rpc/web-socket.ts";
import { createFakeOpenSocket } from "./fake-open-socket.ts";
import { isDone, settled } from "./held-sink.ts";

function serve(options: Partial<Parameters<typeof serveWebSocket>[1]> = {}) {
  const socket = createFakeOpenSocket();
  const cuts: string[] = [];
  const served = serveWebSocket(socket, {
    unsentBytes: 1_000,
    stalledMs: 10_000,
    maxWaiting: 100,
    onCutOff: (why) => void cuts.push(why),
    ...options,
  });
  const iterator = served.transport.incoming[Symbol.asyncIterator]();
  const take = async (): Promise<string> => {
    const { done, value } = await iterator.next();
    if (done === true) return "(end)";
    return value.type === "line" ? value.text : value.type;
  };
  return { socket, cuts, take, ...served };
}

afterEach(() => void vi.useRealTimers());

describe("receiving", () => {
  it("yields one line per text frame, whatever its content", async () => {
    const { socket, take } = serve();
    const first = take();
    await settled();
    for (const text of ["one", "", "two\nlines", "\ufeffthree"]) socket.comes(text);
    expect([await first, await take(), await take(), await take()]).toEqual(["one", "", "two\nlines", "\ufeffthree"]);
  });

  it("yields queued frames after the peer closes, then ends", async () => {
    const { socket, take, transport } = serve();
    socket.comes("last words");
    socket.closes();
    expect([await take(), await take(), await take()]).toEqual(["last words", "(end)", "(end)"]);
    expect(transport.gone.reason).toMatchObject({ code: "EPIPE" });
  });

  it("pauses while too many frames are queued, until all are taken", async () => {
    const { socket, take, isHeldUp } = serve({ maxFrames: 2 });
    for (const text of ["a", "b"]) socket.comes(text);
    expect(socket.calls).toEqual([]);
    for (const text of ["c", "d"]) socket.comes(text);
    expect([socket.calls, isHeldUp()]).toEqual([["pause"], true]);
    for (const _ of "abc") await take();
    expect(socket.calls).toEqual(["pause"]);
    expect(await take()).toBe("d");
    expect(socket.calls).toEqual(["pause"]);
    await settled();
    expect([socket.calls, isHeldUp()]).toEqual([["pause", "resume"], false]);
  });

  it("pauses while too much text is queued", async () => {
    const { socket, take } = serve({ maxText: 5 });
    socket.comes("12345");
    expect(socket.calls).toEqual([]);
    socket.comes("6");
    expect(socket.calls).toEqual(["pause"]);
    await take();
    await take();
    await settled();
    expect(socket.calls).toEqual(["pause", "resume"]);
  });

  it("pauses regularly even if frames are taken as fast as they arrive", async () => {
    const { socket, take } = serve({ maxFrames: 2 });
    for (const text of ["a", "b", "c"]) {
      expect(socket.calls).toEqual([]);
      socket.comes(text);
      expect(await take()).toBe(text);
    }
    expect(socket.calls).toEqual(["pause"]);
    await settled();
    expect(socket.calls).toEqual(["pause", "resume"]);
    for (const text of ["d", "e"]) socket.comes(text);
    expect(socket.calls).toEqual(["pause", "resume"]);
  });

  it("closes the socket at a binary frame and drops later frames", async () => {
    const { socket, take } = serve();
    socket.comes("before");
    socket.comes("bytes", true);
    socket.comes("after");
    expect(socket.calls).toEqual(["close 1003 only text frames are supported"]);
    expect(await take()).toBe("(end)");
  });

  it("ends when the socket is closed, and resumes a paused socket so that it can finish", async () => {
    const { socket, take, close } = serve({ maxFrames: 1 });
    socket.comes("a");
    socket.comes("b");
    close(1008, "token revoked");
    socket.comes("c");
    expect(socket.calls).toEqual(["pause", "resume", "close 1008 token revoked"]);
    expect(await take()).toBe("(end)");
  });
});

describe("sending", () => {
  it("sends one frame per line, in order, with back-pressure when too much is unsent", async () => {
    const { socket, transport } = serve();
    transport.send("a".repeat(60));
    transport.send("b".repeat(40));
    expect(transport.room()).toBeUndefined();
    transport.send("c");
    const room = transport.room();
    const drained = transport.drained();
    expect([await isDone(room), await isDone(drained)]).toEqual([false, false]);
    expect(socket.held.map((text) => text[0])).toEqual(["a", "b", "c"]);
    socket.leave();
    expect([await isDone(room), await isDone(drained), transport.room()]).toEqual([true, false, undefined]);
    socket.leave();
    socket.leave();
    expect(await isDone(drained)).toBe(true);
    expect(await isDone(transport.drained())).toBe(true);
  });

  it("passes frames to the socket in small portions, in order", () => {
    const { socket, transport } = serve({ unsentBytes: 1e9, maxWaiting: 1e8 });
    const frames = Array.from({ length: 300 }, (_, at) => `${at}`.padEnd(1024, "."));
    const seen: string[] = [];
    for (const frame of frames) transport.send(frame);
    expect(socket.held.length).toBe(128);
    for (let at = 0; at < 300; at += 1) {
      expect(socket.held.length).toBeLessThanOrEqual(128);
      seen.push(socket.held[0] ?? "");
      socket.leave();
    }
    expect(seen).toEqual(frames);
  });

  it("sends long text in consecutive fragments", () => {
    const { socket, transport, cuts } = serve({ maxWaiting: 1e8 });
    const long = `${"😀".repeat(300_000)}!`;
    transport.send(long);
    transport.send("behind");
    expect(socket.held.length).toBe(1);
    while (socket.held.length > 0) {
      expect(socket.held.every((text) => text.isWellFormed() && text.length <= 128 * 1024)).toBe(true);
      socket.leave();
    }
    expect([cuts, socket.messages.map((text) => text === long || text)]).toEqual([[], [true, "behind"]]);
  });

  it("sends queued lines before a close, and none after it", () => {
    const { socket, transport, close } = serve({ unsentBytes: 1e9 });
    for (const letter of "abc") transport.send(letter.repeat(100 * 1024));
    expect(socket.held.length).toBe(2);
    close(1001, "server is stopping");
    transport.send("d");
    close(1000, "again");
    expect([socket.held.map((text) => text[0]), socket.calls]).toEqual([
      ["a", "b", "c"],
      ["close 1001 server is stopping"],
    ]);
  });

  it("drops lines when the peer is closing or gone, and releases waiting callers", async () => {
    const { socket, transport } = serve();
    transport.send("a".repeat(200));
    const waits = [transport.room(), transport.drained()];
    socket.readyState = 2;
    transport.send("b");
    expect(socket.held.length).toBe(1);
    socket.fails();
    socket.leave(new Error("write EPIPE"));
    socket.closes();
    await Promise.all(waits);
    transport.send("c");
    expect([transport.gone.aborted, socket.held, transport.room()]).toEqual([true, [], undefined]);
    await transport.drained();
  });
});

describe("a client that does not read", () => {
  it("is disconnected when too much is unsent", async () => {
    const { socket, transport, cuts, take } = serve();
    socket.comes("a request");
    transport.send("a".repeat(1_000));
    expect(socket.calls).toEqual([]);
    transport.send("b");
    transport.send("c");
    expect([socket.calls, cuts, transport.gone.aborted]).toEqual([["terminate"], ["unsent"], true]);
    expect(await take()).toBe("(end)");
  });

  it("is disconnected after too long without progress", async () => {
    vi.useFakeTimers();
    const { socket, transport, cuts } = serve();
    for (let count = 0; count < 30; count += 1) transport.send("x".repeat(10));
    const room = transport.room();
    vi.advanceTimersByTime(9_000);
    socket.leave();
    vi.advanceTimersByTime(9_000);
    expect(cuts).toEqual([]);
    vi.advanceTimersByTime(1_001);
    expect([cuts, socket.calls]).toEqual([["stalled"], ["terminate"]]);
    await room;
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is disconnected for data queued behind a frame, not for the frame's own size", () => {
    const { socket, transport, cuts } = serve({ unsentBytes: 200_000 });
    transport.send("a".repeat(20_000_000));
    transport.send("b".repeat(150_000));
    expect(cuts).toEqual([]);
    transport.send("c".repeat(60_000));
    expect([cuts, socket.calls]).toEqual([["unsent"], ["terminate"]]);
  });

  it("stays connected while a large frame makes progress", async () => {
    vi.useFakeTimers();
    const { socket, transport, cuts } = serve();
    transport.send("a".repeat(2_000_000));
    const room = transport.room();
    while (socket.held.length > 0) {
      vi.advanceTimersByTime(9_999);
      socket.leave();
    }
    await room;
    expect([cuts, socket.messages.map(({ length }) => length), vi.getTimerCount()]).toEqual([[], [2_000_000], 0]);
  });

  it("stays connected while it reads anything", () => {
    vi.useFakeTimers();
    const { socket, transport, cuts } = serve();
    for (let count = 0; count < 60; count += 1) {
      while (transport.room() === undefined) transport.send("x".repeat(10));
      socket.leave();
      vi.advanceTimersByTime(9_999);
    }
    expect(cuts).toEqual([]);
  });

  it("needs no timer while it keeps up", () => {
    vi.useFakeTimers();
    const { socket, transport } = serve();
    transport.send("x".repeat(100));
    expect(vi.getTimerCount()).toBe(0);
    transport.send("x");
    expect(vi.getTimerCount()).toBe(1);
    socket.leave();
    expect(vi.getTimerCount()).toBe(0);
  });
});

it("counts frames received and sent as signs of life", () => {
  const { socket, transport, signsOfLife } = serve();
  transport.send("a");
  expect(signsOfLife()).toBe(0);
  socket.leave();
  expect(signsOfLife()).toBe(1);
  socket.comes("b");
  expect(signsOfLife()).toBe(2);
});
