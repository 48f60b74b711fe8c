import type { ClientRequest, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { after } from "../../async/after.ts";
import { onAbort } from "../../async/on-abort.ts";
import { connect } from "../connect/connect.ts";
import type { Pool } from "../connect/pool.ts";
import { describeRoute, type Route, routeTo } from "../connect/route.ts";
import { refusal } from "../connect/tunnel.ts";
import { aborted, codeOf, exchangeFailure, isReset, timedOut } from "../failure.ts";
import { NetworkError } from "../network-error.ts";
import { type Body, openBody } from "./body.ts";
import { codingOf } from "./decompress.ts";
import type { HttpRequest } from "./http-request.ts";
import { checkRequest, type Outgoing, outgoing } from "./outgoing.ts";

/** A response with its headers, and a body still to be read. */
export interface Exchange {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
}

const maxHeaderSize = 64 * 1024;

/** The server closed the idle connection before it received the request, so resending is safe. */
const stale = Symbol("stale connection");
/** A stale connection fails within this time. Later, the server may have started work that costs money. */
const staleMs = 1_000;

export async function exchange(r: HttpRequest): Promise<Exchange> {
  checkRequest(r);
  const route = routeTo(r.url, r.address, r.network.proxyFor(r.url));
  const message = outgoing(r, route);
  if (r.signal?.aborted) throw aborted(route.where);
  const pool = r.network.pool();
  if (pool.hasIdle(route.key)) {
    const first = await send(r, route, message, pool, undefined);
    if (first !== stale) return first;
    // Other idle connections on this route are probably stale too.
    pool.dropIdle(route.key);
  }
  const { network, signal, timeouts } = r;
  const connection = await connect(route, { network, pool, signal, connectMs: timeouts.connectMs });
  const answer = await send(r, route, message, pool, connection);
  if (answer === stale)
    throw new NetworkError("reset", `The connection to ${route.where} was closed before it answered.`);
  return answer;
}

function send(
  r: HttpRequest,
  route: Route,
  message: Outgoing,
  pool: Pool,
  connection: Socket | undefined,
): Promise<Exchange | typeof stale> {
  const { signal, timeouts } = r;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      connection?.destroy();
      reject(aborted(route.where));
      return;
    }
    let request: ClientRequest;
    try {
      request = pool.send(route.key, { ...message, setHost: false, maxHeaderSize }, connection);
    } catch (error) {
      if (connection === undefined) return resolve(stale);
      connection.destroy();
      reject(new NetworkError("invalid", `The request to ${route.where} cannot be sent as it is.`, codeOf(error)));
      return;
    }
    const sentAt = performance.now();
    let used: Socket | undefined;
    let anyByte = false;
    let settled = false;
    const noteByte = () => {
      anyByte = true;
    };
    const settle = () => {
      settled = true;
      clearTimeout(timer);
      stopListening();
      used?.off("data", noteByte);
    };
    const fail = (error: NetworkError) => {
      if (settled) return;
      settle();
      request.destroy();
      connection?.destroy();
      reject(error);
    };
    const stop = () => fail(aborted(route.where));
    const timer = after(timeouts.firstByteMs, () => {
      fail(timedOut("first_byte_timeout", `There was no answer from ${describeRoute(route)}`, timeouts.firstByteMs));
    });
    const stopListening = onAbort(signal, stop);

    request.on("socket", (socket) => {
      used = socket;
      socket.on("data", noteByte);
      // The agent used a connection that became idle while ours was opening.
      if (connection !== undefined && socket !== connection) connection.destroy();
    });
    request.on("response", (response) => {
      if (settled) {
        response.on("error", ignore);
        response.destroy();
        return;
      }
      settle();
      const status = response.statusCode ?? 0;
      if (status === 407 && route.proxy !== undefined && !route.tunnel) {
        response.on("error", ignore);
        request.destroy();
        reject(new NetworkError("proxy", refusal(status, route, route.proxy)));
        return;
      }
      resolve(toExchange(r, route, request, response));
    });
    request.on("upgrade", (_response, socket) => {
      socket.destroy();
      fail(new NetworkError("malformed", `${route.where} switched to another protocol without being asked.`));
    });
    request.on("error", (error) => {
      if (settled) return;
      if (request.reusedSocket && !anyByte && isReset(error) && performance.now() - sentAt < staleMs) {
        settle();
        resolve(stale);
        return;
      }
      fail(exchangeFailure(error, route.where, stageBefore(request, r)));
    });
    request.on("close", () => fail(exchangeFailure(undefined, route.where, stageBefore(request, r))));
    request.end(r.body);
  });
}

function stageBefore(request: ClientRequest, { body }: HttpRequest): string {
  const unsent = body !== undefined && !request.writableFinished;
  return unsent ? "before the whole request was sent; it may be too large for the server" : "before it answered";
}

function toExchange(r: HttpRequest, route: Route, request: ClientRequest, response: IncomingMessage): Exchange {
  const status = response.statusCode ?? 0;
  const headers = Object.fromEntries(
    Object.entries(response.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(", ") : (value ?? ""),
    ]),
  );
  const empty = r.method.toUpperCase() === "HEAD" || status === 204 || status === 304;
  const coding = empty ? undefined : codingOf(headers["content-encoding"]);
  if (coding !== undefined) {
    delete headers["content-encoding"];
    delete headers["content-length"];
  }
  const { signal, timeouts } = r;
  const body = openBody({ request, response, empty, coding, signal, timeouts, where: route.where });
  return { status, statusText: response.statusMessage ?? "", headers, body };
}

function ignore(): void {}
