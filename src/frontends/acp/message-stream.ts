import { type AnyMessage, RequestError, type Stream } from "@agentclientprotocol/sdk";
import { hasMoreOf } from "../../core/json-weight.ts";
import type { Frame } from "../../rpc/framing.ts";
import type { Transport } from "../../rpc/transport.ts";

/** More than any client has to say: a prompt is few values, however long they are. */
const mostEntries = 20_000;

/**
 * A transport as the ACP library wants it: messages read and written. What is no message is answered here, and the
 * conversation goes on. Of the platform's streams only what the library calls is there: they are slow to load.
 */
export function messageStream(transport: Transport): Stream {
  const frames = transport.incoming[Symbol.asyncIterator]();
  const refuse = (error: RequestError): void => {
    transport.send(JSON.stringify({ jsonrpc: "2.0", id: null, error: error.toErrorResponse() }));
  };

  async function read(): Promise<{ readonly done: boolean; readonly value?: AnyMessage }> {
    for (;;) {
      const { done, value: frame } = await frames.next();
      if (done === true) return { done };
      const read = parsed(frame);
      if (read instanceof RequestError) {
        refuse(read);
        continue;
      }
      // The library hands a message from handler to handler: the next one must not overtake it on the way.
      await new Promise((resolve) => setImmediate(resolve));
      return { done: false, value: read };
    }
  }

  async function write(message: AnyMessage): Promise<void> {
    transport.send(JSON.stringify(message));
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
  if (hasMoreOf("{[,", frame.text, mostEntries)) {
    return RequestError.parseError(undefined, `a line with more than ${mostEntries} entries was left out`);
  }
  try {
    const value: unknown = JSON.parse(frame.text);
    return typeof value === "object" && value !== null
      ? (value as AnyMessage)
      : RequestError.invalidRequest(undefined, "a message is an object");
  } catch {
    return RequestError.parseError();
  }
}
