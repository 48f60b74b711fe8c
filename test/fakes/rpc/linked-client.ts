import type { LinkedEnd } from "../../../src/rpc/transport.ts";
import type { Notice, Received } from "./wire.ts";
import { noticesIn } from "./wire.ts";

export interface AskOptions {
  readonly id?: string;
  /** With (true) or without (false) `factoryProtocolVersion`; default: as the client was created. */
  readonly later?: boolean;
  readonly meta?: unknown;
}

/** A client at one end of a linked pair. It knows only the envelope, and records every line. */
export interface LinkedClient {
  readonly received: readonly Received[];
  /** The requests by id. */
  readonly methods: ReadonlyMap<string, string>;
  /** Number of lines so far; what a test checks comes after it. */
  readonly mark: number;
  sendRaw(line: string): void;
  /** Sends without waiting; returns the id. */
  ask(method: string, params: unknown, options?: AskOptions): string;
  /** Resolves with the response, a result or an error, even one that names the request only in its data. */
  request(method: string, params: unknown, options?: AskOptions): Promise<Received>;
  waitFor(holds: (message: Received) => boolean, from?: number): Promise<Received>;
  notice(type: string, from?: number): Promise<Notice>;
  state(newState: string, from?: number): Promise<Notice>;
  /** The next request from the other side. */
  asked(from?: number): Promise<Received & { readonly id: string }>;
  answer(id: string, result: unknown): void;
  answerError(id: string, error: unknown): void;
  /** Stops reading until `readOn`. */
  stopReading(): void;
  readOn(): void;
  /** Sends no more, but reads what still comes. */
  end(): void;
}

/** `later`: every line has the protocol version. */
export function createLinkedClient(end: LinkedEnd, { later = true } = {}): LinkedClient {
  const received: Received[] = [];
  const methods = new Map<string, string>();
  const listeners = new Set<() => void>();
  let mayRead: Promise<void> | undefined;
  let readOn = (): void => undefined;
  let lastId = 0;

  const read = async (): Promise<void> => {
    for await (const frame of end.incoming) {
      if (frame.type === "line") received.push(JSON.parse(frame.text) as Received);
      for (const listener of [...listeners]) listener();
      await mayRead;
    }
    for (const listener of [...listeners]) listener();
  };
  void read();

  const envelope = (withVersion = later): object => {
    const old = { jsonrpc: "2.0", factoryApiVersion: "1.0.0" };
    return withVersion ? { ...old, factoryProtocolVersion: "1.1.0" } : old;
  };
  const send = (message: object): void => end.send(JSON.stringify(message));
  const waitFor = (holds: (message: Received) => boolean, from = 0): Promise<Received> =>
    new Promise((resolve, reject) => {
      let next = from;
      const timer = setTimeout(() => stop(() => reject(new Error(`it never came:\n${lastOf(received)}`))), 3_000);
      const look = (): void => {
        while (next < received.length) {
          const message = received[next];
          next += 1;
          if (message === undefined || !holds(message)) continue;
          stop(() => resolve(message));
          return;
        }
      };
      const stop = (settle: () => void): void => {
        clearTimeout(timer);
        listeners.delete(look);
        settle();
      };
      listeners.add(look);
      look();
    });
  const ask = (method: string, params: unknown, { id, later: withVersion, meta }: AskOptions = {}): string => {
    lastId += 1;
    const ownId = id ?? `r${lastId}`;
    methods.set(ownId, method);
    const traced = meta === undefined ? {} : { _meta: meta };
    send({ ...envelope(withVersion), type: "request", id: ownId, method, params, ...traced });
    return ownId;
  };
  const noticeThat = async (holds: (notice: Notice) => boolean, from?: number): Promise<Notice> => {
    const message = await waitFor((each) => noticesIn([each]).some(holds), from);
    return noticesIn([message])[0] as Notice;
  };

  return {
    received,
    methods,
    get mark() {
      return received.length;
    },
    sendRaw: (line) => end.send(line),
    ask,
    request(method, params, options) {
      const from = received.length;
      const id = ask(method, params, options);
      return waitFor((message) => message.type === "response" && answeredId(message) === id, from);
    },
    waitFor,
    notice: (type, from) => noticeThat((notice) => notice.type === type, from),
    state: (newState, from) => noticeThat((notice) => notice.newState === newState, from),
    asked: async (from) =>
      (await waitFor((message) => message.type === "request", from)) as Received & { readonly id: string },
    answer: (id, result) => send({ ...envelope(), type: "response", id, result }),
    answerError: (id, error) => send({ ...envelope(), type: "response", id, error }),
    stopReading() {
      mayRead = new Promise((resolve) => {
        readOn = resolve;
      });
    },
    readOn: () => readOn(),
    end() {
      readOn();
      end.end();
    },
  };
}

/** The request that a response answers, even if only its data names it. */
export function answeredId({ id, error }: Received): string | undefined {
  if (typeof id === "string") return id;
  return (error?.data as { readonly requestId?: string } | undefined)?.requestId;
}

/** The lines in short form, so that whole conversations can be compared. */
export function storyOf(messages: readonly Received[]): string[] {
  return messages.map((message) => {
    if (message.type === "response")
      return `${message.error === undefined ? "result" : "error"} ${answeredId(message)}`;
    if (message.type === "request") return `request ${message.method}`;
    const [notice] = noticesIn([message]);
    if (notice === undefined) return `? ${JSON.stringify(message)}`;
    if (notice.type === "droid_working_state_changed") return `state ${String(notice.newState)}`;
    if (notice.type !== "create_message") return notice.type;
    return `create_message ${String((notice.message as { readonly role: string }).role)}`;
  });
}

function lastOf(messages: readonly Received[]): string {
  return messages
    .slice(-12)
    .map((message) => `  ${JSON.stringify(message).slice(0, 300)}`)
    .join("\n");
}
