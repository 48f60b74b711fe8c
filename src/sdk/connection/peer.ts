import { onAbort } from "../../async/on-abort.ts";
import { settlesWithin } from "../../async/promises.ts";
import {
  errorCodes,
  factoryApiVersion,
  factoryProtocolVersion,
  jsonRpcVersion,
  notificationMethod,
} from "../../protocol/droid/version.ts";
import type { Frame } from "../../rpc/framing.ts";
import { createGate } from "../../rpc/gate.ts";
import { textStart } from "../../text/text-cut.ts";
import {
  errorMessage,
  type Fields,
  fieldsOf,
  isRecord,
  numberOf,
  parsedJson,
  recordOf,
  textOf,
} from "../../text/values.ts";
import type { Connection } from "../api.ts";
import {
  BackendGoneError,
  ClosedError,
  methodWords,
  RequestError,
  type SdkError,
  SessionNotFoundError,
  TimeoutError,
} from "../errors.ts";
import { forgetOldest } from "../turns/repeats.ts";
import { type RequestId, requestIdOf } from "../wire.ts";

export interface PeerEvents {
  /** `params.notification`; for other methods, the params with the method as type. `characters`: the length of the line. */
  notification(notification: Fields, characters: number): void;
  /** Whether messages that name this session belong here. */
  isOwn(sessionId: string): boolean;
  /** Must be answered eventually. */
  request(id: RequestId, method: string, params: Fields, characters: number): void;
  /** An error without a waiting request: a second answer to `request`, or one that names no request. */
  strayError(error: RpcFailure, request: { readonly id: string; readonly method: string } | undefined): void;
  /** Back-pressure: the promise that the peer awaits before it reads on, unless a request waits for its answer. */
  hold(): Promise<void> | undefined;
  warning(words: string): void;
  /** The connection has ended. */
  gone(error: SdkError): void;
}

export interface RpcFailure {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export interface RequestOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Sent at once, even while another request is under way. */
  readonly isUrgent?: boolean;
  /** Called when it is sent, with its id. */
  readonly onSent?: (id: string) => void;
  /** Whether the backend can be held up while this waits for its answer. */
  readonly isPatient?: () => boolean;
}

interface Call extends RequestOptions {
  readonly id: string;
  readonly method: string;
  readonly params: object;
  /** Its caller no longer waits. */
  isGivenUp: boolean;
  resolve(result: Fields): void;
  reject(error: unknown): void;
  timer?: ReturnType<typeof setTimeout>;
}

/** How long a backend can live on after its output has ended. */
const lastMs = 1_000;
/** How long frames are read before other tasks have their turn. */
const longestStretchMs = 20;
const shortestWaitMs = 2;
/** Malformed lines that are reported. */
const mostStrayLines = 100;
/** Characters shown of a malformed line. */
const mostShown = 200;
/** Answered requests that are remembered, in case they are answered again. */
const mostAnswered = 32;
/** Answers that can wait for a backend that asks and does not read. */
const mostUnheard = 256;

/**
 * Requests and their answers. One request is under way at a time (except urgent ones), so that an error without an id has an
 * owner: the one under way, unless its own answer comes within `graceMs`.
 */
export class Peer {
  private readonly connection: Connection;
  private readonly events: PeerEvents;
  private readonly graceMs: number;
  private readonly waiting: Call[] = [];
  private readonly underWay = new Map<string, Call>();
  private readonly answered = new Map<string, string>();
  private readonly unclear = new Set<ReturnType<typeof setTimeout>>();
  private readonly readOn = createGate();
  private strayLines = 0;
  private unheard = 0;
  /** One request after the other; all at once when the backend has left one unanswered. */
  private isOrderly = true;
  private end: SdkError | undefined;
  private lastId = 0;
  private closing: Promise<void> | undefined;

  constructor(connection: Connection, events: PeerEvents, { graceMs }: { readonly graceMs: number }) {
    this.connection = connection;
    this.events = events;
    this.graceMs = graceMs;
    // A caller's own connection may fail in ways that ours do not.
    this.read().catch((error: unknown) => {
      this.giveUp(new BackendGoneError({ reason: `The connection failed: ${errorMessage(error)}` }));
    });
  }

  request(method: string, params: object, options: RequestOptions): Promise<Fields> {
    const { signal } = options;
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      if (this.end !== undefined) throw this.end;
      this.lastId += 1;
      const call: Call = {
        ...options,
        id: String(this.lastId),
        method,
        params,
        isGivenUp: false,
        resolve(result) {
          stay();
          resolve(result);
        },
        reject(error) {
          stay();
          reject(error);
        },
      };
      const stay = onAbort(signal, () => {
        const at = this.waiting.indexOf(call);
        if (at !== -1) this.waiting.splice(at, 1);
        call.isGivenUp = true;
        reject(signal?.reason);
        this.sendNext();
      });
      if (call.isUrgent === true) return this.start(call);
      this.waiting.push(call);
      this.sendNext();
    });
  }

  answer(id: RequestId, result: object): void {
    this.respond({ id, result });
  }

  /** Answers that the method is unknown. */
  refuse(id: RequestId, method: string): void {
    this.respond({ id, error: { code: errorCodes.methodNotFound, message: `Method not found: ${method}` } });
  }

  /** Rejects all requests and ends the connection; `last` is a method to call before, without waiting for it. */
  close(last?: string): Promise<void> {
    if (last !== undefined && this.end === undefined) {
      this.send({ type: "request", id: "last", method: last, params: {} });
    }
    this.giveUp(new ClosedError("The session is closed."));
    this.closing ??= this.connection.close();
    return this.closing;
  }

  private send(fields: object): void {
    const versions = { jsonrpc: jsonRpcVersion, factoryApiVersion, factoryProtocolVersion };
    this.connection.send(JSON.stringify({ ...versions, ...fields }));
  }

  private respond(fields: object): void {
    this.unheard = this.connection.room() === undefined ? 0 : this.unheard + 1;
    this.send({ type: "response", ...fields });
  }

  private sendNext(): void {
    const isTaken = () => [...this.underWay.values()].some(({ isUrgent, isGivenUp }) => !isUrgent && !isGivenUp);
    while (!this.isOrderly || !isTaken()) {
      const call = this.waiting.shift();
      if (call === undefined) return;
      this.start(call);
    }
  }

  private start(call: Call): void {
    const { id, method, params, timeoutMs } = call;
    this.underWay.set(id, call);
    if (timeoutMs > 0) {
      call.timer = setTimeout(() => {
        const words = `${methodWords(method)}: the backend did not answer within ${timeoutMs} ms.`;
        this.isOrderly = false;
        this.settle(call, () => call.reject(new TimeoutError(words)));
      }, timeoutMs);
    }
    this.send({ type: "request", id, method, params });
    call.onSent?.(id);
    this.readOn.open();
  }

  private settle(call: Call, how: () => void): void {
    if (!this.underWay.delete(call.id)) return;
    clearTimeout(call.timer);
    this.answered.set(call.id, call.method);
    forgetOldest(this.answered, mostAnswered);
    how();
    this.sendNext();
  }

  private fail(call: Call, error: RpcFailure, isAssigned: boolean): void {
    const Failure = error.code === errorCodes.notFound ? SessionNotFoundError : RequestError;
    this.settle(call, () => call.reject(new Failure(call.method, error, isAssigned)));
  }

  /** Reassigns the error if this request's answer still comes. */
  private failSoon(calls: readonly Call[], error: RpcFailure): void {
    const timer = setTimeout(() => {
      this.unclear.delete(timer);
      const owner = calls.find(({ id }) => this.underWay.has(id));
      if (owner !== undefined) this.fail(owner, error, true);
      else this.events.strayError(error, calls[0]);
    }, this.graceMs);
    this.unclear.add(timer);
  }

  /** Possible owners of an error without an id, likely ones first: abandoned requests, then the awaited one. */
  private likelyOwners(): readonly Call[] {
    const calls = [...this.underWay.values()];
    const orderly = calls.filter(({ isUrgent }) => !isUrgent);
    const at = orderly.findIndex(({ isGivenUp }) => !isGivenUp);
    if (orderly.length === 0) return calls.slice(0, 1);
    return at === -1 ? orderly : orderly.slice(0, at + 1);
  }

  private takeError(id: unknown, error: RpcFailure): void {
    const named = nameOf(id) ?? textOf(fieldsOf(error.data).requestId);
    const call = this.underWay.get(named ?? "");
    const method = this.answered.get(named ?? "");
    const owners = this.likelyOwners();
    if (call !== undefined) this.fail(call, error, false);
    else if (named !== undefined && method !== undefined) this.events.strayError(error, { id: named, method });
    else if (nameOf(id) !== undefined) this.events.warning(`An error for an unknown request: ${error.message}`);
    else if (owners.length > 0) this.failSoon(owners, error);
    else this.events.strayError(error, undefined);
  }

  private takeResponse(given: Fields): void {
    const { error } = given;
    if (isRecord(error) || (error !== null && !("result" in given))) {
      const { code, message: words, data } = fieldsOf(error);
      const message = textOf(words) ?? textOf(error) ?? "unknown error";
      this.takeError(given.id, { code: numberOf(code) ?? 0, message, data });
      return;
    }
    const id = nameOf(given.id) ?? "";
    const call = this.underWay.get(id);
    this.isOrderly = true;
    if (call !== undefined) this.settle(call, () => call.resolve(fieldsOf(given.result)));
    else
      this.events.warning(
        `Skipped a response to an ${this.answered.has(id) ? "already answered" : "unknown"} request: ${id}`,
      );
  }

  private take(frame: Frame): void {
    const { events } = this;
    if (frame.type === "too_long") {
      events.warning(`Skipped a line of ${frame.bytes} bytes.`);
      return;
    }
    const { length } = frame.text;
    const given = recordOf(parsedJson(frame.text));
    if (given === undefined) {
      this.warnOfStrayLine(frame.text);
      return;
    }
    const method = textOf(given.method);
    if (method === undefined || given.type === "response") {
      if ("result" in given || "error" in given) this.takeResponse(given);
      else events.warning(`Skipped a message without a method: ${textStart(frame.text, mostShown)}`);
      return;
    }
    const params = fieldsOf(given.params);
    if (typeof params.sessionId === "string" && method === notificationMethod && !events.isOwn(params.sessionId)) {
      events.warning(`Skipped a notification of another session: ${params.sessionId}`);
      return;
    }
    const id = given.type === "notification" ? undefined : requestIdOf(given.id);
    if (id !== undefined) events.request(id, method, params, length);
    else if (method !== notificationMethod) events.notification({ ...params, type: method }, length);
    else if (isRecord(params.notification)) events.notification(params.notification, length);
    else events.warning("Skipped an empty notification.");
  }

  private warnOfStrayLine(text: string): void {
    this.strayLines += 1;
    if (this.strayLines > mostStrayLines) return;
    this.events.warning(`Skipped a line that is not a message: ${textStart(text, mostShown)}`);
    if (this.strayLines === mostStrayLines) this.events.warning("Further ones are not reported.");
  }

  private giveUp(error: SdkError): void {
    if (this.end !== undefined) return;
    this.end = error;
    for (const call of [...this.underWay.values(), ...this.waiting.splice(0)]) {
      clearTimeout(call.timer);
      call.reject(error);
    }
    this.underWay.clear();
    for (const timer of this.unclear) clearTimeout(timer);
    this.readOn.open();
    this.events.gone(error);
  }

  /**
   * Pauses reading for a backend that sends requests without reading answers, which would fill the memory, or for a
   * slow caller, unless that caller may be waiting for an answer not read yet.
   */
  private hold(): Promise<void> | undefined {
    const slow = this.events.hold();
    const deaf = this.unheard > mostUnheard ? this.connection.room() : undefined;
    return deaf ?? ([...this.underWay.values()].every((call) => call.isPatient?.() === true) ? slow : undefined);
  }

  private async read(): Promise<void> {
    const { connection, events, readOn } = this;
    let since = performance.now();
    let takenAt = since;
    for await (const frame of connection.incoming) {
      if (this.end !== undefined) return;
      const now = performance.now();
      // After a wait, other tasks have had their turn.
      if (now - takenAt > shortestWaitMs) since = now;
      if (now - since > longestStretchMs) {
        await nextTask();
        since = performance.now();
      }
      try {
        this.take(frame);
      } catch (error) {
        // For example, it is nested too deeply.
        events.warning(`Failed to process a line: ${errorMessage(error)}`);
      }
      for (let held = this.hold(); held !== undefined && this.end === undefined; held = this.hold()) {
        // Not Promise.race: every lost race would leave a reaction on `held`.
        void held.then(readOn.open);
        await readOn.wait();
      }
      takenAt = performance.now();
    }
    // A backend whose output has ended is useless even if it lives on.
    if (!(await settlesWithin(lastMs, connection.ended))) connection.close().catch(() => {});
    this.giveUp(new BackendGoneError(await connection.ended));
  }
}

/** Without a timer, because tests may fake those. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    // Node has it, but its types lack it.
    const { port1, port2 } = new MessageChannel() as unknown as {
      readonly port1: { onmessage: () => void; close(): void };
      readonly port2: { postMessage(message: undefined): void };
    };
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}

function nameOf(id: unknown): string | undefined {
  return typeof id === "number" ? String(id) : textOf(id);
}
