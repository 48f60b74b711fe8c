import { isIP, connect as openSocket, type Socket } from "node:net";
import { after } from "../../async/after.ts";
import { onAbort } from "../../async/on-abort.ts";
import { aborted, brokenOff, connectFailure, timedOut } from "../failure.ts";
import type { Network } from "../network.ts";
import { NetworkError } from "../network-error.ts";
import type { Pool } from "./pool.ts";
import { describeProxy, type ProxyServer } from "./proxy.ts";
import { describeRoute, type Route } from "./route.ts";
import { openTunnel } from "./tunnel.ts";

export interface ConnectOptions {
  readonly network: Network;
  readonly pool: Pool;
  readonly connectMs: number;
  readonly signal: AbortSignal | undefined;
}

/** Time for each of a host's addresses. Node's default of 250 ms is too short for slow networks. */
const addressAttemptMs = 500;

/** Opens a connection ready for HTTP. Rejects with `NetworkError` after closing whatever it opened. */
export function connect(route: Route, options: ConnectOptions): Promise<Socket> {
  const { connectMs, signal } = options;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(aborted(route.where));
      return;
    }
    const opened: Socket[] = [];
    const stage: Stage = { proxyAwaited: route.proxy };
    let settled = false;
    const settle = () => {
      settled = true;
      clearTimeout(timer);
      stopListening();
    };
    const fail = (error: NetworkError) => {
      if (settled) return;
      settle();
      for (const socket of opened) socket.destroy();
      reject(error);
    };
    const stop = () => fail(aborted(route.where));
    const timer = after(connectMs, () => fail(tooLate(route, stage, connectMs)));
    const stopListening = onAbort(signal, stop);
    const keep = <S extends Socket>(socket: S): S => {
      // An error without a listener would end the process.
      socket.on("error", ignore);
      opened.push(socket);
      if (settled) socket.destroy();
      return socket;
    };
    open(route, options, stage, keep).then(
      (socket) => {
        if (settled) return;
        if (socket.destroyed) return fail(brokenOff(route.where, afterOpening, ""));
        settle();
        resolve(socket);
      },
      (error: unknown) =>
        fail(error instanceof NetworkError ? error : connectFailure(error, route.host, route.where, afterOpening)),
    );
  });
}

interface Stage {
  /** The proxy, until it is reached. */
  proxyAwaited: ProxyServer | undefined;
}

function tooLate(route: Route, { proxyAwaited }: Stage, connectMs: number): NetworkError {
  return proxyAwaited === undefined
    ? timedOut("connect_timeout", `No connection to ${describeRoute(route)}`, connectMs)
    : timedOut("proxy_failed", `No connection to ${describeProxy(proxyAwaited)}`, connectMs);
}

/** Registers a socket to be closed if connecting fails. */
type Keep = <S extends Socket>(socket: S) => S;

/** `host`: for TLS. `where`: for messages. */
interface Target {
  readonly host: string;
  readonly where: string;
}

const afterOpening = "right after it opened";
const beforeTls = "during the TLS handshake";

async function open(route: Route, options: ConnectOptions, stage: Stage, keep: Keep): Promise<Socket> {
  const { proxy } = route;
  if (proxy === undefined) {
    const direct = await reach(route.address ?? route.host, route.port, route, keep);
    return route.secure ? await secure(direct, route, options.network, keep) : direct;
  }
  const toProxy = await proxied(async () => {
    const target = { host: proxy.host, where: describeProxy(proxy) };
    const plain = await reach(proxy.host, proxy.port, target, keep);
    return proxy.secure ? await secure(plain, target, options.network, keep) : plain;
  });
  stage.proxyAwaited = undefined;
  if (!route.tunnel) return toProxy;
  const through = await openTunnel(options.pool, toProxy, route, proxy);
  return route.secure ? await secure(through, route, options.network, keep) : through;
}

/** Failures to reach the proxy become `proxy_failed`, as trying another address of the server would not help. */
async function proxied(reachProxy: () => Promise<Socket>): Promise<Socket> {
  try {
    return await reachProxy();
  } catch (error) {
    if (!(error instanceof NetworkError) || error.kind === "tls") throw error;
    throw new NetworkError("proxy_failed", error.message, error.detail);
  }
}

async function reach(address: string, port: number, { host, where }: Target, keep: Keep): Promise<Socket> {
  const socket = keep(openSocket({ host: address, port, autoSelectFamilyAttemptTimeout: addressAttemptMs }));
  socket.setNoDelay(true);
  await until(socket, "connect", (error) => connectFailure(error, host, where, afterOpening));
  return socket;
}

async function secure(carrier: Socket, { host, where }: Target, network: Network, keep: Keep): Promise<Socket> {
  const { tls, context, remark } = await network.trust();
  if (carrier.destroyed) throw brokenOff(where, beforeTls, "");
  const socket = keep(
    tls.connect({
      socket: carrier,
      host,
      // SNI allows only names.
      ...(isIP(host) === 0 ? { servername: host } : {}),
      secureContext: context,
      // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED can't turn it off.
      rejectUnauthorized: true,
      ALPNProtocols: ["http/1.1"],
    }),
  );
  // A TLS socket within another has no handle, so closing or unref'ing it must be forwarded to the carrier.
  if (carrier instanceof tls.TLSSocket) {
    socket.once("close", () => carrier.destroy());
    Object.assign(socket, {
      ref: () => {
        carrier.ref();
        return socket;
      },
      unref: () => {
        carrier.unref();
        return socket;
      },
    });
  }
  await until(socket, "secureConnect", (error) => connectFailure(error, host, where, beforeTls, remark));
  return socket;
}

/** Rejects with `explain(error)`, or `explain(undefined)` if the socket closed without an error. */
function until(
  socket: Socket,
  event: "connect" | "secureConnect",
  explain: (error: unknown) => NetworkError,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (settle: () => void) => {
      socket.off(event, reached);
      socket.off("error", failed);
      socket.off("close", closed);
      settle();
    };
    const reached = () => done(resolve);
    const failed = (error: Error) => done(() => reject(explain(error)));
    const closed = () => done(() => reject(explain(undefined)));
    socket.on(event, reached);
    socket.on("error", failed);
    socket.on("close", closed);
  });
}

function ignore(): void {}
