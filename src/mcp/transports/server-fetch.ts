import { createPace } from "../../async/pace.ts";
import { errorMessage, fieldsOf, parsedJson } from "../../text/values.ts";
import { ServerProblem, shownLine, withStop } from "../server-problem.ts";
import { createEventFilter, type LargeMessages } from "./event-filter.ts";
import { parseJson } from "./paced-json.ts";

type Fetch = typeof globalThis.fetch;
type Reader = Pick<ReadableStreamDefaultReader<Uint8Array>, "read" | "cancel">;

export interface ServerFetchParts {
  readonly url: URL;
  /** Sent to the server's own origin only. */
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: Fetch;
  readonly large: LargeMessages;
  /** The connection begins with a stream instead of a message. */
  readonly isStreamFirst: boolean;
  /** The connection cannot go on. */
  fail(problem: ServerProblem): void;
  /** The answer to this request will not come. */
  lost(id: string | number, why: string): void;
  /** The server answered a message with an error. */
  refused(status: number): void;
  /** The server closed a stream that was to stay open. */
  ended(): void;
}

const mostBytes = 16 * 1024 * 1024;
const mostErrorBytes = 64 * 1024;

/** A `fetch` for one server, which bounds what comes back, and notices what the library does not. */
export function createServerFetch(parts: ServerFetchParts): Fetch {
  const send = async (input: string | URL, init: RequestInit = {}) => {
    const url = new URL(input);
    const isOwn = url.origin === parts.url.origin;
    const headers = new Headers(init.headers);
    if (isOwn) for (const [name, value] of Object.entries(parts.headers)) headers.set(name, value);
    let response: Response;
    try {
      response = await parts.fetch(url, { ...init, headers });
    } catch (error) {
      if (isOwn && init.signal?.aborted !== true) parts.fail(unreachable(error));
      throw error;
    }
    const isMessage = init.method === "POST" || parts.isStreamFirst;
    if (isOwn && isMessage && !response.ok) parts.refused(response.status);
    return bounded(response, requestIdOf(init), isOwn ? parts : undefined);
  };
  return send as unknown as Fetch;
}

function unreachable(error: unknown): ServerProblem {
  const { cause } = fieldsOf(error);
  return new ServerProblem(withStop(`The server cannot be reached. ${shownLine(errorMessage(cause ?? error), 200)}`));
}

/** The id of the JSON-RPC request in a body of ours. */
function requestIdOf({ body, method }: RequestInit): string | number | undefined {
  if (method !== "POST" || typeof body !== "string" || !body.includes('"id"')) return undefined;
  const message = fieldsOf(parsedJson(body));
  if (message.method === undefined) return undefined;
  return typeof message.id === "string" || typeof message.id === "number" ? message.id : undefined;
}

function bounded(response: Response, id: string | number | undefined, parts: ServerFetchParts | undefined) {
  const { ok, status, statusText, headers, url, redirected, type } = response;
  const isEvents = ok && (headers.get("content-type") ?? "").startsWith("text/event-stream");
  const source = response.body?.getReader();
  const most = ok ? mostBytes : mostErrorBytes;
  let reading: Promise<Buffer> | undefined;
  const whole = (): Promise<Buffer> => {
    reading ??= readWhole();
    return reading;
  };
  const readWhole = async (): Promise<Buffer> => {
    try {
      return await readAll(source, most, ok);
    } catch (error) {
      if (id !== undefined) parts?.lost(id, errorMessage(error));
      throw error;
    }
  };
  const body = source === undefined ? null : isEvents ? eventsOf(source, id, parts) : bytesOf(whole);
  return {
    ...{ ok, status, statusText, headers, url, redirected, type, body },
    text: async () => (await whole()).toString("utf8"),
    json: async (): Promise<unknown> => {
      const pace = createPace();
      return parseJson(await whole(), () => pace.rest());
    },
  };
}

function bytesOf(whole: () => Promise<Buffer>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      controller.enqueue(await whole());
      controller.close();
    },
  });
}

/** A longer body is an error, or cut if its text is only for people. */
async function readAll(source: Reader | undefined, most: number, isNeeded: boolean): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for (let next = await source?.read(); next?.done === false; next = await source?.read()) {
    length += next.value.byteLength;
    if (length > most) {
      await source?.cancel().catch(() => undefined);
      if (isNeeded) throw new ServerProblem("The server sent a message of more than 16 MiB.");
      break;
    }
    pieces.push(next.value);
  }
  return Buffer.concat(pieces);
}

/** A stream of events, whose end is reported unless we caused it. */
function eventsOf(
  source: Reader,
  id: string | number | undefined,
  parts: ServerFetchParts | undefined,
): ReadableStream<Uint8Array> {
  const pace = createPace();
  const filter = createEventFilter(parts?.large ?? new Map(), () => pace.rest());
  let isCancelled = false;
  const over = (why: string): void => {
    if (isCancelled || filter.isResumable) return;
    if (id === undefined) parts?.ended();
    else parts?.lost(id, why);
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        for (;;) {
          const { done, value } = await source.read();
          if (done) {
            controller.close();
            over("The server closed the connection before it answered.");
            return;
          }
          const events = await filter.push(value);
          for (const event of events) controller.enqueue(event);
          if (events.length > 0) return;
        }
      } catch (error) {
        if (error instanceof ServerProblem) {
          await source.cancel().catch(() => undefined);
          if (id === undefined) parts?.fail(error);
        }
        over(error instanceof ServerProblem ? error.message : "The connection to the server broke.");
        throw error;
      }
    },
    async cancel() {
      isCancelled = true;
      await source.cancel();
    },
  });
}
