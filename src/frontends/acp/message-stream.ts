import { type AnyMessage, RequestError, type Stream } from "@agentclientprotocol/sdk";
import type { Frame } from "../../rpc/framing.ts";
import type { Transport } from "../../rpc/transport.ts";
import { hasMoreOf } from "../../text/json-size.ts";
import { isRecord } from "../../text/values.ts";
import { coded } from "./rpc-errors.ts";

/** Far more than any client sends: a prompt has few values, however long. */
const mostEntries = 20_000;

/** Limits for concurrent requests. */
const mostOpen = { requests: 1_000, characters: 64 * 1024 * 1024 };
/** Messages still read while the client does not read, such as a cancel. */
const mostUnread = 100;

/**
 * A transport as the stream that the ACP library wants. Malformed messages are answered here. It implements only what
 * the library calls, because the platform's streams load slowly.
 */
export function messageStream(transport: Transport): Stream {
  const frames = transport.incoming[Symbol.asyncIterator]();
  /** Lengths of the requests without a response. An id can occur more than once. */
  const open = new Map<unknown, number[]>();
  const total = { requests: 0, characters: 0 };
  let unread = 0;

  const refuse = (error: RequestError, id: unknown = null): void => {
    transport.send(JSON.stringify({ jsonrpc: "2.0", id, error: coded(error.toErrorResponse()) }));
  };

  /** A client that does not read can still cancel, but not fill the memory with responses. */
  async function untilRead(): Promise<void> {
    const room = transport.room();
    unread = room === undefined ? 0 : unread + 1;
    if (unread > mostUnread) await room;
  }

  /** Whether the limits allow one more request. */
  function opens(id: unknown, characters: number): boolean {
    const isMuch = total.requests > 0 && total.characters + characters > mostOpen.characters;
    if (isMuch || total.requests >= mostOpen.requests) return false;
    open.set(id, [...(open.get(id) ?? []), characters]);
    total.requests += 1;
    total.characters += characters;
    return true;
  }

  function closes(id: unknown): void {
    const [characters, ...others] = open.get(id) ?? [];
    if (characters === undefined) return;
    if (others.length === 0) open.delete(id);
    else open.set(id, others);
    total.requests -= 1;
    total.characters -= characters;
  }

  async function read(): Promise<{ readonly done: boolean; readonly value?: AnyMessage }> {
    for (;;) {
      await untilRead();
      const { done, value: frame } = await frames.next();
      if (done === true) return { done };
      const read = parsed(frame);
      if (read instanceof RequestError) {
        refuse(read, isHeavy(frame) ? idIn(frame) : null);
        continue;
      }
      const { id, method } = read as { readonly id?: unknown; readonly method?: unknown };
      if (id !== undefined && method !== undefined && !opens(id, lengthOf(frame))) {
        refuse(new RequestError(-32603, "Too many requests at once. Wait for some responses first."), id);
        continue;
      }
      // The library passes a message from handler to handler; the next must not overtake it.
      await new Promise((resolve) => setImmediate(resolve));
      return { done: false, value: read };
    }
  }

  async function write(message: AnyMessage): Promise<void> {
    if (!("method" in message)) closes(message.id);
    const isError = "error" in message && message.error !== undefined;
    transport.send(JSON.stringify(isError ? { ...message, error: coded(message.error) } : message));
    await transport.room();
  }

  const nothing = (): void => {};
  const stream = {
    readable: { getReader: () => ({ read, releaseLock: nothing, cancel: async () => {} }) },
    writable: { getWriter: () => ({ write, releaseLock: nothing }) },
  };
  return stream as unknown as Stream;
}

function parsed(frame: Frame): AnyMessage | RequestError {
  if (frame.type === "too_long") {
    return RequestError.parseError(undefined, `skipped a line of ${frame.bytes} bytes; the limit is 32 MiB`);
  }
  if (frame.isMalformed === true) return RequestError.parseError(undefined, "the line is not valid UTF-8");
  if (isHeavy(frame)) {
    return RequestError.parseError(undefined, `skipped a line with more than ${mostEntries} entries`);
  }
  try {
    const value: unknown = JSON.parse(frame.text);
    if (isMessage(value)) return value;
    const why = Array.isArray(value) ? "batches are not supported" : "not a JSON-RPC 2.0 message";
    return RequestError.invalidRequest(undefined, why);
  } catch {
    return RequestError.parseError();
  }
}

function isHeavy(frame: Frame): frame is Frame & { type: "line" } {
  return frame.type === "line" && hasMoreOf("{[,", frame.text, mostEntries);
}

/** The id of a line that is not parsed as a whole. Clients write it before long values. */
function idIn({ text }: Frame & { type: "line" }): string | number | null {
  const head = text.slice(0, 1_000);
  const [, id] = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(-?\d+|"[\w-]*")\s*,/.exec(head) ?? [];
  return id === undefined ? null : (JSON.parse(id) as string | number);
}

/** The library echoes what it rejects, so it gets only valid messages. */
function isMessage(value: unknown): value is AnyMessage {
  if (!isRecord(value)) return false;
  const { jsonrpc, id, method } = value;
  // A malformed response still settles its request.
  if (method === undefined) return id !== undefined || "result" in value || "error" in value;
  const isId = id === undefined || id === null || typeof id === "string" || Number.isFinite(id);
  return jsonrpc === "2.0" && isId && typeof method === "string";
}

function lengthOf(frame: Frame): number {
  return frame.type === "line" ? frame.text.length : 0;
}
