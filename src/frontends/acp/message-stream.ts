import { type AnyMessage, RequestError, type Stream } from "@agentclientprotocol/sdk";
import type { Frame } from "../../rpc/framing.ts";
import type { Transport } from "../../rpc/transport.ts";
import { hasMoreOf } from "../../text/json-size.ts";
import { isRecord } from "../../text/values.ts";
import { coded } from "./rpc-errors.ts";

/** More than any client has to say: a prompt is few values, however long they are. */
const mostEntries = 20_000;

/** What may be under way at once: more than anybody asks for, and little enough to be kept. */
const mostOpen = { requests: 1_000, characters: 64 * 1024 * 1024 };
/** What is still taken while nobody reads: a cancel, for instance. */
const mostUnread = 100;

/**
 * A transport as the ACP library wants it: messages read and written. What is no message is answered here, and the
 * conversation goes on. Of the platform's streams only what the library calls is there: they are slow to load.
 */
export function messageStream(transport: Transport): Stream {
  const frames = transport.incoming[Symbol.asyncIterator]();
  /** How long each request is that has no answer yet. An id may be there more than once. */
  const open = new Map<unknown, number[]>();
  const total = { requests: 0, characters: 0 };
  let unread = 0;

  const refuse = (error: RequestError, id: unknown = null): void => {
    transport.send(JSON.stringify({ jsonrpc: "2.0", id, error: coded(error.toErrorResponse()) }));
  };

  /** A client that does not read for a while can still cancel, but not fill the memory with answers. */
  async function untilRead(): Promise<void> {
    const room = transport.room();
    unread = room === undefined ? 0 : unread + 1;
    if (unread > mostUnread) await room;
  }

  /** Whether there is room for it among those that are under way. */
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
        refuse(new RequestError(-32603, "Too much is asked for at once: wait for some answers first."), id);
        continue;
      }
      // The library hands a message from handler to handler: the next one must not overtake it on the way.
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
    return RequestError.parseError(undefined, `a line of ${frame.bytes} bytes was left out, 32 MiB is the most`);
  }
  if (frame.isMalformed === true) return RequestError.parseError(undefined, "the line is not valid UTF-8");
  if (isHeavy(frame)) {
    return RequestError.parseError(undefined, `a line with more than ${mostEntries} entries was left out`);
  }
  try {
    const value: unknown = JSON.parse(frame.text);
    if (isMessage(value)) return value;
    const why = Array.isArray(value) ? "batches are not supported" : "it is no message of JSON-RPC 2.0";
    return RequestError.invalidRequest(undefined, why);
  } catch {
    return RequestError.parseError();
  }
}

function isHeavy(frame: Frame): frame is Frame & { type: "line" } {
  return frame.type === "line" && hasMoreOf("{[,", frame.text, mostEntries);
}

/** Of a line that is not read as a whole, so that nobody waits for its answer: clients write it before what is long. */
function idIn({ text }: Frame & { type: "line" }): string | number | null {
  const head = text.slice(0, 1_000);
  const [, id] = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(-?\d+|"[\w-]*")\s*,/.exec(head) ?? [];
  return id === undefined ? null : (JSON.parse(id) as string | number);
}

/** The library repeats what it refuses, whatever is in it: only what it takes gets there. */
function isMessage(value: unknown): value is AnyMessage {
  if (!isRecord(value)) return false;
  const { jsonrpc, id, method } = value;
  // An answer that is none is one all the same for whoever waits for it.
  if (method === undefined) return id !== undefined || "result" in value || "error" in value;
  const isId = id === undefined || id === null || typeof id === "string" || Number.isFinite(id);
  return jsonrpc === "2.0" && isId && typeof method === "string";
}

function lengthOf(frame: Frame): number {
  return frame.type === "line" ? frame.text.length : 0;
}
