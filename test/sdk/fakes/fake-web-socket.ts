import type { WebSocketEvent, WebSocketLike } from "../../../src/sdk/connection/socket-connection.ts";

type Listener = (event: WebSocketEvent) => void;

/** A socket whose other side is the test. */
export interface FakeWebSocket extends WebSocketLike {
  bufferedAmount: number;
  readonly sent: readonly string[];
  /** Its calls besides sending, in order. */
  readonly asked: readonly string[];
  /** Passive: the test triggers its events. */
  happens(type: "open" | "message" | "error" | "close", event?: Omit<WebSocketEvent, "type">): void;
  listenerCount(): number;
}

export interface FakeOptions {
  readonly isOpen?: boolean;
  readonly canPause?: boolean;
  /** Whether a close is answered. */
  readonly answersClose?: boolean;
}

const connecting = 0;
const open = 1;
const closing = 2;
const closed = 3;

export function createFakeWebSocket({
  isOpen = true,
  canPause = false,
  answersClose = true,
}: FakeOptions = {}): FakeWebSocket {
  const listeners = new Map<string, Set<Listener>>();
  const sent: string[] = [];
  const asked: string[] = [];
  let readyState = isOpen ? open : connecting;
  const ask = (what: string) => () => {
    asked.push(what);
  };
  const socket: FakeWebSocket = {
    sent,
    asked,
    bufferedAmount: 0,
    binaryType: "blob",
    get readyState() {
      return readyState;
    },
    addEventListener: (type, listener) => void listeners.set(type, (listeners.get(type) ?? new Set()).add(listener)),
    removeEventListener: (type, listener) => void listeners.get(type)?.delete(listener),
    send(data) {
      if (readyState !== open) throw new Error("not open");
      sent.push(data);
    },
    close(code) {
      asked.push(`close ${code}`);
      if (readyState >= closing) return;
      readyState = closing;
      if (answersClose) queueMicrotask(() => socket.happens("close", { code: code ?? 1005, reason: "" }));
    },
    ...(canPause ? { pause: ask("pause"), resume: ask("resume"), terminate: ask("terminate") } : {}),
    happens(type, event = {}) {
      if (type === "open") readyState = open;
      if (type === "close") readyState = closed;
      for (const listener of [...(listeners.get(type) ?? [])]) listener({ type, ...event });
    },
    listenerCount: () => [...listeners.values()].reduce((sum, { size }) => sum + size, 0),
  };
  return socket;
}
