import { WebSocket } from "ws";
import { webSocketConnection } from "../../../src/sdk/node.ts";
import type { Server } from "./server.ts";

/** How the SDK connects to a server's `/rpc` with a token. */
export function over({ url }: Pick<Server, "url">, token: string) {
  const headers = { Authorization: `Bearer ${token}` };
  class Authorized extends WebSocket {
    constructor(address: string | URL, protocols?: string | string[]) {
      super(address, protocols, { headers });
    }
  }
  return { connect: webSocketConnection(url.replace(/ws$/, "rpc"), { WebSocket: Authorized }) };
}
