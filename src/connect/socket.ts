import { faultOfError, faultOfStatus, SocketFault } from "./socket-faults.ts";

export interface Socket {
  send(text: string): void;
  /** Stops reading until `resume`. */
  pause(): void;
  resume(): void;
  close(): void;
}

interface SocketEvents {
  text(text: string): unknown;
  /** Called once, and only after the socket was open. */
  closed(code: number, reason: string): unknown;
}

/** Rejects with a `SocketFault`. */
export type OpenSocket = (events: SocketEvents) => Promise<Socket>;

export interface Target {
  readonly url: URL;
  readonly token: string | undefined;
  /** The token's source, or how to give one. */
  readonly tokenWords: string;
}

const handshakeMs = 10_000;
const pingMs = 20_000;
const closeMs = 1_000;
const longestFrame = 64 * 1024 * 1024;

export function socketTo({ url, token, tokenWords }: Target): OpenSocket {
  const address = `${url.protocol}//${url.host}${url.pathname}`;
  return async (events) => {
    const { WebSocket } = await import("ws");
    const socket = new WebSocket(url, {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      handshakeTimeout: handshakeMs,
      perMessageDeflate: false,
      maxPayload: longestFrame,
    });
    // Frames can arrive together with the handshake response.
    socket.on("message", (data, isBinary) => {
      if (!isBinary) events.text(String(data));
    });
    await new Promise<void>((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("unexpected-response", (request, { statusCode = 0 }) => {
        request.destroy();
        reject(faultOfStatus(statusCode, address, tokenWords));
      });
      socket.on("error", (error) => reject(faultOfError(error, address)));
      socket.once("close", () => reject(new SocketFault(`${address} closed the connection.`, false)));
    });
    let isAlive = true;
    // A dead connection is silent. Without pings it would look like a thinking model.
    const pings = setInterval(() => {
      if (!isAlive) socket.terminate();
      isAlive = false;
      if (socket.readyState === WebSocket.OPEN) socket.ping();
    }, pingMs);
    pings.unref();
    for (const sign of ["pong", "ping", "message"] as const)
      socket.on(sign, () => {
        isAlive = true;
      });
    socket.once("close", (code, reason) => {
      clearInterval(pings);
      events.closed(code, String(reason));
    });
    return {
      send: (text) => socket.send(text),
      pause: () => socket.pause(),
      resume: () => {
        isAlive = true;
        socket.resume();
      },
      close() {
        socket.close(1000);
        setTimeout(() => socket.terminate(), closeMs).unref();
      },
    };
  };
}
