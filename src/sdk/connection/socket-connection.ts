import { deferred, settlesWithin } from "../../async/promises.ts";
import { createLineReader, type Frame } from "../../rpc/framing.ts";
import { createGate, type Gate } from "../../rpc/gate.ts";
import type { LineWriter } from "../../rpc/line-writer.ts";
import { createLane } from "../../rpc/transport.ts";
import type { Connection } from "../api.ts";
import { watchIncoming } from "./watched-incoming.ts";

export interface WebSocketEvent {
  readonly type: string;
  /** Set on a message. */
  readonly data?: unknown;
  /** Set on an error, if it has details. */
  readonly message?: string;
  /** Set on a close. */
  readonly code?: number;
  readonly reason?: string;
}

type EventName = "open" | "message" | "error" | "close";

/** The used part of a socket: in browsers, in Node, and in the package `ws`. */
export interface WebSocketLike {
  readonly readyState: number;
  readonly bufferedAmount: number;
  binaryType: string;
  send(data: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: EventName, listener: (event: WebSocketEvent) => void): void;
  removeEventListener(type: EventName, listener: (event: WebSocketEvent) => void): void;
  /** Only `ws` has these three. */
  pause?(): void;
  resume?(): void;
  terminate?(): void;
}

export interface WebSocketBounds {
  /** Characters that can wait in either direction. */
  readonly maxWaiting: number;
  /** Longer lines are skipped and reported. */
  readonly maxLineBytes: number;
  /** How long the other side has to answer a close. */
  readonly patienceMs: number;
}

/** Values of a socket's `readyState`. */
export const states = { connecting: 0, open: 1, closing: 2 };
const normalClosure = 1000;
const pollMs = 20;

/** A connection over an open or opening socket. From now on, no message is missed. */
export function overSocket(
  socket: WebSocketLike,
  { maxWaiting, maxLineBytes, patienceMs }: WebSocketBounds,
): Connection {
  const lane = createLane(maxWaiting);
  const { incoming, over, giveUp } = watchIncoming(lane.frames);
  const outgoing = writeTo(socket, maxWaiting);
  let isPaused = false;
  let reason = "The connection was closed.";
  let closing: Promise<void> | undefined;
  const closed = deferred();

  // Only `ws` can pause. The interface of other sockets has no back-pressure, so unread messages queue here without
  // limit.
  function holdUp(): void {
    const room = lane.sender.room();
    if (room === undefined || isPaused || socket.pause === undefined || socket.resume === undefined) return;
    isPaused = true;
    socket.pause();
    void room.then(() => {
      isPaused = false;
      socket.resume?.();
    });
  }

  const listeners = {
    message({ data }: WebSocketEvent) {
      for (const frame of framesOf(data, maxLineBytes)) {
        if (frame.type === "line") lane.sender.send(frame.text);
        else lane.tooLong(frame.bytes);
      }
      holdUp();
    },
    // The close event follows. Without a listener, an error of `ws` would end the process.
    error() {},
    close(event: WebSocketEvent) {
      unlisten(socket, listeners);
      if (closing === undefined) reason = `The WebSocket has ended: ${closeOf(event)}.`;
      finish();
    },
  };

  function finish(): void {
    lane.sender.end();
    outgoing.giveUp();
    closed.resolve();
  }

  // Blobs could not be read before later messages.
  socket.binaryType = "arraybuffer";
  listen(socket, listeners);

  async function closeNow(): Promise<void> {
    lane.abandon();
    giveUp();
    const { readyState } = socket;
    socket.close(normalClosure);
    // Otherwise no peer to wait for.
    const hasOtherSide = readyState === states.open || readyState === states.closing;
    if (hasOtherSide && (await settlesWithin(patienceMs, closed.promise))) return;
    // Late events must find listeners.
    socket.terminate?.();
    finish();
  }

  return {
    incoming,
    gone: outgoing.gone,
    room: outgoing.room,
    drained: outgoing.drained,
    send(line) {
      if (closing === undefined) outgoing.send(line);
    },
    ended: Promise.all([over, closed.promise]).then(() => ({ reason })),
    close() {
      closing ??= closeNow();
      return closing;
    },
  };
}

/** A socket does not report what was sent, so it is polled while something waits. */
function writeTo(socket: WebSocketLike, maxWaiting: number): LineWriter & { giveUp(): void } {
  const gone = new AbortController();
  const roomAgain = createGate();
  const allSent = createGate();
  let timer: ReturnType<typeof setInterval> | undefined;

  function look(): void {
    if (socket.bufferedAmount <= maxWaiting) roomAgain.open();
    if (socket.bufferedAmount === 0) stop();
  }

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
    roomAgain.open();
    allSent.open();
  }

  function wait(gate: Gate): Promise<void> {
    timer ??= setInterval(look, pollMs);
    return gate.wait();
  }

  const waitsFor = (most: number): boolean => !gone.signal.aborted && socket.bufferedAmount > most;
  return {
    gone: gone.signal,
    send(line) {
      if (gone.signal.aborted) return;
      try {
        socket.send(line);
      } catch {
        // The close event follows.
      }
    },
    room: () => (waitsFor(maxWaiting) ? wait(roomAgain) : undefined),
    drained: () => (waitsFor(0) ? wait(allSent) : Promise.resolve()),
    giveUp() {
      gone.abort(Object.assign(new Error("the WebSocket is closed"), { code: "EPIPE" }));
      stop();
    },
  };
}

/** The lines of one message. */
function framesOf(data: unknown, maxLineBytes: number): Iterable<Frame> {
  const bytes = bytesIn(data);
  if (bytes === undefined) return framesOfText(String(data), maxLineBytes);
  const reader = createLineReader({ maxLineBytes });
  return [...reader.push(bytes), ...reader.end()];
}

function bytesIn(data: unknown): Uint8Array | undefined {
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  return ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : undefined;
}

/** As if read from a stream: without blank lines, byte order marks and carriage returns. */
function* framesOfText(text: string, maxLineBytes: number): Generator<Frame> {
  for (let start = 0; start < text.length; ) {
    // Fast path for blank lines.
    if (text[start] === "\n") {
      start++;
      continue;
    }
    const found = text.indexOf("\n", start);
    const end = found === -1 ? text.length : found;
    const mostBytes = 3 * (end - start);
    const bytes = mostBytes <= maxLineBytes ? mostBytes : byteLength(text, start, end);
    if (bytes > maxLineBytes) {
      yield { type: "too_long", bytes };
    } else {
      const line = text.slice(text[start] === "\uFEFF" ? start + 1 : start, text[end - 1] === "\r" ? end - 1 : end);
      if (line.trim() !== "") yield { type: "line", text: line };
    }
    start = end + 1;
  }
}

/** UTF-8 length without a copy, because the text is very long. */
function byteLength(text: string, start: number, end: number): number {
  let bytes = 0;
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x80) bytes += 1;
    // Each half of a surrogate pair counts as two of four bytes.
    else if (code < 0x800 || (code >= 0xd800 && code < 0xe000)) bytes += 2;
    else bytes += 3;
  }
  return bytes;
}

type Listeners = Partial<Record<EventName, (event: WebSocketEvent) => void>>;

export function listen(socket: WebSocketLike, listeners: Listeners): void {
  for (const [name, listener] of Object.entries(listeners)) socket.addEventListener(name as EventName, listener);
}

export function unlisten(socket: WebSocketLike, listeners: Listeners): void {
  for (const [name, listener] of Object.entries(listeners)) socket.removeEventListener(name as EventName, listener);
}

/** Why it was closed, to follow a colon. */
export function closeOf({ code, reason }: WebSocketEvent): string {
  return reason ? `it was closed with code ${code} (${reason})` : `it was closed with code ${code}`;
}
