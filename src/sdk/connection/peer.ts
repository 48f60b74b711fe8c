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
  /** What stands in `params.notification`; of another method, one whose type is that method. With the length of its line. */
  notification(notification: Fields, characters: number): void;
  /** Whether what names this session is meant for this side. */
  isOwn(sessionId: string): boolean;
  /** Must be answered in the end. */
  request(id: RequestId, method: string, params: Fields, characters: number): void;
  /** An error that belongs to nothing that waits: a second answer to that request, or one that names none. */
  strayError(error: RpcFailure, request: { readonly id: string; readonly method: string } | undefined): void;
  /** What keeps the peer from reading on, as long as no answer is waited for. */
  hold(): Promise<void> | undefined;
  warning(words: string): void;
  /** Nothing more will come. */
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
  /** Goes out at once, whatever else waits for its answer. */
  readonly isUrgent?: boolean;
  /** Told when it goes out, under which id. */
  readonly onSent?: (id: string) => void;
  /** Whether the backend may be held up although this waits for its answer. */
  readonly isPatient?: () => boolean;
}

export interface Peer {
  request(method: string, params: object, options: RequestOptions): Promise<Fields>;
  answer(id: RequestId, result: object): void;
  /** Answers that there is no such method. */
  refuse(id: RequestId, method: string): void;
  /** Rejects what waits, and ends the connection; `last` is a method that is called before, and not waited for. */
  close(last?: string): Promise<void>;
}

interface Call {
  readonly id: string;
  readonly method: string;
  readonly params: object;
  readonly timeoutMs: number;
  readonly isUrgent: boolean;
  readonly onSent: ((id: string) => void) | undefined;
  readonly isPatient: () => boolean;
  /** Its caller does not wait any more. */
  isGivenUp: boolean;
  resolve(result: Fields): void;
  reject(error: unknown): void;
  timer?: ReturnType<typeof setTimeout>;
}

/** How long a backend may live on when it has said its last word. */
const lastMs = 1_000;
/** How long frames may be taken before everything else in this program has its turn. */
const longestStretchMs = 20;
const shortestWaitMs = 2;
/** How many lines that are none are told of. */
const mostStrayLines = 100;
/** How much of one of them. */
const mostShown = 200;
/** How many answered requests are remembered, for those that are answered twice. */
const mostAnswered = 32;
/** How many answers may wait for a backend that asks and does not listen, when there is no room for them. */
const mostUnheard = 256;

/**
 * Requests and their answers. One request is under way at a time (but for urgent ones), so that an error without an id has an
 * owner: the one under way, unless its own answer comes within `graceMs`.
 */
export function createPeer(connection: Connection, events: PeerEvents, { graceMs }: { graceMs: number }): Peer {
  const waiting: Call[] = [];
  const underWay = new Map<string, Call>();
  const answered = new Map<string, string>();
  const unclear = new Set<ReturnType<typeof setTimeout>>();
  const readOn = createGate();
  let strayLines = 0;
  let unheard = 0;
  /** One after the other; all at once when the backend has left one unanswered. */
  let isOrderly = true;
  let end: SdkError | undefined;
  let lastId = 0;
  let closing: Promise<void> | undefined;

  const send = (fields: object): void =>
    connection.send(JSON.stringify({ jsonrpc: jsonRpcVersion, factoryApiVersion, factoryProtocolVersion, ...fields }));

  function respond(fields: object): void {
    unheard = connection.room() === undefined ? 0 : unheard + 1;
    send({ type: "response", ...fields });
  }

  function sendNext(): void {
    while (!isOrderly || ![...underWay.values()].some(({ isUrgent, isGivenUp }) => !isUrgent && !isGivenUp)) {
      const call = waiting.shift();
      if (call === undefined) return;
      start(call);
    }
  }

  function start(call: Call): void {
    const { id, method, params, timeoutMs } = call;
    underWay.set(id, call);
    if (timeoutMs > 0) {
      call.timer = setTimeout(() => {
        const words = `${methodWords(method)}: the backend did not answer within ${timeoutMs} ms.`;
        isOrderly = false;
        settle(call, () => call.reject(new TimeoutError(words)));
      }, timeoutMs);
    }
    send({ type: "request", id, method, params });
    call.onSent?.(id);
    readOn.open();
  }

  function settle(call: Call, how: () => void): void {
    if (!underWay.delete(call.id)) return;
    clearTimeout(call.timer);
    answered.set(call.id, call.method);
    forgetOldest(answered, mostAnswered);
    how();
    sendNext();
  }

  function fail(call: Call, error: RpcFailure, isAssigned: boolean): void {
    const Failure = error.code === errorCodes.notFound ? SessionNotFoundError : RequestError;
    settle(call, () => call.reject(new Failure(call.method, error, isAssigned)));
  }

  /** The answer of one may come yet; then the error was not about it. */
  function failSoon(calls: readonly Call[], error: RpcFailure): void {
    const timer = setTimeout(() => {
      unclear.delete(timer);
      const owner = calls.find(({ id }) => underWay.has(id));
      if (owner !== undefined) fail(owner, error, true);
      else events.strayError(error, calls[0]);
    }, graceMs);
    unclear.add(timer);
  }

  /** Whose an error may be that names nobody, likely ones first: those that were given up, and the one that waits. */
  function ownersOf(): readonly Call[] {
    const calls = [...underWay.values()];
    const orderly = calls.filter(({ isUrgent }) => !isUrgent);
    const at = orderly.findIndex(({ isGivenUp }) => !isGivenUp);
    if (orderly.length === 0) return calls.slice(0, 1);
    return at === -1 ? orderly : orderly.slice(0, at + 1);
  }

  function takeError(id: unknown, error: RpcFailure): void {
    const named = nameOf(id) ?? textOf(fieldsOf(error.data).requestId);
    const call = underWay.get(named ?? "");
    const method = answered.get(named ?? "");
    const owners = ownersOf();
    if (call !== undefined) fail(call, error, false);
    else if (named !== undefined && method !== undefined) events.strayError(error, { id: named, method });
    else if (nameOf(id) !== undefined) events.warning(`An error for an unknown request: ${error.message}`);
    else if (owners.length > 0) failSoon(owners, error);
    else events.strayError(error, undefined);
  }

  function takeResponse(given: Fields): void {
    const { error } = given;
    if (isRecord(error) || (error !== null && !("result" in given))) {
      const { code, message: words, data } = fieldsOf(error);
      const message = textOf(words) ?? textOf(error) ?? "unknown error";
      takeError(given.id, { code: numberOf(code) ?? 0, message, data });
      return;
    }
    const id = nameOf(given.id) ?? "";
    const call = underWay.get(id);
    isOrderly = true;
    if (call === undefined)
      events.warning(`An answer to ${answered.has(id) ? "a request that had one" : "nothing"}: ${id}`);
    else settle(call, () => call.resolve(fieldsOf(given.result)));
  }

  function take(frame: Frame): void {
    if (frame.type === "too_long") {
      events.warning(`A line of ${frame.bytes} bytes was passed over.`);
      return;
    }
    const { length } = frame.text;
    const given = recordOf(parsedJson(frame.text));
    if (given === undefined) {
      strayLines += 1;
      if (strayLines <= mostStrayLines)
        events.warning(`A line that is no message: ${textStart(frame.text, mostShown)}`);
      if (strayLines === mostStrayLines) events.warning("Of more such lines nothing is said.");
      return;
    }
    const method = textOf(given.method);
    if (method === undefined || given.type === "response") {
      if ("result" in given || "error" in given) takeResponse(given);
      else events.warning(`A message without a method: ${textStart(frame.text, mostShown)}`);
      return;
    }
    const params = fieldsOf(given.params);
    if (typeof params.sessionId === "string" && method === notificationMethod && !events.isOwn(params.sessionId)) {
      events.warning(`A notification of another session was passed over: ${params.sessionId}`);
      return;
    }
    const id = given.type === "notification" ? undefined : requestIdOf(given.id);
    if (id !== undefined) events.request(id, method, params, length);
    else if (method !== notificationMethod) events.notification({ ...params, type: method }, length);
    else if (isRecord(params.notification)) events.notification(params.notification, length);
    else events.warning("A notification that says nothing.");
  }

  function giveUp(error: SdkError): void {
    if (end !== undefined) return;
    end = error;
    for (const call of [...underWay.values(), ...waiting.splice(0)]) {
      clearTimeout(call.timer);
      call.reject(error);
    }
    underWay.clear();
    for (const timer of unclear) clearTimeout(timer);
    readOn.open();
    events.gone(error);
  }

  /** What waits for an answer may be the very thing that does not take what lies before it. */
  const mayHoldUp = (): boolean => [...underWay.values()].every((call) => call.isPatient());

  /**
   * What keeps this side from reading on. It does so in any case while a backend asks and asks and does not listen, whose
   * answers would fill the memory; not while it only has no time to listen to the rest, because it may be telling something.
   */
  function hold(): Promise<void> | undefined {
    const slow = events.hold();
    const deaf = unheard > mostUnheard ? connection.room() : undefined;
    return deaf ?? (mayHoldUp() ? slow : undefined);
  }

  async function read(): Promise<void> {
    let since = performance.now();
    let takenAt = since;
    for await (const frame of connection.incoming) {
      if (end !== undefined) return;
      const now = performance.now();
      // It was waited for, and others had their turn.
      if (now - takenAt > shortestWaitMs) since = now;
      if (now - since > longestStretchMs) {
        await nextTask();
        since = performance.now();
      }
      try {
        take(frame);
      } catch (error) {
        // What is nested too deeply, for instance.
        events.warning(`A line could not be taken: ${errorMessage(error)}`);
      }
      for (let held = hold(); held !== undefined && end === undefined; held = hold()) {
        // No race of the two: the loser would keep what every wait leaves with it until it is opened.
        void held.then(readOn.open);
        await readOn.wait();
      }
      takenAt = performance.now();
    }
    // One that says no more but lives on is of no use.
    if (!(await settlesWithin(lastMs, connection.ended))) connection.close().catch(() => {});
    giveUp(new BackendGoneError(await connection.ended));
  }

  // A connection of the caller's own may fail in ways that ours do not.
  read().catch((error: unknown) => {
    giveUp(
      new BackendGoneError({
        reason: `The connection failed: ${errorMessage(error)}`,
      }),
    );
  });

  return {
    request: (method, params, { timeoutMs, signal, isUrgent = false, onSent, isPatient = () => false }) =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        if (end !== undefined) throw end;
        lastId += 1;
        const leave = (): void => {
          const at = waiting.indexOf(call);
          if (at !== -1) waiting.splice(at, 1);
          call.isGivenUp = true;
          reject(signal?.reason);
          sendNext();
        };
        const done =
          <T>(settled: (value: T) => void) =>
          (value: T): void => {
            stay();
            settled(value);
          };
        const id = String(lastId);
        const call: Call = {
          id,
          method,
          params,
          timeoutMs,
          isUrgent,
          onSent,
          isPatient,
          isGivenUp: false,
          resolve: done(resolve),
          reject: done(reject),
        };
        const stay = onAbort(signal, leave);
        if (isUrgent) {
          start(call);
        } else {
          waiting.push(call);
          sendNext();
        }
      }),
    answer: (id, result) => respond({ id, result }),
    refuse: (id, method) =>
      respond({ id, error: { code: errorCodes.methodNotFound, message: `Method not found: ${method}` } }),
    close(last) {
      if (last !== undefined && end === undefined) send({ type: "request", id: "last", method: last, params: {} });
      giveUp(new ClosedError("The session is closed."));
      closing ??= connection.close();
      return closing;
    },
  };
}

/** No timer: a caller's tests may have made them stand still. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    // As browsers have it; Node has it, too, but its types do not say so.
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
