import { EventEmitter } from "node:events";
import type { OpenWebSocket } from "../../src/rpc/web-socket.ts";

/** A socket that sends frames on demand. */
export interface FakeOpenSocket extends OpenWebSocket {
  readyState: number;
  /** Frames passed to it and not yet sent. */
  readonly held: readonly string[];
  /** The messages, with fragments joined. */
  readonly messages: readonly string[];
  readonly calls: readonly string[];
  /** Completes sending the first held frame. */
  leave(error?: Error): void;
  /** Emits a frame from the peer. */
  comes(text: string, isBinary?: boolean): void;
  closes(): void;
  fails(): void;
}

type Left = (error?: Error | null) => void;
type Fragmenting = (options: { readonly fin: boolean }, left: Left) => void;

export function createFakeOpenSocket(): FakeOpenSocket {
  const events = new EventEmitter();
  const held: { readonly text: string; readonly left: Left }[] = [];
  const calls: string[] = [];
  const messages: string[] = [];
  let whole = "";
  const call = (name: string) => (): void => void calls.push(name);
  const socket: FakeOpenSocket = {
    readyState: 1,
    calls,
    get held() {
      return held.map(({ text }) => text);
    },
    get bufferedAmount() {
      return held.reduce((sum, { text }) => sum + text.length, 0);
    },
    send(text: string, ...more: Parameters<Fragmenting> | [Left]) {
      const [options, left] = more.length === 1 ? [{ fin: true }, more[0]] : more;
      held.push({ text, left });
      whole += text;
      if (!options.fin) return;
      messages.push(whole);
      whole = "";
    },
    messages,
    close(code, reason) {
      socket.readyState = 2;
      calls.push(`close ${code} ${reason}`);
    },
    terminate: call("terminate"),
    pause: call("pause"),
    resume: call("resume"),
    on: (name: string, listener: (...words: never[]) => void) =>
      events.on(name, listener as (...words: unknown[]) => void),
    leave: (error) => held.shift()?.left(error),
    comes: (text, isBinary = false) => void events.emit("message", Buffer.from(text), isBinary),
    closes() {
      socket.readyState = 3;
      events.emit("close", 1000, Buffer.from(""));
    },
    fails: () => void events.emit("error", new Error("reset")),
  };
  return socket;
}
