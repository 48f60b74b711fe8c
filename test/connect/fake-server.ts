import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";

type Json = Readonly<Record<string, unknown>>;

export interface Asked {
  readonly method: string;
  readonly params: Json;
}

/** One answer, scripted by a test. */
export interface Turn {
  readonly message: string;
  readonly messageId: string;
  chunk(text: string, more?: Json): void;
  /** The last chunk; `kept` is the replayed text, if it differs from the whole answer. */
  end(reason?: string, text?: string, kept?: Json): void;
  /** Resolves with the client's result. */
  call(toolName: string, args: unknown, more?: Json): Promise<Json>;
  notify(method: string, params: Json): void;
  /** Cuts the connection silently; later chunks are lost. */
  cut(): void;
  /** Resolves when the client has reconnected. */
  resumed(): Promise<void>;
  cancelled: Promise<void>;
}

export interface FakeServer {
  readonly url: string;
  readonly asked: readonly Asked[];
  readonly headers: readonly IncomingHttpHeaders[];
  of(method: string): readonly Json[];
  until(holds: () => boolean): Promise<void>;
  sockets(): readonly WebSocket[];
  /** Refuses handshakes with this status until it is `undefined`. */
  refuse(status: number | undefined): void;
  /** Replaces the response to a method; `undefined` keeps it. */
  respond: (
    asked: Asked,
    socket: WebSocket,
  ) => { readonly error: object } | { readonly result: unknown } | "none" | undefined;
  close(): Promise<void>;
}

interface Session {
  readonly id: string;
  readonly log: Json[];
  readonly heard: Set<WebSocket>;
  seq: number;
  running: { readonly messageId: string; text: string } | undefined;
  turns: Promise<void>;
  cancel: () => void;
}

/** A minimal server side of `/ws`. The test scripts its answers. */
export async function createFakeServer(answer: (turn: Turn) => unknown): Promise<FakeServer> {
  const http = createServer((_, response) => response.writeHead(404).end());
  const server = new WebSocketServer({ noServer: true });
  const sessions = new Map<string, Session>();
  const asked: Asked[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const results = new Map<string, (result: Json) => void>();
  let watchers: (() => void)[] = [];
  let refused: number | undefined;
  let calls = 0;

  http.on("upgrade", (request, socket, head) => {
    if (refused !== undefined || request.url !== "/ws") {
      socket.end(`HTTP/1.1 ${refused ?? 404} No\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    headers.push(request.headers);
    server.handleUpgrade(request, socket, head, (client) => {
      client.on("message", (data) => take(client, JSON.parse(String(data)) as Asked & { id: number }));
      client.on("error", () => undefined);
      client.on("close", () => {
        for (const { heard } of sessions.values()) heard.delete(client);
      });
    });
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));

  function changed(): void {
    for (const look of watchers) look();
  }

  function until(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!holds()) return;
        watchers = watchers.filter((one) => one !== look);
        resolve();
      };
      watchers.push(look);
      look();
    });
  }

  const say = (socket: WebSocket, frame: object): void => socket.send(JSON.stringify({ jsonrpc: "2.0", ...frame }));

  /** `kept`: the replayed text, if it differs from now. */
  function tell(session: Session, method: string, params: Json, kept?: Json | true): void {
    const seq = kept === undefined ? {} : { seq: ++session.seq };
    const frame = { method, params: { sessionId: session.id, ...params, ...seq } };
    if (kept !== undefined)
      session.log.push({ method, params: { sessionId: session.id, ...(kept === true ? params : kept), ...seq } });
    for (const socket of session.heard) say(socket, frame);
  }

  function turnOf(session: Session, message: string, messageId: string): Turn {
    const running = { messageId, text: "" };
    session.running = running;
    const ids = { messageId, turnId: `t-${messageId}` };
    return {
      message,
      messageId,
      cancelled: new Promise((resolve) => {
        session.cancel = resolve;
      }),
      chunk(text, more = {}) {
        const offset = running.text.length;
        running.text += text;
        tell(session, "AIMessageChunkNotification", { ...ids, chunk: text, isFinal: false, offset, ...more });
      },
      end(reason = "completed", text = "", kept = {}) {
        const offset = running.text.length;
        running.text += text;
        const last = { ...ids, isFinal: true, reason };
        session.running = undefined;
        tell(
          session,
          "AIMessageChunkNotification",
          { ...last, chunk: text, offset },
          { ...last, chunk: running.text, offset: 0, snapshot: true, ...kept },
        );
      },
      call(toolName, args, more = {}) {
        const toolCallId = `call-${++calls}`;
        const params = { ...ids, toolCallId, toolName, arguments: args, execution: "client", ...more };
        const result = new Promise<Json>((resolve) => results.set(toolCallId, resolve));
        tell(session, "ToolCallNotification", params, true);
        return result;
      },
      notify: (method, params) => tell(session, method, params, true),
      cut() {
        for (const socket of session.heard) socket.terminate();
        session.heard.clear();
      },
      resumed: () => until(() => session.heard.size > 0),
    };
  }

  function take(socket: WebSocket, request: Asked & { id: number }): void {
    const { id, method, params } = request;
    asked.push({ method, params });
    const instead = fake.respond({ method, params }, socket);
    if (instead === undefined) handle(socket, id, method, params);
    else if (instead !== "none") say(socket, { id, ...instead });
    changed();
  }

  function handle(socket: WebSocket, id: number, method: string, params: Json): void {
    const session = sessions.get(String(params.sessionId));
    const result = (value: unknown): void => say(socket, { id, result: value });
    if (method === "startSession") {
      const sessionId = `s-${sessions.size + 1}`;
      const made: Session = {
        id: sessionId,
        log: [],
        heard: new Set([socket]),
        seq: 0,
        running: undefined,
        turns: Promise.resolve(),
        cancel: () => undefined,
      };
      sessions.set(sessionId, made);
      result({ sessionId, status: 1 });
      tell(made, "SessionStatusNotification", { status: 1, reason: "started" }, true);
    } else if (method === "echo") result(params);
    else if (method === "listSessions")
      result({
        sessions: [...sessions.keys()].map((sessionId) => ({
          sessionId,
          title: "a title",
          updatedAt: "now",
          status: 1,
        })),
      });
    else if (method === "capabilities") result({ version: "1" });
    else if (session === undefined) say(socket, { id, error: { code: -32602, message: "Invalid params" } });
    else if (method === "sendUserMessage") {
      const messageId = `m-${++session.seq}`;
      const message = String(params.message);
      session.log.push({
        method: "UserMessageNotification",
        params: { sessionId: session.id, messageId, message, seq: session.seq },
      });
      result({ messageId, status: 0, seq: session.seq });
      session.turns = session.turns.then(async () => void (await answer(turnOf(session, message, messageId))));
    } else if (method === "provideToolResult") {
      results.get(String(params.toolCallId))?.(params);
      result({ status: 0 });
    } else if (method === "cancel") {
      result({ status: 1, cancelled: 1 });
      session.cancel();
    } else if (method === "stopSession") {
      result({ status: 2 });
      tell(session, "SessionStatusNotification", { status: 2, reason: "completed" }, true);
    } else if (method === "resumeSession") {
      const { running } = session;
      result({ sessionId: session.id, status: 1, seq: session.seq, running: running !== undefined, waiting: [] });
      for (const frame of session.log)
        if (Number((frame.params as Json).seq) > Number(params.afterSeq ?? 0)) say(socket, frame);
      if (running !== undefined) {
        const { messageId, text } = running;
        const snapshot = { chunk: text, offset: 0, isFinal: false, snapshot: true, messageId };
        say(socket, { method: "AIMessageChunkNotification", params: { sessionId: session.id, ...snapshot } });
      }
      session.heard.add(socket);
    } else say(socket, { id, error: { code: -32601, message: "Method not found" } });
  }

  const fake: FakeServer = {
    url: `ws://127.0.0.1:${(http.address() as AddressInfo).port}/ws`,
    asked,
    headers,
    of: (method) => asked.filter((one) => one.method === method).map(({ params }) => params),
    until,
    sockets: () => [...server.clients],
    refuse(status) {
      refused = status;
    },
    respond: () => undefined,
    async close() {
      for (const client of server.clients) client.terminate();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  return fake;
}
