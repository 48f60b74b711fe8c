import { WebSocket } from "ws";

/*
 * A client written from the API's description alone: three methods, three notifications and the errors. It ignores
 * everything else.
 */

type Json = Record<string, unknown>;

interface Pending {
  resolve(result: Json): void;
  reject(error: unknown): void;
}

export interface PlainClient {
  startSession(userId: string, sessionParams?: Json): Promise<Json>;
  sendUserMessage(sessionId: unknown, message: string): Promise<Json>;
  provideToolResult(sessionId: unknown, toolCallId: unknown, result: string): Promise<Json>;
  /** Any other method. Rejects with the received error. */
  call(method: string, params?: Json): Promise<Json>;
  /** All chunks up to the next final one, joined. */
  answer(): Promise<{ readonly text: string; readonly chunks: number }>;
  status(): Promise<{ readonly status: unknown; readonly reason: unknown }>;
  toolCall(): Promise<{ readonly toolCallId: unknown; readonly toolName: unknown; readonly arguments: unknown }>;
  close(): void;
}

export async function plainClient(url: string, headers: Record<string, string> = {}): Promise<PlainClient> {
  const socket = new WebSocket(url, { headers });
  const pending = new Map<number, Pending>();
  const chunks = queue<Json>();
  const statuses = queue<Json>();
  const calls = queue<Json>();
  const byMethod: Record<string, (params: Json) => void> = {
    AIMessageChunkNotification: chunks.put,
    SessionStatusNotification: statuses.put,
    ToolCallNotification: calls.put,
  };
  socket.on("message", (data) => {
    const message = JSON.parse(String(data)) as Json;
    if (typeof message.method === "string") {
      byMethod[message.method]?.(message.params as Json);
      return;
    }
    const waiting = pending.get(message.id as number);
    pending.delete(message.id as number);
    if (message.error === undefined) waiting?.resolve(message.result as Json);
    else waiting?.reject(message.error);
  });
  await new Promise((resolve, reject) => {
    socket.on("open", resolve);
    socket.on("error", reject);
  });

  let ids = 0;
  const call = (method: string, params?: Json): Promise<Json> =>
    new Promise((resolve, reject) => {
      ids += 1;
      pending.set(ids, { resolve, reject });
      socket.send(JSON.stringify({ jsonrpc: "2.0", id: ids, method, params }));
    });

  return {
    call,
    startSession: (userId, sessionParams) => call("startSession", { userId, sessionParams }),
    sendUserMessage: (sessionId, message) => call("sendUserMessage", { sessionId, message }),
    provideToolResult: (sessionId, toolCallId, result) => call("provideToolResult", { sessionId, toolCallId, result }),
    async answer() {
      let text = "";
      for (let count = 1; ; count += 1) {
        const { chunk, isFinal } = await chunks.take();
        text += chunk;
        if (isFinal === true) return { text, chunks: count };
      }
    },
    async status() {
      const { status, reason } = await statuses.take();
      return { status, reason };
    },
    async toolCall() {
      const { toolCallId, toolName, arguments: given } = await calls.take();
      return { toolCallId, toolName, arguments: given };
    },
    close: () => socket.close(),
  };
}

function queue<T>(): { put(value: T): void; take(): Promise<T> } {
  const values: T[] = [];
  const takers: ((value: T) => void)[] = [];
  return {
    put(value) {
      const taker = takers.shift();
      if (taker === undefined) values.push(value);
      else taker(value);
    },
    take() {
      const value = values.shift();
      return value === undefined ? new Promise((resolve) => takers.push(resolve)) : Promise.resolve(value);
    },
  };
}
