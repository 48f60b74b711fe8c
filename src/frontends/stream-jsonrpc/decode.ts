import { type ClientEnvelope, clientEnvelope, type RpcError } from "../../protocol/droid/envelope.ts";
import { errorCodes } from "../../protocol/droid/version.ts";
import type { Frame } from "../../rpc/framing.ts";
import { hasMoreOf } from "../../text/json-size.ts";
import { textStart } from "../../text/text-cut.ts";
import { recordOf } from "../../text/values.ts";

/** More than any client sends. Validating a wrong entry costs many times its size. */
const mostEntries = 20_000;

/** A client's message, or the error for a malformed line. */
export type Decoded = { readonly message: ClientEnvelope } | { readonly failure: RpcError };

export function decode(frame: Frame): Decoded {
  if (frame.type === "too_long") return noMessage(`Skipped a line of ${frame.bytes} bytes; the limit is 32 MiB`);
  if (hasMoreOf("{[,", frame.text, mostEntries)) {
    return noMessage(`Skipped a line with more than ${mostEntries} entries`);
  }
  let value: unknown;
  try {
    value = JSON.parse(frame.text);
  } catch {
    return noMessage("Invalid JSON");
  }
  const parsed = clientEnvelope.safeParse(value);
  return parsed.success ? { message: parsed.data } : noMessage("Invalid JSON-RPC message", idIn(value));
}

function noMessage(message: string, requestId?: string): Decoded {
  const failure = { code: errorCodes.parse, message };
  return { failure: requestId === undefined ? failure : { ...failure, data: { requestId } } };
}

function idIn(value: unknown): string | undefined {
  const id = recordOf(value)?.id;
  return typeof id === "string" || typeof id === "number" ? textStart(String(id), 200) : undefined;
}
