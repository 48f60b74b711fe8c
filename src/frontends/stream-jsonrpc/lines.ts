import type { RpcError } from "../../protocol/droid/envelope.ts";
import type { Notification } from "../../protocol/droid/notifications.ts";
import {
  factoryApiVersion,
  factoryProtocolVersion,
  jsonRpcVersion,
  notificationMethod,
} from "../../protocol/droid/version.ts";
import type { Outgoing } from "./outbox.ts";

/** Makes the lines of one connection. Keys stand in the order in which clients are used to see them. */
export interface Lines {
  result(id: string, result: object): string;
  error(id: string | null, failure: RpcError): string;
  outgoing(message: Outgoing): string;
  notification(notification: Notification): string;
  /** What follows belongs to one turn; `traceparent` is the client's own word for it. */
  beginTrace(traceparent?: unknown): void;
}

const versions = { factoryApiVersion, factoryProtocolVersion };
const traceparentPattern = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/;

export function createLines(): Lines {
  let trace = randomHex(32);
  const meta = (): object => ({ traceparent: `00-${trace}-${randomHex(16)}-01` });
  const notification = (body: Notification): string =>
    JSON.stringify({
      jsonrpc: jsonRpcVersion,
      type: "notification",
      ...versions,
      method: notificationMethod,
      params: { notification: body },
      _meta: meta(),
    });
  return {
    result: (id, result) => JSON.stringify({ jsonrpc: jsonRpcVersion, type: "response", ...versions, id, result }),
    error: (id, { code, message, data }) => {
      const error = data === undefined ? { code, message } : { code, message, data };
      return JSON.stringify({ jsonrpc: jsonRpcVersion, type: "response", ...versions, id, error });
    },
    notification,
    outgoing(message) {
      if (message.kind === "notification") return notification(message.notification);
      const { id, method, params } = message;
      return JSON.stringify({
        type: "request",
        jsonrpc: jsonRpcVersion,
        ...versions,
        method,
        id,
        params,
        _meta: meta(),
      });
    },
    beginTrace(traceparent) {
      const own = typeof traceparent === "string" ? traceparentPattern.exec(traceparent)?.[1] : undefined;
      trace = own === undefined || /^0+$/.test(own) ? randomHex(32) : own;
    },
  };
}

/** Names spans, protects nothing: it need not be hard to guess. */
function randomHex(digits: number): string {
  let text = "";
  while (text.length < digits) text += (Math.random() * 0x1_0000_0000).toString(16).split(".")[0]?.padStart(8, "0");
  return text;
}
