import type { ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { WebSocket } from "ws";
import type { Bench } from "../../e2e/tinman.ts";
import type { Frame } from "./follower.ts";

export interface ServeGiven {
  /** As for `-m`. */
  readonly model?: string;
  readonly config?: object;
  /** Tokens are required: the machine's own, and those of the configuration. */
  readonly auth?: boolean;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** The built `tinman serve`. */
export interface Program {
  readonly pid: number;
  readonly url: string;
  /** The log so far. */
  log(): readonly Record<string, unknown>[];
  stderr(): string;
  connect(options?: { readonly path?: string; readonly token?: string }): Promise<SocketClient>;
  get(path: string, token?: string): Promise<{ readonly code: number; readonly body: string }>;
  /** Its memory in bytes. */
  memory(): Promise<number>;
  kill(signal: NodeJS.Signals): void;
  readonly exit: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

let configs = 0;

/** Rejects with its output if it ends instead of listening. */
export async function startProgram(bench: Bench, given: ServeGiven = {}): Promise<Program> {
  const { model, config, auth = false, args = [], env = {} } = given;
  configs += 1;
  const file = join(bench.root, `config-${configs}.yaml`);
  if (config !== undefined) await writeFile(file, JSON.stringify(config));
  const child = bench.start(
    [
      ...["serve", "--port", "0", ...(auth ? [] : ["--no-auth"])],
      ...(model === undefined ? [] : ["-m", model]),
      ...(config === undefined ? [] : ["--config", file]),
      ...args,
    ],
    { env },
  );
  child.stdin?.end();
  const said: Buffer[] = [];
  child.stderr?.on("data", (chunk: Buffer) => said.push(chunk));
  const stderr = (): string => Buffer.concat(said).toString();
  const exit = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.on("close", (code, signal) => resolve({ code, signal }));
  });
  const url = await listening(child, exit, stderr);
  const log = (): Record<string, unknown>[] =>
    stderr()
      .split("\n")
      .flatMap((line) => (line.startsWith("{") && line.endsWith("}") ? [JSON.parse(line)] : []));
  const headers = (token?: string): Record<string, string> =>
    token === undefined ? {} : { authorization: `Bearer ${token}` };
  return {
    pid: child.pid ?? 0,
    url,
    log,
    stderr,
    exit,
    connect: ({ path = "/ws", token } = {}) => openSocket(`${url.replace("http", "ws")}${path}`, headers(token)),
    async get(path, token) {
      const response = await fetch(`${url}${path}`, { headers: { ...headers(token), connection: "close" } });
      return { code: response.status, body: await response.text() };
    },
    async memory() {
      const { readFile } = await import("node:fs/promises");
      const kilobytes = /VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${child.pid}/status`, "utf8"))?.[1];
      return Number(kilobytes) * 1024;
    },
    kill: (signal) => void child.kill(signal),
  };
}

async function listening(child: ChildProcess, exit: Promise<unknown>, stderr: () => string): Promise<string> {
  const line = new Promise<string>((resolve) => {
    if (child.stdout !== null) createInterface({ input: child.stdout }).once("line", resolve);
  });
  const first = await Promise.race([line, exit]);
  const url = typeof first === "string" ? /listening on (\S+)/.exec(first)?.[1] : undefined;
  if (url === undefined) throw new Error(`it does not serve: ${stderr()}`);
  return url;
}

/** A client that records frames in order. */
export interface SocketClient {
  readonly socket: WebSocket;
  readonly frames: Frame[];
  raw(data: string | Buffer): void;
  request(method: string, params?: unknown): Promise<Frame>;
  /** Resolves with the next matching frame not yet returned by an earlier call. */
  until(holds: (frame: Frame) => boolean): Promise<Frame>;
  /** Called with every frame. */
  onFrame(listener: (frame: Frame) => void): void;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
}

export async function openSocket(url: string, headers: Record<string, string> = {}): Promise<SocketClient> {
  const socket = new WebSocket(url, { headers, maxPayload: 64 * 1024 * 1024 });
  const frames: Frame[] = [];
  const listeners: ((frame: Frame) => void)[] = [];
  let waiting: (() => void)[] = [];
  const wake = (): void => {
    const all = waiting;
    waiting = [];
    for (const goOn of all) goOn();
  };
  let isOver = false;
  let taken = 0;
  let ids = 0;
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on("close", (code, reason) => {
      isOver = true;
      wake();
      resolve({ code, reason: String(reason) });
    });
  });
  socket.on("message", (data) => {
    const frame = JSON.parse(String(data)) as Frame;
    frames.push(frame);
    for (const listener of listeners) listener(frame);
    wake();
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  socket.on("error", () => undefined);
  const find = async (holds: (frame: Frame) => boolean, from: () => number): Promise<number> => {
    for (let at = from(); ; at += 1) {
      while (at >= frames.length) {
        if (isOver) throw new Error("the connection is over");
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
      if (holds(frames[at] ?? {})) return at;
    }
  };
  return {
    socket,
    frames,
    closed,
    raw: (data) => socket.send(data),
    async request(method, params) {
      ids += 1;
      const id = `r${ids}`;
      const from = frames.length;
      socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) }));
      const at = await find(
        (frame) => frame.id === id,
        () => from,
      );
      return frames[at] ?? {};
    },
    async until(holds) {
      const at = await find(holds, () => taken);
      taken = at + 1;
      return frames[at] ?? {};
    },
    onFrame: (listener) => void listeners.push(listener),
  };
}

/** A user for the configuration, and the token. */
export function userOf(name: string, role: "admin" | "user" | "viewer"): { entry: object; token: string } {
  const token = `${name}-token-of-a-test`;
  const hash = createHash("sha256").update(token).digest("hex");
  return { token, entry: { name, role, tokens: [`sha256:${hash}`] } };
}

/** Information for the operator only. */
const internals =
  /\.jsonl|node_modules|node:internal|dist\/|\n\s+at |ENOSPC|EACCES|ENOENT|EROFS|EFBIG|EISDIR|AgentError|ZodError|TypeError|SyntaxError|RangeError|Refusal/;

/** Texts that clients received but should not have. */
export function leaksIn(frames: readonly Frame[], ...words: readonly string[]): string[] {
  return frames
    .map((frame) => JSON.stringify(frame))
    .filter((text) => internals.test(text) || words.some((word) => text.includes(word)))
    .map((text) => text.slice(0, 300));
}
