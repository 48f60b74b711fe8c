import { on, once } from "node:events";
import { WebSocket } from "ws";
import { type Frame, isFinal, type Spoken, spokenOver } from "../../frontends/interactive/served.ts";

/** A client over a real socket; checks everything it receives against the schema. */
export interface WireClient extends Spoken {
  readonly socket: WebSocket;
  /** How the connection was closed. */
  readonly closedWith: Promise<{ readonly code: number; readonly reason: string }>;
}

/** Rejects if the server refuses the connection. */
export async function connectTo(url: string, headers: Record<string, string> = {}): Promise<WireClient> {
  const socket = new WebSocket(url, { headers });
  const messages = on(socket, "message", { close: ["close"] });
  const closedWith = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once("close", (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  await once(socket, "open");
  const incoming = (async function* () {
    for await (const [data] of messages) yield { type: "line", text: String(data) } as const;
  })();
  const near = { incoming, send: (text: string) => socket.send(text), close: () => socket.close() };
  return {
    ...spokenOver(near, async () => void (await closedWith)),
    socket,
    closedWith,
  };
}

export function isChunk({ method }: Frame): boolean {
  return method === "AIMessageChunkNotification";
}

export function isStatus(status: number): (frame: Frame) => boolean {
  return ({ method, params }) => method === "SessionStatusNotification" && params?.status === status;
}

export function isCall({ method }: Frame): boolean {
  return method === "ToolCallNotification";
}

/** Guarantees for each message: the answer, and exactly one end. */
export function answerTo(messageId: unknown, frames: readonly Frame[]): { text: string; ends: unknown[] } {
  const chunks = frames.filter((frame) => isChunk(frame) && frame.params?.messageId === messageId);
  return {
    text: chunks.map(({ params }) => String(params?.chunk)).join(""),
    ends: chunks.filter(isFinal).map(({ params }) => params?.reason),
  };
}
