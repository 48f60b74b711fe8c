import { createHash } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";

/** Faults of one answer. Numbers count whole stream events. */
export type Fault =
  /** This status instead of an answer; by default with the provider's own message. */
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  /** The request is read, then the socket is destroyed before any header. */
  | "refuse-connection-after-accept"
  | "headers-then-silence"
  | "silence"
  /** The socket is destroyed after this many events. */
  | { readonly cutAfter: number }
  /** The event after this many is truncated; the rest of the stream follows. */
  | { readonly malformedAfter: number }
  /** Nothing follows after this many events, and the socket stays open. */
  | { readonly idleAfter: number }
  /** A complete, well-formed answer without text or calls. */
  | "empty-answer"
  /** The whole answer as one JSON object, although streaming was requested. */
  | "unstreamed"
  | "empty-body"
  | "html-body"
  /** The stream ends cleanly, but without the events that complete the answer. */
  | { readonly endWithoutFinish: true }
  /** The provider's own error inside a stream, after this many events. */
  | { readonly streamError: { readonly after: number; readonly type?: string; readonly message?: string } };

/** `input` excludes cache reads and writes; `thinking` is part of `output`. */
export interface TurnUsage {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly thinking: number;
}

export interface TurnCall {
  readonly name: string;
  readonly input: unknown;
  /** Default: an id in the provider's style. */
  readonly id?: string;
  /** Number of pieces to stream the arguments in, on wires that split them. */
  readonly pieces?: number;
}

/** One answer, in provider-neutral form. Sent as thinking, then text, then calls. */
export interface Turn {
  /** Each string is one delta. */
  readonly text?: readonly string[];
  readonly thinking?: readonly string[];
  /** The thinking has no readable text. */
  readonly redacted?: boolean;
  readonly calls?: readonly TurnCall[];
  /** Default: "calls" if there are calls, else "end". */
  readonly stop?: "end" | "length" | "refusal" | "calls";
  /** The provider's own stop reason, instead of the one for `stop`. */
  readonly nativeStop?: string;
  /** The prompt itself is refused, for this reason (for providers that do so). */
  readonly blocked?: string;
  readonly usage?: Partial<TurnUsage>;
  /** Before the headers. */
  readonly delayMs?: number;
  /** Before every event but the first. */
  readonly chunkDelayMs?: number;
  /** Writes the body in slices of this many bytes, regardless of events and characters. */
  readonly sliceBytes?: number;
  readonly fault?: Fault;
}

export interface ReceivedRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Parsed JSON; undefined if there is none. */
  readonly body: unknown;
  readonly rawBody: string;
  /** Violations of the provider's schema or rules. */
  readonly faults: readonly string[];
  /** The client closed the socket before the answer was complete. */
  readonly aborted: boolean;
}

export interface ProviderServer {
  /** As written in the configuration for that provider. */
  readonly url: string;
  readonly key: string;
  readonly requests: readonly ReceivedRequest[];
  readonly openSockets: number;
  /** The answers to the next valid requests, in order. A rejected request uses none. */
  enqueue(...turns: readonly Turn[]): void;
  /** Resolves once `holds` is true; checked now and after every request, write or socket change. */
  until(holds: () => boolean): Promise<void>;
  close(): Promise<void>;
}

export interface ProviderOptions {
  readonly key?: string;
  /** The models that exist, instead of the provider's usual ones. */
  readonly models?: readonly string[];
}

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string unchanged, anything else as JSON. */
  readonly body: unknown;
}

/** A turn in the provider's format. */
export interface Rendered {
  readonly headers?: Readonly<Record<string, string>>;
  /** Complete server-sent events, each with its blank line. */
  readonly events: readonly string[];
  /** How many of the last events complete the answer. */
  readonly finishEvents: number;
  /** The response without streaming. */
  readonly whole: unknown;
}

/** A wire's handling of a request: an immediate response (an error, a list), or the next turn. */
export type Judged =
  | { readonly faults: readonly string[]; readonly reply: Reply }
  | { readonly faults: readonly string[]; readonly stream: boolean; render(turn: Turn): Rendered };

export interface Wire {
  /** Appended to the origin in `url`, for example "/v1". */
  readonly basePath: string;
  readonly key: string;
  judge(request: Omit<ReceivedRequest, "faults" | "aborted">): Judged;
  /** The provider's error body for a status, with its usual message unless `message` is given. */
  errorBody(status: number, message?: string): unknown;
  /** Headers for an error body, for example the id that the body also contains. */
  errorHeaders?(body: unknown): Readonly<Record<string, string>>;
  /** The provider's error inside a stream, as whole events, after this many others. */
  streamError(type: string | undefined, message: string | undefined, after: number): readonly string[];
}

export function sse(data: unknown, event?: string): string {
  const name = event === undefined ? "" : `event: ${event}\n`;
  return `${name}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
}

const alphanumerics = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** Ids in a provider's style, the same in every run: `ids("msg_01", 22)`. Unique per call and seed. */
export function createIds(seed: string): (prefix: string, length: number, alphabet?: string) => string {
  let last = 0;
  return (prefix, length, alphabet = alphanumerics) => {
    last += 1;
    let id = prefix;
    for (let block = 0; id.length < prefix.length + length; block += 1) {
      for (const byte of createHash("sha256").update(`${seed} ${last} ${block}`).digest()) {
        if (id.length < prefix.length + length) id += alphabet[byte % alphabet.length];
      }
    }
    return id;
  };
}

/** `text` in `count` pieces of uneven size, at least one character each if possible. */
export function splitUnevenly(text: string, count: number): string[] {
  const pieces: string[] = [];
  let from = 0;
  for (let left = Math.max(1, count); left > 1; left -= 1) {
    const rest = text.length - from;
    const even = Math.floor(rest / left);
    const size = Math.max(1, Math.min(rest - (left - 1), left % 2 === 0 ? Math.ceil(even / 2) : even + 1));
    pieces.push(text.slice(from, from + size));
    from += size;
  }
  pieces.push(text.slice(from));
  return pieces;
}

/** The turn's own counts, and plausible ones for missing values. */
export function usageOf(turn: Turn): TurnUsage {
  const thinking = turn.usage?.thinking ?? (turn.thinking ?? []).length * 4;
  const visible = (turn.text ?? []).length * 3 + (turn.calls ?? []).length * 17;
  return { input: 25, cacheRead: 0, cacheWrite: 0, output: thinking + visible, ...turn.usage, thinking };
}

export function stopOf(turn: Turn): "end" | "length" | "refusal" | "calls" {
  return turn.stop ?? ((turn.calls ?? []).length > 0 ? "calls" : "end");
}

/** Starts a loopback server that speaks `wire`. */
export async function serveWire(wire: Wire): Promise<ProviderServer> {
  const requests: (ReceivedRequest & { aborted: boolean })[] = [];
  const turns: Turn[] = [];
  const sockets = new Set<Socket>();
  const sleepers = new Set<{ timer: NodeJS.Timeout; wake: () => void }>();
  const waiting = new Set<() => void>();
  const changed = () => {
    for (const look of [...waiting]) look();
  };

  const sleep = (ms: number) =>
    new Promise<void>((resolve) => {
      const sleeper = { timer: setTimeout(() => wake(), ms), wake: () => wake() };
      const wake = () => {
        clearTimeout(sleeper.timer);
        sleepers.delete(sleeper);
        resolve();
      };
      sleepers.add(sleeper);
    });

  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => {
      sockets.delete(socket);
      changed();
    });
    changed();
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const rawBody = await readAll(request);
    if (rawBody === undefined) return;
    const { method = "", url = "", headers } = request;
    const received = { method, path: url, headers, body: parseJson(rawBody), rawBody };
    const judged = wire.judge(received);
    const turn = "reply" in judged ? undefined : turns.shift();
    const unexpected = "render" in judged && turn === undefined;
    const faults = unexpected ? [...judged.faults, "no turn was enqueued for this request"] : judged.faults;
    const entry = { ...received, faults, aborted: false };
    requests.push(entry);
    let oursToClose = false;
    response.on("close", () => {
      entry.aborted = !response.writableFinished && !oursToClose;
      changed();
    });
    const cut = () => {
      oursToClose = true;
      request.socket.destroy();
    };
    changed();
    if ("reply" in judged) sendReply(response, judged.reply);
    else if (turn === undefined) {
      sendReply(response, { status: 400, body: wire.errorBody(400, "no turn was enqueued for this request") });
    } else {
      if (turn.delayMs !== undefined) await sleep(turn.delayMs);
      await sendTurn(response, judged, turn, cut);
    }
  }

  async function sendTurn(
    response: ServerResponse,
    judged: Extract<Judged, { stream: boolean }>,
    turn: Turn,
    cut: () => void,
  ): Promise<void> {
    const fault = turn.fault;
    if (fault === "silence") return;
    if (fault === "refuse-connection-after-accept") return cut();
    if (typeof fault === "object" && "status" in fault) {
      const { status, headers, body = wire.errorBody(status) } = fault;
      return sendReply(response, { status, body, headers: { ...wire.errorHeaders?.(body), ...headers } });
    }
    if (fault === "html-body") {
      const body = "<!DOCTYPE html><html><head><title>Sign in</title></head><body>Sign in to go on.</body></html>";
      return sendReply(response, { status: 200, headers: { "content-type": "text/html" }, body });
    }
    const { thinking: _, text: __, calls: ___, ...silent } = turn;
    const rendered = judged.render(fault === "empty-answer" ? silent : turn);
    const isWhole = !judged.stream || fault === "unstreamed";
    if (isWhole && fault !== "empty-body" && fault !== "headers-then-silence") {
      return sendReply(response, { status: 200, headers: rendered.headers ?? {}, body: rendered.whole });
    }
    const contentType = judged.stream ? "text/event-stream; charset=utf-8" : "application/json";
    response.writeHead(200, { "content-type": contentType, "cache-control": "no-cache", ...rendered.headers });
    response.flushHeaders();
    if (fault === "headers-then-silence") return;
    if (fault === "empty-body") return void response.end();
    const { chunks, ending } = plan(rendered, fault);
    for (const [index, chunk] of chunks.entries()) {
      if (index > 0 && turn.chunkDelayMs !== undefined) await sleep(turn.chunkDelayMs);
      await write(response, Buffer.from(chunk), turn.sliceBytes);
      if (response.destroyed) return;
      changed();
    }
    if (ending === "end") response.end();
    else if (ending === "cut") cut();
  }

  function plan(rendered: Rendered, fault: Fault | undefined): { chunks: string[]; ending: "end" | "cut" | "open" } {
    const events = [...rendered.events];
    if (typeof fault !== "object") return { chunks: events, ending: "end" };
    if ("cutAfter" in fault) return { chunks: events.slice(0, fault.cutAfter), ending: "cut" };
    if ("idleAfter" in fault) return { chunks: events.slice(0, fault.idleAfter), ending: "open" };
    if ("malformedAfter" in fault) {
      const whole = events[fault.malformedAfter] ?? sse("{}");
      events[fault.malformedAfter] = `${whole.trimEnd().slice(0, -Math.ceil(whole.length / 4))}\n\n`;
      return { chunks: events, ending: "end" };
    }
    if ("streamError" in fault) {
      const { after, type, message } = fault.streamError;
      const before = events.slice(0, after);
      return { chunks: [...before, ...wire.streamError(type, message, before.length)], ending: "end" };
    }
    return { chunks: events.slice(0, events.length - rendered.finishEvents), ending: "end" };
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${wire.basePath}`,
    key: wire.key,
    requests,
    get openSockets() {
      return sockets.size;
    },
    enqueue: (...more) => void turns.push(...more),
    until: (holds) =>
      new Promise((resolve) => {
        const look = () => {
          if (!holds()) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    close: async () => {
      for (const sleeper of [...sleepers]) sleeper.wake();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function sendReply(response: ServerResponse, reply: Reply): void {
  const text = typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body);
  response.writeHead(reply.status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
    ...reply.headers,
  });
  response.end(text);
}

/** Slices are sent in separate ticks of the event loop, so that they are not joined on the way. */
async function write(response: ServerResponse, bytes: Buffer, sliceBytes = bytes.length): Promise<void> {
  for (let from = 0; from < bytes.length && !response.destroyed; from += sliceBytes) {
    await new Promise<void>((resolve) => {
      response.once("close", resolve);
      response.write(bytes.subarray(from, from + sliceBytes), () => {
        response.off("close", resolve);
        setImmediate(resolve);
      });
    });
  }
}

/** Undefined if the client left in the middle. */
async function readAll(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
