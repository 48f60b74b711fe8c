import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type ClientOptions, WebSocket } from "ws";
import type { Identity } from "../../src/access/identity.ts";
import type { ConnectionHandler } from "../../src/frontends/front-end.ts";
import type { ServedSocket } from "../../src/rpc/web-socket.ts";
import type { NamedUser } from "../../src/server/credentials.ts";
import { createLog, type LogLevel } from "../../src/server/log.ts";
import { createMetrics } from "../../src/server/metrics.ts";
import { createHttpServer, type HttpServer, type HttpServerOptions } from "../../src/server/server.ts";
import { hashOf } from "../../src/server/token-file.ts";

export interface Reply {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** One client as seen by the server. */
export interface Seen {
  readonly socket: ServedSocket;
  readonly identity: Identity;
  readonly lines: string[];
  readonly calls: string[];
}

export interface Served {
  readonly server: HttpServer;
  readonly home: string;
  readonly port: number;
  /** This machine's own token. */
  readonly token: string;
  readonly log: () => readonly Record<string, unknown>[];
  readonly seen: readonly Seen[];
  ask(path: string, options?: { method?: string; headers?: Record<string, string | string[]> }): Promise<Reply>;
  /** The complete response to these bytes, until the server closes. */
  raw(text: string): Promise<string>;
  tcp(): Socket;
  open(path?: string, options?: ClientOptions & { token?: string | undefined }): Promise<WebSocket>;
}

export const tokens = { ann: "ann-token", vic: "vic-token", ada: "ada-token" };
export const users: readonly NamedUser[] = [
  { name: "ann", role: "user", tokens: [hashOf(tokens.ann)] },
  { name: "vic", role: "viewer", tokens: [hashOf(tokens.vic)] },
  { name: "ada", role: "admin", tokens: [hashOf(tokens.ada)] },
];

export const usualLimits: HttpServerOptions["limits"] = {
  connections: 100,
  connectionsPerUser: 100,
  payloadBytes: 1024 * 1024,
  unsentBytes: 16 * 1024 * 1024,
};

/** Echoes every line, and ignores the stop. */
export function echoing(seen: Seen[] = []): ConnectionHandler {
  return (socket, identity) => {
    const one: Seen = { socket, identity, lines: [], calls: [] };
    seen.push(one);
    void (async () => {
      for await (const frame of socket.transport.incoming) {
        if (frame.type !== "line") continue;
        one.lines.push(frame.text);
        socket.transport.send(frame.text);
      }
      one.calls.push("end");
    })();
    return { drain: () => void one.calls.push("drain"), closed: () => void one.calls.push("closed") };
  };
}

/** A folder that is removed after the test. */
export async function newHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "tinman-http-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  return home;
}

/** A server on a free port of this machine, closed after the test. */
export async function serve(
  changes: Partial<HttpServerOptions> & {
    readonly noAuth?: true;
    readonly logLevel?: LogLevel;
    readonly loadUsers?: (home: string) => Promise<readonly NamedUser[]>;
    readonly home?: string;
  } = {},
): Promise<Served> {
  const home = changes.home ?? (await newHome());
  const lines: Record<string, unknown>[] = [];
  const seen: Seen[] = [];
  const { noAuth, logLevel = "debug", loadUsers = async () => users, home: _, ...rest } = changes;
  const output = {
    isTerminal: false,
    columns: 80,
    gone: new AbortController().signal,
    write: async (text: string) => void lines.push(JSON.parse(text) as Record<string, unknown>),
  };
  const tokenFile = join(home, "serve-token");
  const configFile = join(home, "config.yaml");
  if (changes.loadUsers === undefined) await writeFile(configFile, "");
  const server = await createHttpServer({
    host: "127.0.0.1",
    port: 0,
    auth: noAuth ? undefined : { tokenFile, users: { file: configFile, load: () => loadUsers(home) } },
    hosts: [],
    origins: [],
    limits: usualLimits,
    timeouts: { pingMs: 60_000, stalledMs: 60_000, drainMs: 60_000 },
    mounted: { "/ws": echoing(seen), "/rpc": echoing(seen) },
    log: createLog(output, logLevel),
    metrics: createMetrics({ version: "0.0.0" }),
    graceMs: 500,
    ...rest,
  });
  onTestFinished(() => server.close());
  await server.listen();
  const { port } = server.address();
  const token = noAuth ? "" : (await readFile(tokenFile, "utf8")).trim();

  function tcp(): Socket {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    onTestFinished(() => void socket.destroy());
    return socket;
  }

  return {
    server,
    home,
    port,
    token,
    seen,
    log: () => lines,
    tcp,
    ask: (path, { method = "GET", headers = {} } = {}) =>
      new Promise((resolve, reject) => {
        const asked = httpRequest({ host: "127.0.0.1", port, path, method, headers, agent: false }, (response) => {
          let body = "";
          response.setEncoding("utf8");
          response.on("data", (text: string) => {
            body += text;
          });
          response.on("end", () => resolve({ code: response.statusCode ?? 0, headers: response.headers, body }));
        });
        asked.on("error", reject);
        asked.end();
      }),
    raw: (text) =>
      new Promise((resolve) => {
        const socket = tcp();
        let all = "";
        socket.setEncoding("latin1");
        socket.on("data", (part: string) => {
          all += part;
        });
        socket.on("close", () => resolve(all));
        socket.write(text);
      }),
    open: (path = "/ws", { token: given = token, ...options } = {}) =>
      new Promise((resolve, reject) => {
        const headers = { ...(given === "" ? {} : { Authorization: `Bearer ${given}` }), ...options.headers };
        const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { ...options, headers });
        onTestFinished(() => socket.terminate());
        socket.on("open", () => resolve(socket));
        socket.on("error", reject);
      }),
  };
}

export const bearer = (token: string): Record<string, string> => ({ Authorization: `Bearer ${token}` });

/** The response to an upgrade, or 101. */
export async function upgradeCode(served: Served, path: string, headers: Record<string, string>): Promise<number> {
  const opened = await served.open(path, { token: "", headers }).catch((error: Error) => error);
  if (opened instanceof WebSocket) return 101;
  return Number(/Unexpected server response: (\d+)/.exec(opened.message)?.[1]);
}

/** How a socket was closed. */
export function closeOf(socket: WebSocket): Promise<{ readonly code: number; readonly reason: string }> {
  return new Promise((resolve) => {
    socket.on("close", (code, reason) => resolve({ code, reason: reason.toString() }));
  });
}

export function nextText(socket: WebSocket): Promise<string> {
  return new Promise((resolve) => void socket.once("message", (data: Buffer) => resolve(data.toString())));
}

/** Until a condition holds; the test's own timeout is the limit. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 5));
}
