import { randomUUID } from "node:crypto";
import type { Bench, RunOptions } from "../../e2e/tinman.ts";
import { withoutOfflineLine } from "../../e2e/tinman.ts";

/** The content of `params.notification`. */
export interface Notice extends Readonly<Record<string, unknown>> {
  readonly type: string;
}

/** A line of the program, unchanged. It is known only to be one JSON object. */
export interface Received extends Readonly<Record<string, unknown>> {
  readonly type?: string;
  readonly id?: string | null;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>> & { readonly notification?: Notice };
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
}

export interface WireOptions extends RunOptions {
  /** Instead of `exec` and the two formats. */
  readonly command?: readonly string[];
  /** After the two formats. */
  readonly args?: readonly string[];
  /** Sent as `factoryProtocolVersion` with every message, unless a request overrides it. */
  readonly protocolVersion?: string;
  /** Time limit for anything to arrive. */
  readonly patienceMs?: number;
  /** Records nothing; only listeners get messages. */
  readonly forgets?: boolean;
}

export interface RequestOptions {
  readonly id?: string;
  /** With (true) or without (false) `factoryProtocolVersion`. */
  readonly later?: boolean;
  readonly meta?: Readonly<Record<string, string>>;
  readonly patienceMs?: number;
}

/** A client that knows only the framing: it sends the given lines, and records every line. */
export interface Wire {
  readonly received: readonly Received[];
  readonly sent: readonly Readonly<Record<string, unknown>>[];
  readonly pid: number;
  send(message: object): void;
  /** In one write. */
  sendRaw(text: string | Uint8Array): void;
  /** Resolves with the response, a result or an error. A response without an id belongs to no request. */
  request(method: string, params: object, options?: RequestOptions): Promise<Received>;
  /** The first matching message at or after position `from`, past or future. */
  waitFor(holds: (message: Received) => boolean, what: string, from?: number): Promise<Received>;
  waitForNotice(type: string, from?: number, more?: Readonly<Record<string, unknown>>): Promise<Notice>;
  answer(request: Received, result: object): void;
  answerError(request: Received, error: object): void;
  /** Called with every message from now on. Returns an unsubscribe function. */
  subscribe(listener: (message: Received) => void): () => void;
  eof(): void;
  /** Stops reading, so the program writes to a full pipe. */
  hangUp(): void;
  kill(signal: NodeJS.Signals): void;
  /** Resolves when the program is gone; rejects if it stays (it is killed then), or wrote anything but JSON objects. */
  exit(): Promise<Exit>;
}

const laterVersion = "1.1.0";
const rpcCommand = ["exec", "--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"];

export function openWire(bench: Bench, options: WireOptions = {}): Wire {
  const { command = rpcCommand, args = [], protocolVersion, patienceMs = 15_000, forgets = false, ...run } = options;
  const child = bench.start([...command, ...args], run);
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new Error("The program was started without pipes.");

  const received: Received[] = [];
  const sent: Record<string, unknown>[] = [];
  const listeners = new Set<(message: Received) => void>();
  /** Called when nothing more will come, or after a protocol violation. */
  const givingUp = new Set<(why: string) => void>();
  let faults: string | undefined;
  let over: string | undefined;
  let errors = "";
  let rest = "";

  const giveUp = (why: string): void => {
    for (const tell of [...givingUp]) tell(why);
  };
  const take = (line: string): void => {
    const message = objectIn(line);
    if (message === undefined) {
      faults ??= `not one JSON object: ${JSON.stringify(line.slice(0, 300))}`;
      giveUp(faults);
      return;
    }
    if (!forgets) received.push(message);
    for (const listener of [...listeners]) listener(message);
  };
  stdout.setEncoding("utf8");
  stdout.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) take(line);
  });
  stderr.setEncoding("utf8");
  stderr.on("data", (text: string) => {
    errors += text;
  });
  // An ended program is detected by its exit.
  stdin.on("error", () => undefined);
  const closed = new Promise<Exit>((resolve) => {
    child.on("error", (error) => giveUp(error.message));
    child.on("close", (code, signal) => {
      if (rest !== "") take(rest);
      over = `the program has ended (${signal ?? code})`;
      resolve({ code, signal, stderr: withoutOfflineLine(errors) });
      giveUp(over);
    });
  });

  const within = <T>(promise: Promise<T>, what: string, limitMs = patienceMs): Promise<T> => {
    let timer: NodeJS.Timeout | undefined;
    let tell: ((why: string) => void) | undefined;
    const ending = new Promise<never>((_, reject) => {
      tell = (why) => reject(new Error(`${why}, while waiting for ${what}\n${lastWords()}`));
      givingUp.add(tell);
      timer = setTimeout(() => tell?.(`nothing within ${limitMs} ms`), limitMs);
      const why = faults ?? over;
      if (why !== undefined) tell(why);
    });
    return Promise.race([promise, ending]).finally(() => {
      clearTimeout(timer);
      if (tell !== undefined) givingUp.delete(tell);
    });
  };
  const lastWords = (): string => {
    const last = received.slice(-12).map((message) => `  ${JSON.stringify(message).slice(0, 400)}`);
    return ["last messages:", ...last, `stderr: ${JSON.stringify(errors.slice(-2000))}`].join("\n");
  };

  const sendRaw = (text: string | Uint8Array): void => {
    stdin.write(text);
  };
  const send = (message: object): void => {
    sent.push({ ...message });
    sendRaw(`${JSON.stringify(message)}\n`);
  };
  const envelope = (later: boolean | undefined): object => {
    const version = later === undefined ? protocolVersion : later ? (protocolVersion ?? laterVersion) : undefined;
    const old = { jsonrpc: "2.0", factoryApiVersion: "1.0.0" };
    return version === undefined ? old : { ...old, factoryProtocolVersion: version };
  };
  const waitFor = async (holds: (message: Received) => boolean, what: string, from = 0): Promise<Received> => {
    const found = received.slice(from).find(holds);
    if (found !== undefined) return found;
    let stop = (): void => undefined;
    const coming = new Promise<Received>((resolve) => {
      stop = subscribe((message) => {
        if (holds(message)) resolve(message);
      });
    });
    return within(coming, what).finally(stop);
  };
  const subscribe = (listener: (message: Received) => void): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };

  return {
    received,
    sent,
    pid: child.pid ?? -1,
    send,
    sendRaw,
    request: async (method, params, { id = randomUUID(), later, meta, patienceMs: limit } = {}) => {
      let stop = (): void => undefined;
      const coming = new Promise<Received>((resolve) => {
        stop = subscribe((message) => {
          if (message.type === "response" && message.id === id) resolve(message);
        });
      });
      const traced = meta === undefined ? {} : { _meta: meta };
      send({ ...envelope(later), type: "request", id, method, params, ...traced });
      return within(coming, `the response to ${method}`, limit).finally(stop);
    },
    waitFor,
    waitForNotice: async (type, from, more = {}) => {
      const wanted = Object.entries(more);
      const holds = (notice: Notice): boolean =>
        notice.type === type && wanted.every(([key, value]) => notice[key] === value);
      const what = `${type} ${wanted.length === 0 ? "" : JSON.stringify(more)}`.trim();
      const message = await waitFor((each) => noticesIn([each]).some(holds), what, from);
      return noticesIn([message])[0] as Notice;
    },
    answer: (request, result) => send({ ...envelope(undefined), type: "response", id: request.id, result }),
    answerError: (request, error) => send({ ...envelope(undefined), type: "response", id: request.id, error }),
    subscribe,
    eof: () => {
      stdin.end();
    },
    hangUp: () => {
      stdout.destroy();
    },
    kill: (signal) => {
      child.kill(signal);
    },
    exit: async () => {
      const exit = await (over === undefined ? within(closed, "the end of the program") : closed).catch((error) => {
        child.kill("SIGKILL");
        throw error;
      });
      if (faults !== undefined) throw new Error(faults);
      return exit;
    },
  };
}

/** The payloads of the notifications among these messages, in order. */
export function noticesIn(messages: readonly Received[]): readonly Notice[] {
  return messages.flatMap(({ type, params }) =>
    type === "notification" && params?.notification !== undefined ? [params.notification] : [],
  );
}

function objectIn(line: string): Received | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Received) : undefined;
  } catch {
    return undefined;
  }
}
