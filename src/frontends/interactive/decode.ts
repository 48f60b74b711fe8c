import { rpcErrors } from "../../protocol/interactive.ts";
import { isNestedDeeper } from "../../text/json-size.ts";
import { isRecord } from "../../text/values.ts";
import { Refusal } from "./failures.ts";
import { idIn, noId, type RequestId } from "./request-id.ts";

export interface Request {
  readonly id: RequestId;
  readonly method: string;
  readonly params: unknown;
}

export type Decoded =
  | { readonly kind: "request"; readonly request: Request }
  /** Without an id it gets no response, and has no effect. */
  | { readonly kind: "notification" }
  | { readonly kind: "bad"; readonly id: RequestId; readonly refusal: Refusal };

/** Deeper values could not be sent back. */
const maxDepth = 500;

export function decode(text: string): Decoded {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: "bad", id: noId, refusal: new Refusal(rpcErrors.parse) };
  }
  if (!isRecord(value)) return invalid(noId);
  const { jsonrpc, id, method, params } = value;
  if (isNestedDeeper(text, maxDepth)) return invalid(typeof id === "object" ? noId : idIn(id, text));
  if (jsonrpc !== "2.0" || typeof method !== "string") return invalid(idIn(id, text));
  if (id === undefined) return { kind: "notification" };
  return { kind: "request", request: { id: idIn(id, text), method, params } };
}

function invalid(id: RequestId): Decoded {
  return { kind: "bad", id, refusal: new Refusal(rpcErrors.request) };
}
