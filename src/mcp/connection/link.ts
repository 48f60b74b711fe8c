import type { Client, Progress, Transport } from "@modelcontextprotocol/client";
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
  client.onclose = () => lost.resolve(new ServerProblem("The server closed the connection."));
  channel.failed.catch((problem: ServerProblem) => lost.resolve(problem));

  let isClosed = false;
  const close = async (): Promise<void> => {
    if (isClosed) return;
    isClosed = true;
    await Promise.all([client.close().catch(() => undefined), channel.close()]);
  };
  const orLost = async <T>(work: Promise<T>): Promise<T> => {
    work.catch(() => undefined);
    return Promise.race([work, lost.promise.then((problem) => Promise.reject(problem))]);
  };
  try {
    await orLost(client.connect(guarded(channel.transport), { timeout: noTimeout, signal }));
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
