import type { ClientRequest, RequestOptions } from "node:http";
import type { Socket } from "node:net";

/** Keep-alive connections by route. */
export interface Pool {
  readonly request: (options: RequestOptions) => ClientRequest;
  hasIdle(route: string): boolean;
  dropIdle(route: string): void;
  /** Sends over `connection`, or over an idle connection of the route, which must exist. */
  send(route: string, options: RequestOptions, connection: Socket | undefined): ClientRequest;
  close(): void;
}

interface Routed extends RequestOptions {
  readonly route?: string;
  readonly connection?: Socket | undefined;
}

/** Most servers close idle connections after a minute. */
const idleMs = 30_000;

/**
 * Node's agent keeps the idle sockets, unref'd. It never opens one, because it can't tell which request a connection is for,
 * and an abort must be able to close a connection that is still opening.
 */
export function openPool(): Pool {
  // `import()` would read every export. Since Node 22, one of them loads all of Node's `fetch`, ten times the cost.
  const { Agent, request } = process.getBuiltinModule("node:http");
  // FIFO, because the agent checks only the first idle socket for liveness.
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
