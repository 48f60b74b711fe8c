import { PassThrough } from "node:stream";
import { type ConnectOptions, runConnect } from "../../src/connect/connect.ts";
import type { HandledSignal } from "../../src/frontends/exit-codes.ts";
import type { Output } from "../../src/frontends/front-end.ts";
import { createFakeServer, type FakeServer, type Turn } from "./fake-server.ts";

export interface Recorder extends Output {
  text(): string;
  /** The reader is blocked until released. */
  hold(): () => void;
  leave(): void;
}

export function recorder(isTerminal: boolean, more: (text: string) => void = () => undefined): Recorder {
  const gone = new AbortController();
  let text = "";
  let held: Promise<void> | undefined;
  return {
    isTerminal,
    columns: 80,
    gone: gone.signal,
    text: () => text,
    hold() {
      let letGo = (): void => undefined;
      held = new Promise((resolve) => {
        letGo = () => resolve();
      });
      return letGo;
    },
    leave: () => gone.abort(Object.assign(new Error("the reader left"), { code: "EPIPE" })),
    async write(piece) {
      await held;
      if (gone.signal.aborted) return;
      text += piece;
      more(piece);
    },
  };
}

export interface Connected {
  readonly server: FakeServer;
  readonly stdout: Recorder;
  readonly stderr: Recorder;
  /** Text that is typed, or arrives through the pipe. */
  readonly input: PassThrough;
  /** Resolves with the exit code. */
  readonly code: Promise<number>;
  signal(name: HandledSignal): void;
  /** Resolves when this text was printed, this many times. */
  said(words: string, times?: number): Promise<void>;
}

export interface ConnectedOptions extends Partial<Omit<ConnectOptions, "input" | "target">> {
  /** A person at a terminal. */
  readonly isPerson?: boolean;
  /** Standard error goes to a file. */
  readonly isLogged?: boolean;
  readonly token?: string;
  readonly server?: FakeServer;
  /** Another server than the fake. */
  readonly url?: string;
  readonly stdin?: string;
}

const opened: (() => unknown)[] = [];

/** Ends everything that the test has started. */
export async function closeAll(): Promise<void> {
  for (const close of opened.splice(0).reverse()) await close();
}

export async function fakeServer(answer: (turn: Turn) => unknown): Promise<FakeServer> {
  const server = await createFakeServer(answer);
  opened.push(server.close);
  return server;
}

/** Echoes the message in two pieces. */
export function parrot(turn: Turn): void {
  turn.chunk("You said: ");
  turn.chunk(turn.message);
  turn.end();
}

/** The client in this process, with a server. */
export async function connected(answer: (turn: Turn) => unknown, options: ConnectedOptions = {}): Promise<Connected> {
  const { isPerson = false, isLogged = false, token, stdin, server = await fakeServer(answer), ...others } = options;
  const { url = server.url, ...rest } = others;
  const input = new PassThrough();
  const listeners = new Set<(signal: HandledSignal) => void>();
  let waiting: (() => void)[] = [];
  const look = (): void => {
    for (const one of waiting) one();
  };
  const [stdout, stderr] = [recorder(isPerson, look), recorder(isPerson && !isLogged, look)];
  // Without readline's drawing of the prompt and input.
  const drawn = new PassThrough();
  drawn.resume();
  const code = runConnect(
    {
      stdout,
      stderr,
      onSignal(callback) {
        listeners.add(callback);
        return () => listeners.delete(callback);
      },
    },
    {
      target: { url: new URL(url), token, tokenWords: "No token given." },
      start: { userId: "ann", sessionParams: {} },
      isJson: false,
      input: isPerson ? { terminal: { input, output: drawn } } : { lines: input },
      pauseMs: () => 1,
      ...rest,
    },
  );
  if (stdin !== undefined) input.end(stdin);
  opened.push(async () => {
    for (const listener of listeners) listener("SIGTERM");
    await code;
  });
  return {
    server,
    stdout,
    stderr,
    input,
    code,
    signal(name) {
      for (const listener of listeners) listener(name);
    },
    said: (words, times = 1) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (`${stdout.text()}\n${stderr.text()}`.split(words).length <= times) return;
          waiting = waiting.filter((one) => one !== check);
          resolve();
        };
        waiting.push(check);
        check();
      }),
  };
}
