import { longestTimerMs } from "../../async/after.ts";
import { onAbort } from "../../async/on-abort.ts";
import { defaultMaxWaiting } from "../../rpc/transport.ts";
import { errorMessage, isRecord } from "../../text/values.ts";
import type { Connect } from "../api.ts";
import {
  aFunction,
  aListOfStrings,
  aNumberFrom,
  aString,
  type Check,
  type Checks,
  checkEach,
  checkOne,
} from "../checks.ts";
import { SdkError } from "../errors.ts";
import { defaultMaxLineBytes } from "./limits.ts";
import {
  closeOf,
  listen,
  overSocket,
  states,
  unlisten,
  type WebSocketBounds,
  type WebSocketEvent,
  type WebSocketLike,
} from "./socket-connection.ts";

export interface WebSocketOptions {
  /** Subprotocols to request. */
  readonly protocols?: string | readonly string[];
  /** Longer lines are skipped and reported to `onWarning`. Default: 512 MiB. */
  readonly maxLineBytes?: number;
  /** Milliseconds for the socket to open. Default: 30 s; 0 means no limit. */
  readonly openMs?: number;
  /** Default: the global one. */
  readonly WebSocket?: new (
    url: string | URL,
    protocols?: string | string[],
  ) => WebSocketLike;
}

const aTarget: Check = [
  "an address or a WebSocket",
  (value) =>
    typeof value === "string" ||
    value instanceof URL ||
    (isRecord(value) && typeof value.addEventListener === "function"),
];
const checks: Checks<keyof WebSocketOptions> = {
  protocols: ["a string or a list of strings", (value) => [aString, aListOfStrings].some(([, is]) => is(value))],
  maxLineBytes: aNumberFrom(1),
  openMs: aNumberFrom(0),
  WebSocket: aFunction,
};

/**
 * Reaches a backend over a WebSocket. A received message can have several lines; each sent line is one message. A given
 * socket serves one connection, an address any number.
 */
export function webSocketConnection(
  target: string | URL | WebSocketLike,
  options: WebSocketOptions = {},
  {
    maxWaiting = defaultMaxWaiting,
    patienceMs = 2_000,
  }: Partial<Pick<WebSocketBounds, "maxWaiting" | "patienceMs">> = {},
): Connect {
  checkOne("What webSocketConnection connects to", target, aTarget);
  checkEach("webSocketConnection", options, checks);
  const { protocols, openMs = 30_000, maxLineBytes = defaultMaxLineBytes, WebSocket } = options;
  let isTaken = false;

  function openSocket(): WebSocketLike {
    if (typeof target === "string" || target instanceof URL) return socketTo(target, protocols, WebSocket);
    if (isTaken) throw new SdkError("The WebSocket is already in use. To connect again, pass an address.");
    isTaken = true;
    if (target.readyState > states.open) throw new SdkError("The WebSocket is already closed.");
    return target;
  }

  return async (signal) => {
    signal?.throwIfAborted();
    const socket = openSocket();
    const connection = overSocket(socket, { maxWaiting, maxLineBytes, patienceMs });
    const fault = await new Promise<string | undefined>((resolve) => {
      const listeners = {
        open: () => settle(undefined),
        // Some sockets, such as that of Node 20, never report the close that follows.
        error: ({ message }: WebSocketEvent) => settle(message || "the connection failed"),
        close: (event: WebSocketEvent) => settle(closeOf(event)),
      };
      const late = (): void => settle(`it did not answer within ${openMs} ms`);
      const timer = openMs > 0 && openMs <= longestTimerMs ? setTimeout(late, openMs) : undefined;
      function settle(result: string | undefined): void {
        clearTimeout(timer);
        unlisten(socket, listeners);
        unheard();
        resolve(result);
      }
      listen(socket, listeners);
      const unheard = onAbort(signal, () => settle(""));
      if (socket.readyState === states.open) settle(undefined);
      // Browsers return a closed socket to pages that must not connect.
      else if (socket.readyState > states.open) settle("the connection failed");
    });
    if (fault === undefined && !signal?.aborted) return connection;
    await connection.close();
    signal?.throwIfAborted();
    throw new SdkError(`The WebSocket${addressOf(target)} could not be opened: ${fault}.`);
  };
}

function socketTo(
  address: string | URL,
  protocols: WebSocketOptions["protocols"],
  given: WebSocketOptions["WebSocket"],
) {
  const WebSocket = given ?? (globalThis as Pick<WebSocketOptions, "WebSocket">).WebSocket;
  if (WebSocket === undefined) {
    throw new SdkError("No global WebSocket. Pass one as the option WebSocket, for example from the package ws.");
  }
  try {
    return typeof protocols === "string" || protocols === undefined
      ? new WebSocket(address, protocols)
      : new WebSocket(address, [...protocols]);
  } catch (error) {
    const why = errorMessage(error);
    throw new SdkError(`The WebSocket${addressOf(address)} could not be opened: ${why}.`, { cause: error });
  }
}

/** Without parts that can be secret: user, password and query. */
function addressOf(target: string | URL | WebSocketLike): string {
  if (typeof target !== "string" && !(target instanceof URL)) return "";
  try {
    const { protocol, host, pathname } = new URL(target);
    return ` ${protocol}//${host}${pathname}`;
  } catch {
    return "";
  }
}
