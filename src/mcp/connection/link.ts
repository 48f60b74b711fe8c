import type { Client, JSONRPCMessage, Progress, Transport } from "@modelcontextprotocol/client";
import { onAbort } from "../../async/on-abort.ts";
import { otherWork } from "../../async/pace.ts";
import { deferred } from "../../async/promises.ts";
import { type Fields, fieldsOf } from "../../text/values.ts";
import { ServerProblem } from "../server-problem.ts";
import { guarded } from "../transports/guarded.ts";

declare const TINMAN_VERSION: string | undefined;

export type ListKind = "tools" | "prompts" | "resources";

/** What a server can ask of us, or tell us. None of it throws. */
export interface LinkHandlers {
  listChanged(kind: ListKind): void;
  /** The session's folder, as a URL. */
  readonly root: { readonly uri: string; readonly name: string };
  /** Answers a request for the user's input, with a result as in the protocol. */
  elicit(params: Fields, signal: AbortSignal): Promise<Record<string, unknown>>;
}

/** How messages reach a server, before the protocol's handshake. */
export interface Channel {
  readonly transport: Transport;
  /** Rejects if the connection fails, with a sentence. Never resolves. */
  readonly failed: Promise<never>;
  /** The message that stands behind one that the library got. */
  swap?(message: JSONRPCMessage): JSONRPCMessage;
  /** What a failed request means for the whole connection. Never rejects. */
  explain?(error: unknown): Promise<ServerProblem | undefined>;
  /** Ends the connection, and the server's program. Never rejects. */
  close(): Promise<void>;
}

export interface RequestOptions {
  readonly signal?: AbortSignal;
  onProgress?(progress: Progress): void;
}

/** An open connection to a server. */
export interface Link {
  readonly capabilities: Fields;
  /** Rejects with an error of the server, a `ServerProblem` if the connection fails, or after an abort. */
  request(method: string, params: Fields, options?: RequestOptions): Promise<Fields>;
  /** Resolves when the connection has failed. */
  readonly lost: Promise<ServerProblem>;
  close(): Promise<void>;
}

/** Our callers have their own limits. This is Node's longest timer. */
const noTimeout = 2 ** 31 - 1;

/** The library checks results against schemas, which costs more than what we read of them. */
const anyResult = {
  "~standard": { version: 1, vendor: "tinman", validate: (value: unknown) => ({ value: fieldsOf(value) }) },
} as const;

/** We check no results against schemas of servers. */
const noValidator = {
  getValidator: () => (input: unknown) => ({ valid: true as const, data: input as never, errorMessage: undefined }),
};

export type ClientLibrary = typeof import("@modelcontextprotocol/client");

/** Performs the handshake. On a failure the channel is closed. */
export async function openLink(
  { Client }: ClientLibrary,
  channel: Channel,
  handlers: LinkHandlers,
  signal: AbortSignal,
): Promise<Link> {
  const version = typeof TINMAN_VERSION === "string" ? TINMAN_VERSION : "0.0.0";
  const client: Client = new Client(
    { name: "tinman", version },
    { capabilities: { roots: {}, elicitation: { form: {} } }, jsonSchemaValidator: noValidator },
  );
  client.setRequestHandler("roots/list", () => ({ roots: [handlers.root] }));
  client.setRequestHandler("elicitation/create", async (request, context) => {
    return (await handlers.elicit(fieldsOf(request.params), context.mcpReq.signal)) as never;
  });
  for (const kind of ["tools", "prompts", "resources"] as const) {
    client.setNotificationHandler(`notifications/${kind}/list_changed`, () => handlers.listChanged(kind));
  }
  client.onerror = () => undefined;
  const lost = deferred<ServerProblem>();
  client.onclose = () => {
    // The channel may know why, and says so now.
    const closed = new ServerProblem("The server closed the connection.");
    otherWork()
      .then(() => lost.resolve(closed))
      .catch(lost.reject);
  };
  channel.failed.catch((problem: ServerProblem) => lost.resolve(problem));

  let isClosed = false;
  const close = async (): Promise<void> => {
    if (isClosed) return;
    isClosed = true;
    await channel.close();
    await client.close().catch(() => undefined);
  };
  const orLost = async <T>(work: Promise<T>): Promise<T> => {
    const known = work.catch(async (error: unknown) => {
      const problem = await channel.explain?.(error);
      if (problem !== undefined) lost.resolve(problem);
      throw problem ?? (isClosedError(error) ? await lost.promise : error);
    });
    known.catch(() => undefined);
    return Promise.race([known, lost.promise.then((problem) => Promise.reject(problem))]);
  };
  try {
    const transport = guarded(channel.transport, channel.swap);
    await untilAborted(signal, orLost(client.connect(transport, { timeout: noTimeout, signal })));
  } catch (error) {
    // The channel knows better than the library why the connection ended.
    const known = await Promise.race([channel.failed.catch((problem: unknown) => problem), otherWork()]);
    await close();
    throw known ?? error;
  }
  return {
    capabilities: fieldsOf(client.getServerCapabilities()),
    lost: lost.promise,
    request: (method, params, { signal: aborted, onProgress } = {}) =>
      orLost(
        client
          .request({ method, params: { ...params } }, anyResult, {
            timeout: noTimeout,
            ...(aborted === undefined ? {} : { signal: aborted }),
            ...(onProgress === undefined ? {} : { onprogress: onProgress }),
          })
          .then(fieldsOf),
      ),
    close,
  };
}

/** The library's error for requests that were open when the connection ended. */
function isClosedError(error: unknown): boolean {
  return fieldsOf(error).code === "CONNECTION_CLOSED";
}

/** Opening a stream does not end with an abort of the handshake. */
async function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = onAbort(signal, () => reject(signal.reason));
    if (signal.aborted) reject(signal.reason);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    stop();
    work.catch(() => undefined);
  }
}
