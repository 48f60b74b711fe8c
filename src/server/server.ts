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
import { createConnections } from "./connections.ts";
import { createCookies } from "./cookies.ts";
import { type Credential, ownIdentity, type UserSource, watchCredentials } from "./credentials.ts";
import { createGatekeeper, type Verdict } from "./gatekeeper.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { asHost, createAccess } from "./origin-check.ts";
import { type Answer, createRoutes, type Route, unauthorized } from "./routes.ts";

export interface HttpServerOptions {
  /** An address that `checkBinding` has passed. */
  readonly host: string;
  /** 0: any. */
  readonly port: number;
  /** Where tokens come from; `undefined`: nobody is asked for one, and everybody is this machine's owner. */
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
  /** Who serves the WebSockets, by path. */
  readonly mounted: Readonly<Record<string, ConnectionHandler>>;
  /** What a client of these paths must be able to do; nothing but have a token where one is left out. */
  readonly needs?: Readonly<Record<string, Capability>>;
  /** Told of every lost token whose user has no other one that can do as much. */
  onUserGone?(identity: Identity): void;
  readonly log: Log;
  readonly metrics: Metrics;
  /** For tests. */
  readonly now?: () => number;
  readonly random?: (bytes: number) => Buffer;
  /** How often the files with tokens are looked at. */
  readonly lookEveryMs?: number;
  /** How long a client has to say what it wants. */
  readonly headersMs?: number;
  /** How long a client has to answer a close. */
  readonly graceMs?: number;
}

export interface HttpServer {
  readonly routes: readonly Pick<Route, "path" | "method" | "needs" | "by" | "upgrades">[];
  /** Resolves when clients can come. Rejects with `usage` where it cannot listen. */
  listen(): Promise<void>;
  /** Where it listens. */
  address(): { readonly host: string; readonly port: number; readonly url: string };
  /**
   * Takes nobody in any more, tells those that are there, waits until `idle` or until the time for it is over, closes all
   * with 1001, and stops.
   */
  drain(idle: Promise<unknown>): Promise<void>;
  /** Stops, and waits for nothing but the close of its connections. */
  close(): Promise<void>;
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
/** Connections that say nothing, or only ask; they are gone soon. */
const besides = 200;

/** A server that is not listening yet. Rejects with `config_invalid` when the files with tokens are wrong. */
export async function createHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { host, port, auth, limits, timeouts, mounted, log, metrics, graceMs = 2_000, headersMs = 10_000 } = options;
  let isDraining = false;
  let stopping: Promise<void> | undefined;
  const boundPort = (): number => (server.address() as AddressInfo).port;
  const cookies = createCookies({ ...options, port: boundPort });
  const connections = createConnections({ ...limits, ...timeouts, log, metrics });
  const credentials =
    auth &&
    (await watchCredentials({
      ...auth,
      log,
      ...(options.lookEveryMs === undefined ? {} : { everyMs: options.lookEveryMs }),
      ...(options.onUserGone === undefined ? {} : { onUserGone: options.onUserGone }),
      onRevoked(credential) {
        cookies.drop(credential);
        connections.revoke(credential);
      },
    }));
  const routes = createRoutes({
    mounted: Object.keys(mounted),
    needs: options.needs ?? {},
    cookies,
    metrics,
    origins: options.origins,
    isDraining: () => isDraining,
  });
  const everybody: Credential = { hash: "", identity: ownIdentity };
  const gatekeeper = createGatekeeper({
    routes,
    cookies,
    access: createAccess({ boundTo: host, hosts: options.hosts, origins: options.origins }),
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
    // The library would accept the first subprotocol that a client offers, and none is spoken here.
    handleProtocols: () => false as const,
  };
  const sockets = new WebSocketServer(socketOptions);
  const server = createServer({
    headersTimeout: headersMs,
    requestTimeout: 3 * headersMs,
    connectionsCheckingInterval: headersMs / 2,
    keepAliveTimeout: headersMs,
    // A request without it is turned away as one with a wrong one is.
    requireHostHeader: false,
  });
  server.maxConnections = limits.connections + besides;
  /** By connection: the last response that has not left yet. */
  const owed = new WeakMap<Duplex, ServerResponse>();

  function tellRefusal({ method, url, socket }: IncomingMessage, reason: string, code: number): void {
    log.warn("access.refused", { reason, code, method, path: url?.split("?", 1)[0], from: socket.remoteAddress });
  }

  /** Of somebody whom the gatekeeper has let pass. */
  function tellLateRefusal(request: IncomingMessage, { refused, code }: Answer): void {
    if (refused !== undefined) tellRefusal(request, refused, code);
  }

  function judge(request: IncomingMessage): Verdict {
    const verdict = gatekeeper.judge(request);
    if ("refusal" in verdict) tellRefusal(request, verdict.reason, verdict.refusal.code);
    return verdict;
  }

  async function answerTo(request: IncomingMessage): Promise<Answer> {
    const verdict = judge(request);
    const given = "refusal" in verdict ? verdict.refusal : await verdict.route.answer(verdict.asked);
    tellLateRefusal(request, given);
    metrics.request(verdict.route?.path ?? "other", given.code);
    return given;
  }

  /** After everything that was asked for before it on the same connection. */
  function answerInTurn(socket: Duplex, given: Answer): void {
    const before = owed.get(socket);
    if (before === undefined) answerRaw(socket, given);
    else before.once("close", () => answerRaw(socket, given));
  }

  /** Who serves this client, or why nobody does. */
  function serverOf(verdict: Verdict, socket: Duplex): Served | TurnedAway {
    if ("refusal" in verdict) return { given: verdict.refusal, reason: verdict.reason };
    const handler = mounted[verdict.route.path];
    const { credential } = verdict.asked;
    if (credential === undefined) return { given: { ...unauthorized, refused: "code" }, reason: "token" };
    if (handler === undefined) return { given: { code: 400, body: "There is no WebSocket here.\n" }, reason: "path" };
    // It would come in the middle of what the WebSocket says.
    if (owed.has(socket)) return { given: { code: 400, body: "An answer is still owed here.\n" }, reason: "handshake" };
    if (isDraining) return { given: unavailable("The server is stopping."), reason: "draining" };
    const { user } = credential.identity;
    const isFull = connections.count >= limits.connections;
    if (!isFull && connections.countOf(user) < limits.connectionsPerUser) return { handler, credential };
    const reason = isFull ? "limit" : "user_limit";
    log.warn("connection.refused", { reason, user });
    return { given: unavailable(`There are too many connections${isFull ? "" : " of yours"}.`), reason };
  }

  function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // A client that resets its connection now would otherwise end the process.
    socket.on("error", () => socket.destroy());
    const verdict = judge(request);
    const route = verdict.route?.path ?? "other";
    const found = serverOf(verdict, socket);
    if ("given" in found) {
      tellLateRefusal(request, found.given);
      metrics.request(route, found.given.code);
      metrics.connectionRefused(found.reason);
      answerInTurn(socket, found.given);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      metrics.request(route, 101);
      connections.add(webSocket, socket, route, found.handler, found.credential);
    });
  }

  function take(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    owed.set(socket, response);
    response.once("close", () => {
      if (owed.get(socket) === response) owed.delete(socket);
    });
    answerTo(request)
      .then((given) => answer(response, given))
      .catch((error: unknown) => giveUp(response, error));
  }

  function giveUp(asker: ServerResponse | Duplex, error: unknown): void {
    log.error("request.fault", { reason: errorMessage(error) });
    asker.destroy();
  }

  /** Node would hang up on whoever asks for one, and nobody would know. */
  function takeTunnel(request: IncomingMessage, socket: Duplex): void {
    socket.on("error", () => socket.destroy());
    answerTo(request)
      .then((given) => answerInTurn(socket, given))
      .catch((error: unknown) => giveUp(socket, error));
  }

  /** Node would answer one with `Expect` itself, before anybody has looked at who asks. */
  function takeExpecting(request: IncomingMessage, response: ServerResponse): void {
    // Whether its body comes nobody knows, so nothing that comes may be taken for a further request.
    response.setHeader("Connection", "close");
    take(request, response);
  }

  server.on("request", take);
  server.on("checkContinue", takeExpecting);
  server.on("checkExpectation", takeExpecting);
  server.on("upgrade", upgrade);
  server.on("connect", takeTunnel);
  sockets.on("wsClientError", (_, socket) => {
    metrics.connectionRefused("handshake");
    answerRaw(socket, { code: 400, body: "This is no WebSocket handshake.\n" });
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const code = codesOfErrors[error.code ?? ""] ?? 400;
    metrics.request("other", code);
    if (error.code === "ECONNRESET") socket.destroy();
    else answerRaw(socket, { code, body: "This is no request.\n" });
  });
  server.on("drop", () => metrics.connectionRefused("limit"));

  async function stop(): Promise<void> {
    credentials?.stop();
    await connections.closeAll(goingAway, "server is stopping", graceMs);
    const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
    server.closeIdleConnections();
    const timer = setTimeout(() => server.closeAllConnections(), graceMs);
    await closed;
    clearTimeout(timer);
    metrics.stop();
  }

  return {
    routes,
    listen: () => listen(server, host, port),
    address() {
      return { host, port: boundPort(), url: `http://${asHost(host)}:${boundPort()}` };
    },
    async drain(idle) {
      isDraining = true;
      connections.drain();
      await settlesWithin(timeouts.drainMs, idle);
      stopping ??= stop();
      await stopping;
    },
    close() {
      isDraining = true;
      stopping ??= stop();
      return stopping;
    },
  };
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
    EADDRINUSE: `${place} is in use already. Choose another one with --port; 0 is any that is free.`,
    EACCES: `${place} may not be listened on by this user. Choose one above 1023 with --port.`,
    EADDRNOTAVAIL: `${host} is no address of this machine.`,
    ENOTFOUND: `${host} is no address of this machine.`,
  };
  return new AgentError("usage", words[code ?? ""] ?? `The server cannot listen on ${host}, port ${port}: ${message}.`);
}
