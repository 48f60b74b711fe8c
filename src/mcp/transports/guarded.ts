import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { fieldsOf } from "../../text/values.ts";

/** The only notifications that we act on. All others are dropped before they cost anything. */
const heard: ReadonlySet<unknown> = new Set([
  "notifications/cancelled",
  "notifications/progress",
  "notifications/tools/list_changed",
  "notifications/prompts/list_changed",
  "notifications/resources/list_changed",
]);

/** Requests of the server that are being answered. More are ignored. */
const mostOpen = 64;

/**
 * Passes on only messages that mean something: answers and progress of open requests, notifications that we act on, and
 * a limited number of requests. What the library would do with others grows with their size or number.
 */
export function guarded(inner: Transport, swap = (message: JSONRPCMessage): JSONRPCMessage => message): Transport {
  const sent = new Set<unknown>();
  const open = new Set<unknown>();

  const means = (message: Record<string, unknown>): boolean => {
    const { id, method } = message;
    if (method === undefined) return sent.delete(id);
    if (id === undefined) {
      if (method === "notifications/progress") return sent.has(fieldsOf(message.params).progressToken);
      if (method === "notifications/cancelled") open.delete(fieldsOf(message.params).requestId);
      return heard.has(method);
    }
    if (typeof id !== "string" && typeof id !== "number") return false;
    if (open.size >= mostOpen || open.has(id)) return false;
    open.add(id);
    return true;
  };
  inner.onmessage = (message, extra) => {
    if (means(message as unknown as Record<string, unknown>)) outer.onmessage?.(swap(message) as never, extra);
  };
  inner.onclose = () => outer.onclose?.();
  inner.onerror = (error) => outer.onerror?.(error);

  const outer: Transport = {
    start: () => inner.start(),
    send(message, options) {
      const { id, method, params } = message as unknown as Record<string, unknown>;
      if (method === undefined) open.delete(id);
      else if (id !== undefined) sent.add(id);
      else if (method === "notifications/cancelled") sent.delete(fieldsOf(params).requestId);
      return inner.send(message, options);
    },
    close: () => inner.close(),
    setProtocolVersion: (version) => inner.setProtocolVersion?.(version),
    setSupportedProtocolVersions: (versions) => inner.setSupportedProtocolVersions?.(versions),
  };
  return outer;
}
