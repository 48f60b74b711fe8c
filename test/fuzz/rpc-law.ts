import type { Received } from "../fakes/rpc/wire.ts";

/** The required response to a line according to docs/stream-jsonrpc.md, without using the program's own schemas. */
export type Due =
  | { readonly kind: "silence"; readonly why: "blank" | "notification" | "response"; readonly id?: string }
  /** Exactly one response, which `answerName` names like this. */
  | { readonly kind: "answer"; readonly name: string; readonly method?: string; readonly id?: string };

const unreadable = "-32700 Invalid JSON";
const mostEntries = 20_000;

/** `bytes`: a line without its line feed. */
export function dueFor(bytes: Uint8Array): Due {
  const text = new TextDecoder().decode(bytes);
  if (text.trim() === "") return { kind: "silence", why: "blank" };
  if (entriesOf(text) > mostEntries) {
    return { kind: "answer", name: `-32700 Skipped a line with more than ${mostEntries} entries without id` };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: "answer", name: unreadable };
  }
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  const message = new Map(isObject ? Object.entries(value as object) : []);
  const [id, method, type] = ["id", "method", "type"].map((key) => message.get(key));
  const isCurrent =
    message.get("jsonrpc") === "2.0" &&
    message.get("factoryApiVersion") === "1.0.0" &&
    ["undefined", "string"].includes(typeof message.get("factoryProtocolVersion"));
  if (isCurrent && type === "notification" && typeof method === "string")
    return { kind: "silence", why: "notification" };
  if (isCurrent && type === "response" && typeof id === "string") return { kind: "silence", why: "response", id };
  if (isCurrent && type === "request" && typeof id === "string" && typeof method === "string")
    return { kind: "answer", name: requestName(id), method, id };
  const isNamed = typeof id === "string" || typeof id === "number";
  return {
    kind: "answer",
    name: `-32700 Invalid JSON-RPC message ${isNamed ? String(id).slice(0, 200) : "without id"}`,
  };
}

/** Commas and opening brackets outside of strings. */
function entriesOf(text: string): number {
  let entries = 0;
  let inText = false;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charAt(at);
    if (inText && sign === "\\") at += 1;
    else if (sign === '"') inText = !inText;
    else if (!inText && ",[{".includes(sign)) entries += 1;
  }
  return entries;
}

function requestName(id: string): string {
  return `request ${id}`;
}

/** Which line a response is for, if it says. */
export function answerName({ id, error }: Received): string {
  const { requestId } = (error?.data ?? {}) as { readonly requestId?: string };
  if (error?.code !== -32700) return requestName(String(id ?? requestId));
  if (error.message === "Invalid JSON") return unreadable;
  return `-32700 ${error.message} ${requestId ?? "without id"}`;
}

/** Faults of an error response, besides that it came. */
export function faultOf({ id, error }: Received): string | undefined {
  if (error === undefined) return undefined;
  const { code, message } = error;
  const data = (error.data ?? {}) as { readonly requestId?: unknown; readonly code?: unknown };
  if (code === -32700 || code === -32600) return id === null ? undefined : `${code} under the id ${id}`;
  if (typeof id !== "string") return `${code} without an id`;
  if ([-32601, -32602, -32004].includes(code)) return undefined;
  if (code !== -32603) return `the code ${code}`;
  // Unforeseen failures have no specific code.
  const isKnown =
    message.startsWith("No active session") || (typeof data.code === "string" && data.code !== "internal");
  return isKnown ? undefined : `an unforeseen failure: ${message}`;
}
