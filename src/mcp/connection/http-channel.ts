import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { settlesWithin } from "../../async/promises.ts";
import type { ServerEntry } from "../../engine/servers/server-entry.ts";
import { lostAnswer, ServerProblem } from "../server-problem.ts";
import type { ServerSignIn } from "../sign-in/sign-ins.ts";
import type { LargeMessages } from "../transports/event-filter.ts";
import { createServerFetch } from "../transports/server-fetch.ts";
import type { Channel, ClientLibrary } from "./link.ts";

export type HttpEntry = ServerEntry & { readonly kind: "http" | "sse" };

export interface HttpParts {
  readonly library: ClientLibrary;
  readonly fetch: typeof globalThis.fetch;
  readonly signIn?: ServerSignIn;
}

export interface HttpChannel extends Channel {
  /** The status of the last answer that was an error. */
  readonly refusal: () => number | undefined;
}

/** How long the server has to end its session. */
const farewellMs = 500;
/** The library tries this often to open the server's stream of notifications again, then calls still work. */
const reconnection = { initialReconnectionDelay: 1000, maxReconnectionDelay: 30_000, reconnectionDelayGrowFactor: 2 };

/** Prepares the connection; the handshake uses it. */
export function openHttpChannel(entry: HttpEntry, { library, fetch, signIn }: HttpParts): HttpChannel {
  let fail: (problem: ServerProblem) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => undefined);
  let refusal: number | undefined;
  const large: LargeMessages = new Map();
  const url = new URL(entry.url);
  const own = createServerFetch({
    url,
    headers: entry.headers,
    fetch,
    large,
    isStreamFirst: entry.kind === "sse",
    fail,
    lost(id, message) {
      transport.onmessage?.({ jsonrpc: "2.0", id, error: { code: -32000, message, data: lostAnswer } });
    },
    refused(status) {
      refusal = status;
      // The server has forgotten our session.
      if (status === 404 && hasSession()) fail(new ServerProblem("The server ended the session."));
    },
    ended() {
      if (entry.kind === "sse") fail(new ServerProblem("The server closed the connection."));
    },
  });
  const common = { fetch: own, ...(signIn === undefined ? {} : { authProvider: signIn.authProvider }) };
  const streamable =
    entry.kind === "http"
      ? new library.StreamableHTTPClientTransport(url, {
          ...common,
          reconnectionOptions: { ...reconnection, maxRetries: 5 },
        })
      : undefined;
  const hasSession = (): boolean => streamable?.sessionId !== undefined;
  const transport = (streamable ?? new library.SSEClientTransport(url, common)) as Transport;
  return {
    transport,
    failed,
    refusal: () => refusal,
    explain: async (error) => ((await signIn?.isNeeded(error).catch(() => false)) ? signInNeeded() : undefined),
    swap(message: JSONRPCMessage): JSONRPCMessage {
      const id = "id" in message ? message.id : undefined;
      const whole = id === undefined ? undefined : large.get(id);
      if (id === undefined || whole === undefined) return message;
      large.delete(id);
      return whole;
    },
    async close() {
      if (hasSession()) await settlesWithin(farewellMs, streamable?.terminateSession() ?? Promise.resolve());
      await transport.close();
    },
  };
}

/** What a refused handshake means for the user. */
export function refusalProblem(status: number): ServerProblem {
  if (status === 401) return signInNeeded();
  const isLasting = status >= 400 && status < 500 && status !== 408 && status !== 429;
  return new ServerProblem(`The server answered with HTTP ${status}.`, { isLasting });
}

function signInNeeded(): ServerProblem {
  return new ServerProblem("The server needs a sign-in.", { needsSignIn: true });
}
