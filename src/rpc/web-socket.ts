import { endsInHalf } from "../text/text-cut.ts";
import type { Frame } from "./framing.ts";
import { createGate } from "./gate.ts";
import { createQueue } from "./queue.ts";
import type { Transport } from "./transport.ts";
import { defaultMaxWaiting } from "./transport.ts";

/** The part that we use of an open socket from the package `ws`. */
export interface OpenWebSocket {
  readonly readyState: number;
  /** Bytes passed to `send` that are still in this process. */
  readonly bufferedAmount: number;
  send(text: string, left: (error?: Error | null) => void): void;
  /** `fin: false`: a fragment; the message continues with the next call. */
  send(text: string, options: { readonly fin: boolean }, left: (error?: Error | null) => void): void;
  close(code: number, reason: string): void;
  terminate(): void;
  pause(): void;
  resume(): void;
  on(event: "message", listener: (data: unknown, isBinary: boolean) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "close", listener: (code: number, reason: unknown) => void): unknown;
}

/** One client's connection. */
export interface ServedSocket {
  /** Each text frame is a line, in both directions. A binary frame closes the socket with 1003. */
  readonly transport: Transport;
  /** Sends queued lines, then closes. Reads no more. No effect on a closed socket. */
  close(code: number, reason: string): void;
}

/** Why a client was disconnected: it read nothing for too long, or too much was queued for it. */
export type CutOff = "stalled" | "unsent";

interface ServedSocketOptions {
  /** Limit for the data queued behind the frame being sent, whatever that frame's size. Text not yet passed to the socket counts
   * by its length. */
  readonly unsentBytes: number;
  /** Milliseconds that can pass without progress while more than `maxWaiting` is unsent. */
  readonly stalledMs: number;
  /** Unsent amount above which `room` asks the sender to wait. */
  readonly maxWaiting?: number;
  /** Unread frames above which reading pauses. */
  readonly maxFrames?: number;
  /** Unread characters above which reading pauses. */
  readonly maxText?: number;
  /** Called before each frame is passed to the socket, so that frames of one tick can be batched. */
  beforeSend?(): void;
  /** Called once, when the client is disconnected for one of these reasons. */
  onCutOff?(why: CutOff): void;
}

/** A socket with what its server needs to monitor it. */
export interface WatchedSocket extends ServedSocket {
  /** Number of frames received and sent. The client is alive while it grows. */
  signsOfLife(): number;
  /** Whether reading is paused, so that pongs go unnoticed. */
  isHeldUp(): boolean;
}

const unsupportedData = 1003;
const isOpen = 1;

/** Limit for the data that the socket holds. It reports progress per write, so after a large write a slow client would look stalled. */
const maxHanded = 128 * 1024;
/** Longer texts are sent in fragments, each of which counts as progress. */
const maxFragment = 128 * 1024;

/** A long text being sent, and how much of it was passed to the socket. */
interface Fragmented {
  readonly text: string;
  handed: number;
}

export function serveWebSocket(
  socket: OpenWebSocket,
  {
    unsentBytes,
    stalledMs,
    maxWaiting = defaultMaxWaiting,
    maxFrames,
    maxText,
    beforeSend,
    onCutOff,
  }: ServedSocketOptions,
): WatchedSocket {
  const gone = new AbortController();
  const roomAgain = createGate();
  const allLeft = createGate();
  const incoming = readFrames(socket, { maxFrames: maxFrames ?? 64, maxText: maxText ?? 4 * 1024 * 1024 });
  const waiting = createQueue<string>();
  /** Total length of `waiting`. */
  let waitingLength = 0;
  let fragmented: Fragmented | undefined;
  let framesHanded = 0;
  let framesLeft = 0;
  /** Number of the last fragment passed on. Until it has been sent, a long text is in progress. */
  let lastFragment = 0;
  let lastLeft = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;

  const behind = (): number => waitingLength + (framesLeft < lastFragment ? 0 : socket.bufferedAmount);
  const unsent = (): number =>
    waitingLength + socket.bufferedAmount + (fragmented === undefined ? 0 : fragmented.text.length - fragmented.handed);

  function handOver(all = false): void {
    while (all || socket.bufferedAmount < maxHanded) {
      if (fragmented !== undefined) {
        handFragment(fragmented);
        continue;
      }
      const text = waiting.shift();
      if (text === undefined) return;
      waitingLength -= text.length;
      hand(text);
    }
  }

  function hand(text: string): void {
    if (text.length > maxFragment) {
      fragmented = { text, handed: 0 };
      handFragment(fragmented);
      return;
    }
    beforeSend?.();
    framesHanded += 1;
    socket.send(text, left);
  }

  function handFragment(whole: Fragmented): void {
    const { text, handed } = whole;
    const end = cutBefore(text, handed + maxFragment);
    whole.handed = end;
    const fin = end === text.length;
    if (fin) fragmented = undefined;
    beforeSend?.();
    framesHanded += 1;
    lastFragment = framesHanded;
    socket.send(text.slice(handed, end), { fin }, left);
  }

  /** Shared by all frames: a closure per frame would cost more than the frame itself. */
  function left(error?: Error | null): void {
    // The close event follows.
    if (error || gone.signal.aborted) return;
    framesLeft += 1;
    if (timer !== undefined) lastLeft = performance.now();
    handOver();
    if (unsent() <= maxWaiting) keepsUp();
    if (unsent() === 0) allLeft.open();
  }

  function keepsUp(): void {
    clearTimeout(timer);
    timer = undefined;
    roomAgain.open();
  }

  function watch(): void {
    lastLeft = performance.now();
    look(stalledMs);
  }

  function look(afterMs: number): void {
    timer = setTimeout(() => {
      const silentMs = performance.now() - lastLeft;
      if (silentMs >= stalledMs) cutOff("stalled");
      else look(stalledMs - silentMs);
    }, afterMs);
    timer.unref();
  }

  function cutOff(why: CutOff): void {
    if (gone.signal.aborted) return;
    incoming.forget();
    end(
      Object.assign(new Error(why === "stalled" ? "the peer stopped reading" : "too much data is unsent"), {
        code: "EPIPE",
      }),
    );
    socket.terminate();
    onCutOff?.(why);
  }

  /** Final state: drops queued text and releases waiting callers. */
  function end(reason: Error): void {
    isOver = true;
    waiting.clear();
    waitingLength = 0;
    fragmented = undefined;
    gone.abort(reason);
    keepsUp();
    allLeft.open();
  }

  function close(code: number, reason: string): void {
    if (isOver) return;
    isOver = true;
    handOver(true);
    incoming.forget();
    socket.close(code, reason);
  }

  socket.on("message", (data, isBinary) => {
    if (isBinary) close(unsupportedData, "only text frames are supported");
    else incoming.put(String(data));
  });
  // A close event follows. An error without a listener would end the process.
  socket.on("error", () => {});
  socket.on("close", () => {
    incoming.end();
    end(Object.assign(new Error("the WebSocket is closed"), { code: "EPIPE" }));
  });

  return {
    transport: {
      incoming: incoming.frames,
      gone: gone.signal,
      send(text) {
        if (isOver || socket.readyState !== isOpen) return;
        if (fragmented === undefined && waiting.length === 0 && socket.bufferedAmount < maxHanded) {
          hand(text);
        } else {
          waiting.push(text);
          waitingLength += text.length;
        }
        if (behind() > unsentBytes) cutOff("unsent");
        else if (unsent() > maxWaiting && timer === undefined) watch();
      },
      room: () => (!gone.signal.aborted && unsent() > maxWaiting ? roomAgain.wait() : undefined),
      drained: () => (!gone.signal.aborted && unsent() > 0 ? allLeft.wait() : Promise.resolve()),
    },
    close,
    signsOfLife: () => framesLeft + incoming.count(),
    isHeldUp: incoming.isHeldUp,
  };
}

/** Avoids splitting a surrogate pair. */
function cutBefore(text: string, at: number): number {
  if (at >= text.length) return text.length;
  return endsInHalf(text, at) ? at - 1 : at;
}

function readFrames(
  socket: Pick<OpenWebSocket, "pause" | "resume">,
  { maxFrames, maxText }: { maxFrames: number; maxText: number },
) {
  const arrival = createGate();
  const texts = createQueue<string>();
  let textLength = 0;
  let count = 0;
  let isPaused = false;
  let isEnded = false;
  /** Frames received since other tasks last ran. */
  let inARow = 0;

  function onNextTurn(): void {
    inARow = 0;
    resumeIfEmpty();
  }

  function resumeIfEmpty(): void {
    if (!isPaused || texts.length > 0) return;
    isPaused = false;
    socket.resume();
  }

  async function next(): Promise<IteratorResult<Frame, undefined>> {
    for (;;) {
      const text = texts.shift();
      if (text !== undefined) {
        textLength -= text.length;
        // Deferred, so that a fast sender can't monopolize the event loop.
        if (texts.length === 0 && isPaused) setImmediate(resumeIfEmpty);
        return { done: false, value: { type: "line", text } };
      }
      if (isEnded) return { done: true, value: undefined };
      await arrival.wait();
    }
  }

  function end(): void {
    isEnded = true;
    arrival.open();
  }

  return {
    frames: { [Symbol.asyncIterator]: () => ({ next }) },
    count: () => count,
    isHeldUp: () => isPaused,
    put(text: string) {
      count += 1;
      if (isEnded) return;
      texts.push(text);
      textLength += text.length;
      arrival.open();
      // Pause even for a fast reader: back-to-back frames would starve other tasks.
      if (inARow === 0) setImmediate(onNextTurn);
      inARow += 1;
      if (isPaused || (inARow <= maxFrames && texts.length <= maxFrames && textLength <= maxText)) return;
      isPaused = true;
      socket.pause();
    },
    /** Ends after the queued frames. */
    end,
    /** Drops the queued frames and ends. */
    forget() {
      texts.clear();
      textLength = 0;
      // Resume reading, to receive the close frame.
      resumeIfEmpty();
      end();
    },
  };
}
