import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import type { Capability } from "../access/capability.ts";
import type { Identity } from "../access/identity.ts";
import { settlesWithin } from "../async/promises.ts";
import { AgentError } from "../engine/errors.ts";
import type { ConnectionHandler } from "../frontends/front-end.ts";
import { errorMessage } from "../text/values.ts";
import { answer, answerRaw } from "./answers.ts";
import { type Connections, createConnections } from "./connections.ts";
import { type Cookies, createCookies } from "./cookies.ts";
import { type Credential, type Credentials, ownIdentity, type UserSource, watchCredentials } from "./credentials.ts";
import { createGatekeeper, type Gatekeeper, type Verdict } from "./gatekeeper.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { asHost, createAccess } from "./origin-check.ts";
import { type Answer, createRoutes, type Route, unauthorized } from "./routes.ts";

export interface HttpServerOptions {
  /** An address that `checkBinding` has passed. */
  readonly host: string;
  /** 0 means any free port. */
  readonly port: number;
  /** The source of tokens. Undefined: no tokens are required, and everyone is this machine's owner. */
  readonly auth: { readonly tokenFile: string; readonly users: UserSource } | undefined;
  readonly hosts: readonly string[];
  readonly origins: readonly string[];
  readonly limits: {
    readonly connections: number;
    readonly connectionsPerUser: number;
    readonly payloadBytes: number;
    readonly unsentBytes: number;
  };
  readonly timeouts: { readonly pingMs: number; readonly stalledMs: number; readonly drainMs: number };
  readonly mounted: Readonly<Record<string, ConnectionHandler>>;
  /** The capability that clients of a path need; absent: any token. */
  readonly needs?: Readonly<Record<string, Capability>>;
  /** Called for every removed token whose user has no other one with the same rights. */
  onUserGone?(identity: Identity): void;
  readonly log: Log;
  readonly metrics: Metrics;
  /** For tests. */
  readonly now?: () => number;
  readonly random?: (bytes: number) => Buffer;
  /** How often the token files are checked. */
  readonly lookEveryMs?: number;
  /** How long a client has to send its request. */
  readonly headersMs?: number;
  /** How long a client has to answer a close. */
  readonly graceMs?: number;
}

interface Served {
  readonly handler: ConnectionHandler;
  readonly credential: Credential;
}

interface TurnedAway {
  readonly given: Answer;
  readonly reason: string;
}

const goingAway = 1001;
/** Connections beyond the limit, for plain requests. */
const besides = 200;

/** A server that is not listening yet. Rejects with `config_invalid` when the files with tokens are wrong. */
export async function createHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { auth, limits, timeouts, log, metrics, lookEveryMs, onUserGone, headersMs = 10_000 } = options;
  const server = createServer({
    headersTimeout: headersMs,
    requestTimeout: 3 * headersMs,
    connectionsCheckingInterval: headersMs / 2,
    keepAliveTimeout: headersMs,
    // A missing Host is refused like a wrong one.
    requireHostHeader: false,
  });
  server.maxConnections = limits.connections + besides;
  const cookies = createCookies({ ...options, port: () => portOf(server) });
  const connections = createConnections({ ...limits, ...timeouts, log, metrics });
  const credentials =
    auth &&
    (await watchCredentials({
      ...auth,
      log,
      ...(lookEveryMs === undefined ? {} : { everyMs: lookEveryMs }),
      ...(onUserGone === undefined ? {} : { onUserGone }),
      onRevoked(credential) {
        cookies.drop(credential);
        connections.revoke(credential);
      },
    }));
  return new HttpServer({ options, server, cookies, connections, credentials });
}

interface Parts {
  readonly options: HttpServerOptions;
  readonly server: Server;
  readonly cookies: Cookies;
  readonly connections: Connections;
  readonly credentials: Credentials | undefined;
}

export class HttpServer {
  readonly routes: readonly Pick<Route, "path" | "method" | "needs" | "by" | "upgrades">[];
  private readonly parts: Parts;
  private readonly options: HttpServerOptions;
  private readonly gatekeeper: Gatekeeper;
  private readonly sockets: WebSocketServer;
  private readonly graceMs: number;
  /** By connection: the last response that was not sent yet. */
  private readonly owed = new WeakMap<Duplex, ServerResponse>();
  private isDraining = false;
  private stopping: Promise<void> | undefined;

  constructor(parts: Parts) {
    const { options, cookies, credentials } = parts;
    const { host, hosts, origins, metrics, mounted, needs = {}, limits, graceMs = 2_000 } = options;
    const isDraining = (): boolean => this.isDraining;
    const routes = createRoutes({ mounted: Object.keys(mounted), needs, cookies, metrics, origins, isDraining });
    const everybody: Credential = { hash: "", identity: ownIdentity };
    this.parts = parts;
    this.options = options;
    this.graceMs = graceMs;
    this.routes = routes;
    this.gatekeeper = createGatekeeper({
      routes,
      cookies,
      access: createAccess({ boundTo: host, hosts, origins }),
      byToken: (token) => credentials?.find(token),
      ...(credentials === undefined ? { everybody } : {}),
    });
    const socketOptions = {
      noServer: true,
      clientTracking: false,
      autoPong: false,
      perMessageDeflate: false,
      maxPayload: limits.payloadBytes,
      closeTimeout: graceMs,
      // The library would accept the first subprotocol offered, but none is supported.
      handleProtocols: () => false as const,
    };
    this.sockets = new WebSocketServer(socketOptions);
    this.serve();
  }

  /** Resolves when clients can connect. Rejects with `usage` where it cannot listen. */
  listen(): Promise<void> {
    return listen(this.parts.server, this.options.host, this.options.port);
  }

  /** The address that it listens on. */
  address(): { readonly host: string; readonly port: number; readonly url: string } {
    const { host } = this.options;
    const port = portOf(this.parts.server);
    return { host, port, url: `http://${asHost(host)}:${port}` };
  }

  /** Refuses new clients, notifies the others, waits for `idle` or the time limit, closes all with 1001, and stops. */
  async drain(idle: Promise<unknown>): Promise<void> {
    this.isDraining = true;
    this.parts.connections.drain();
    await settlesWithin(this.options.timeouts.drainMs, idle);
    await this.close();
  }

  /** Stops at once, closing all connections. */
  close(): Promise<void> {
    this.isDraining = true;
    this.stopping ??= this.stop();
    return this.stopping;
  }

  private async stop(): Promise<void> {
    const { server, credentials, connections } = this.parts;
    credentials?.stop();
    await connections.closeAll(goingAway, "server is stopping", this.graceMs);
    const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
    server.closeIdleConnections();
    const timer = setTimeout(() => server.closeAllConnections(), this.graceMs);
    await closed;
    clearTimeout(timer);
    this.options.metrics.stop();
  }

  private serve(): void {
    const { server } = this.parts;
    const { metrics } = this.options;
    const take = (request: IncomingMessage, response: ServerResponse): void => this.take(request, response);
    // Node would answer `Expect` itself, before the client was checked.
    const takeExpecting = (request: IncomingMessage, response: ServerResponse): void => {
      // Its body may or may not follow, so later data on this connection is ambiguous.
      response.setHeader("Connection", "close");
      take(request, response);
    };
    server.on("request", take);
    server.on("checkContinue", takeExpecting);
    server.on("checkExpectation", takeExpecting);
    server.on("upgrade", (request, socket, head) => this.upgrade(request, socket, head));
    server.on("connect", (request, socket) => this.takeTunnel(request, socket));
    this.sockets.on("wsClientError", (_, socket) => {
      metrics.connectionRefused("handshake");
      answerRaw(socket, { code: 400, body: "Malformed WebSocket handshake.\n" });
    });
    server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
      const code = codesOfErrors[error.code ?? ""] ?? 400;
      metrics.request("other", code);
      if (error.code === "ECONNRESET") socket.destroy();
      else answerRaw(socket, { code, body: "Malformed request.\n" });
    });
    server.on("drop", () => metrics.connectionRefused("limit"));
  }

  private take(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    this.owed.set(socket, response);
    response.once("close", () => {
      if (this.owed.get(socket) === response) this.owed.delete(socket);
    });
    this.answerTo(request)
      .then((given) => answer(response, given))
      .catch((error: unknown) => this.giveUp(response, error));
  }

  /** Without it, Node would close the connection without a trace in the log. */
  private takeTunnel(request: IncomingMessage, socket: Duplex): void {
    socket.on("error", () => socket.destroy());
    this.answerTo(request)
      .then((given) => this.answerInTurn(socket, given))
      .catch((error: unknown) => this.giveUp(socket, error));
  }

  private upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { metrics } = this.options;
    // Without a listener, a client that resets its connection now would end the process.
    socket.on("error", () => socket.destroy());
    const verdict = this.judge(request);
    const route = verdict.route?.path ?? "other";
    const found = this.serverOf(verdict, socket);
    if ("given" in found) {
      this.logLateRefusal(request, found.given);
      metrics.request(route, found.given.code);
      metrics.connectionRefused(found.reason);
      this.answerInTurn(socket, found.given);
      return;
    }
    this.sockets.handleUpgrade(request, socket, head, (webSocket) => {
      metrics.request(route, 101);
      this.parts.connections.add(webSocket, socket, route, found.handler, found.credential);
    });
  }

  /** The route that serves this client, or why it is refused. */
  private serverOf(verdict: Verdict, socket: Duplex): Served | TurnedAway {
    const { mounted, limits, log } = this.options;
    const { connections } = this.parts;
    if ("refusal" in verdict) return { given: verdict.refusal, reason: verdict.reason };
    const handler = mounted[verdict.route.path];
    const { credential } = verdict.asked;
    if (credential === undefined) return { given: { ...unauthorized, refused: "code" }, reason: "token" };
    if (handler === undefined) return { given: { code: 400, body: "No WebSocket at this path.\n" }, reason: "path" };
    // A response would end up among the WebSocket's frames.
    if (this.owed.has(socket)) {
      return {
        given: { code: 400, body: "An earlier request on this connection is still unanswered.\n" },
        reason: "handshake",
      };
    }
    if (this.isDraining) return { given: unavailable("The server is stopping."), reason: "draining" };
    const { user } = credential.identity;
    const isFull = connections.count >= limits.connections;
    if (!isFull && connections.countOf(user) < limits.connectionsPerUser) return { handler, credential };
    const reason = isFull ? "limit" : "user_limit";
    log.warn("connection.refused", { reason, user });
    return { given: unavailable(`Too many connections${isFull ? "" : " of this user"}.`), reason };
  }

  private async answerTo(request: IncomingMessage): Promise<Answer> {
    const verdict = this.judge(request);
    const given = "refusal" in verdict ? verdict.refusal : await verdict.route.answer(verdict.asked);
    this.logLateRefusal(request, given);
    this.options.metrics.request(verdict.route?.path ?? "other", given.code);
    return given;
  }

  /** After the answers to all earlier requests of the same connection. */
  private answerInTurn(socket: Duplex, given: Answer): void {
    const before = this.owed.get(socket);
    if (before === undefined) answerRaw(socket, given);
    else before.once("close", () => answerRaw(socket, given));
  }

  private judge(request: IncomingMessage): Verdict {
    const verdict = this.gatekeeper.judge(request);
    if ("refusal" in verdict) this.logRefusal(request, verdict.reason, verdict.refusal.code);
    return verdict;
  }

  private logRefusal({ method, url, socket }: IncomingMessage, reason: string, code: number): void {
    const path = url?.split("?", 1)[0];
    this.options.log.warn("access.refused", { reason, code, method, path, from: socket.remoteAddress });
  }

  /** A refusal by a route, after the gatekeeper has let the client pass. */
  private logLateRefusal(request: IncomingMessage, { refused, code }: Answer): void {
    if (refused !== undefined) this.logRefusal(request, refused, code);
  }

  private giveUp(asker: ServerResponse | Duplex, error: unknown): void {
    this.options.log.error("request.fault", { reason: errorMessage(error) });
    asker.destroy();
  }
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

const codesOfErrors: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

function unavailable(words: string): Answer {
  return { code: 503, body: `${words}\n`, headers: { "Retry-After": "5" } };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => reject(bindingError(error, host, port));
    server.once("error", failed);
    server.listen({ host, port }, () => {
      server.removeListener("error", failed);
      server.on("error", () => {});
      resolve();
    });
  });
}

function bindingError({ code, message }: NodeJS.ErrnoException, host: string, port: number): AgentError {
  const place = `Port ${port} of ${host}`;
  const words: Readonly<Record<string, string>> = {
    EADDRINUSE: `${place} is already in use. Choose another one with --port, or 0 for any free one.`,
    EACCES: `This user is not allowed to listen on ${place}. Choose a port above 1023 with --port.`,
    EADDRNOTAVAIL: `${host} is not an address of this machine.`,
    ENOTFOUND: `${host} is not an address of this machine.`,
  };
  return new AgentError("usage", words[code ?? ""] ?? `The server cannot listen on ${host}, port ${port}: ${message}.`);
}
