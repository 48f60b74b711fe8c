import type { Frame } from "./framing.ts";
import { createGate } from "./gate.ts";
import { createQueue } from "./queue.ts";
import type { Transport } from "./transport.ts";
import { defaultMaxWaiting } from "./transport.ts";

/** What is needed of a socket of the package `ws` that is open. */
export interface OpenWebSocket {
  readonly readyState: number;
  /** What was sent and has not left this process. */
  readonly bufferedAmount: number;
  send(text: string, left: (error?: Error | null) => void): void;
  /** `fin: false`: a fragment of a message that goes on with the next call. */
  send(text: string, options: { readonly fin: boolean }, left: (error?: Error | null) => void): void;
  close(code: number, reason: string): void;
  terminate(): void;
  pause(): void;
  resume(): void;
  on(event: "message", listener: (data: unknown, isBinary: boolean) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "close", listener: (code: number, reason: unknown) => void): unknown;
}

/** One client, as a server hands it to whoever serves it. */
export interface ServedSocket {
  /** A text frame is a line, either way. A binary one closes the socket with 1003. */
  readonly transport: Transport;
  /** What was sent still goes out before it; nothing more comes in. Without effect on one that is closed. */
  close(code: number, reason: string): void;
}

/** Why a client was cut off: it took nothing for too long, or too much waited for it. */
export type CutOff = "stalled" | "unsent";

export interface ServedSocketOptions {
  /** More than this may not wait behind the frame that is being sent, however large that one is. What is not handed to the
   * socket yet counts by its length. */
  readonly unsentBytes: number;
  /** How long nothing may leave while more than `maxWaiting` waits, in milliseconds. */
  readonly stalledMs: number;
  /** How much may be unsent before a sender is asked to wait. */
  readonly maxWaiting?: number;
  /** How much may have come and not been taken before the other side is held up. */
  readonly maxFrames?: number;
  readonly maxText?: number;
  /** Called before each frame that is handed to the socket: those of one moment may then leave together. */
  beforeSend?(): void;
  /** Told once, when the socket is terminated for it. */
  onCutOff?(why: CutOff): void;
}

/** A socket with what its server needs to know of it. */
export interface WatchedSocket extends ServedSocket {
  /** Grows with every frame that comes or leaves, and by nothing else: as long as it does, the other side is there. */
  signsOfLife(): number;
  /** Whether it is not being read, so that whatever the other side says is not heard. */
  isHeldUp(): boolean;
}

const unsupportedData = 1003;
const isOpen = 1;

/**
 * At most so much is handed to the socket at a time: it tells that something has left only when all that it was writing
 * together has, and a client that reads slowly shall not look like one that does not read.
 */
const handedOver = 128 * 1024;
/** A longer text is sent in fragments: each that leaves is a sign of life, however long the whole takes. */
const mostInFragment = 128 * 1024;

/** A long text on its way, and how much of it was handed to the socket. */
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
  /** Of the texts in `waiting`. */
  let waitingLength = 0;
  let fragmented: Fragmented | undefined;
  let framesHanded = 0;
  let framesLeft = 0;
  /** The number of the last fragment handed over: until it has left, a long text is being sent. */
  let lastFragment = 0;
  let lastLeft = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;

  const behind = (): number => waitingLength + (framesLeft < lastFragment ? 0 : socket.bufferedAmount);
  const unsent = (): number =>
    waitingLength + socket.bufferedAmount + (fragmented === undefined ? 0 : fragmented.text.length - fragmented.handed);

  function handOver(all = false): void {
    while (all || socket.bufferedAmount < handedOver) {
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
    if (text.length > mostInFragment) {
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
    const end = cutBefore(text, handed + mostInFragment);
    whole.handed = end;
    const fin = end === text.length;
    if (fin) fragmented = undefined;
    beforeSend?.();
    framesHanded += 1;
    lastFragment = framesHanded;
    socket.send(text.slice(handed, end), { fin }, left);
  }

  /** One function for all frames: a closure for each would cost more than the frame. */
  function left(error?: Error | null): void {
    // The socket is about to close, and says so.
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
      Object.assign(new Error(why === "stalled" ? "the other side takes nothing" : "too much is unsent"), {
        code: "EPIPE",
      }),
    );
    socket.terminate();
    onCutOff?.(why);
  }

  /** Nothing more is sent or read, for whatever reason. */
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
    if (isBinary) close(unsupportedData, "only text is understood");
    else incoming.put(String(data));
  });
  // The close that follows says it again; with nobody listening, it would end the process.
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
        if (fragmented === undefined && waiting.length === 0 && socket.bufferedAmount < handedOver) {
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

/** Not in the middle of a character. */
function cutBefore(text: string, at: number): number {
  if (at >= text.length) return text.length;
  const isPair = text.charCodeAt(at - 1) >> 10 === 0x36 && text.charCodeAt(at) >> 10 === 0x37;
  return isPair ? at - 1 : at;
}

interface IncomingFrames {
  readonly frames: AsyncIterable<Frame>;
  put(text: string): void;
  /** Nothing more comes; what did can still be taken. */
  end(): void;
  /** Nothing more is to be taken. */
  forget(): void;
  count(): number;
  isHeldUp(): boolean;
}

function readFrames(
  socket: Pick<OpenWebSocket, "pause" | "resume">,
  { maxFrames, maxText }: { maxFrames: number; maxText: number },
): IncomingFrames {
  const arrival = createGate();
  const texts = createQueue<string>();
  let textLength = 0;
  let count = 0;
  let isPaused = false;
  let isEnded = false;
  /** Frames that came since others had their turn. */
  let inARow = 0;

  function beginAnew(): void {
    inARow = 0;
    goOn();
  }

  function goOn(): void {
    if (!isPaused || texts.length > 0) return;
    isPaused = false;
    socket.resume();
  }

  async function next(): Promise<IteratorResult<Frame, undefined>> {
    for (;;) {
      const text = texts.shift();
      if (text !== undefined) {
        textLength -= text.length;
        // Not before others had their turn: whoever sends faster than is read would have the process for itself.
        if (texts.length === 0 && isPaused) setImmediate(goOn);
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
    put(text) {
      count += 1;
      if (isEnded) return;
      texts.push(text);
      textLength += text.length;
      arrival.open();
      // Also what is taken as fast as it comes is held up: one read after the other, it would leave nobody else a turn.
      if (inARow === 0) setImmediate(beginAnew);
      inARow += 1;
      if (isPaused || (inARow <= maxFrames && texts.length <= maxFrames && textLength <= maxText)) return;
      isPaused = true;
      socket.pause();
    },
    end,
    forget() {
      texts.clear();
      textLength = 0;
      // What the other side says to the end must be heard.
      goOn();
      end();
    },
  };
}
