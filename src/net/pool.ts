import type { ClientRequest, RequestOptions } from "node:http";
import type { Socket } from "node:net";

/** Connections that stay open between exchanges, by the route they lead along. */
export interface Pool {
  readonly request: (options: RequestOptions) => ClientRequest;
  hasIdle(route: string): boolean;
  dropIdle(route: string): void;
  /** Sends over the connection given; without one, over an idle one of this route, which must exist. */
  send(route: string, options: RequestOptions, connection: Socket | undefined): ClientRequest;
  close(): void;
}

interface Routed extends RequestOptions {
  readonly route?: string;
  readonly connection?: Socket | undefined;
}

/** Shorter than the minute after which most servers hang up. */
const idleMs = 30_000;

/**
 * Node's agent keeps the idle sockets, unref'd, and drops those that end. It opens none: an abort must be able to close a
 * connection that is still being opened, and the agent has no way to say which request it was for.
 */
export function openPool(): Pool {
  // Not by `import()`: that reads every export, and from Node 22 on one of them loads all of Node's own `fetch`, ten times the cost.
  const { Agent, request } = process.getBuiltinModule("node:http");
  // First in, first out: the agent makes sure of the first socket in the row, not of the last, that it still lives.
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 8, timeout: idleMs, scheduling: "fifo" });
  Object.assign(agent, {
    getName: ({ route }: Routed = {}) => route ?? "",
    createConnection({ connection }: Routed): Socket {
      if (connection === undefined) throw new Error("No idle connection on this route.");
      return connection;
    },
  });
  const idle = (route: string) => agent.freeSockets[route] ?? [];
  return {
    request,
    hasIdle: (route) => idle(route).some((socket) => !socket.destroyed),
    dropIdle: (route) => {
      for (const socket of idle(route)) socket.destroy();
    },
    send: (route, options, connection) => request({ ...options, agent, route, connection } as RequestOptions),
    close: () => agent.destroy(),
  };
}
