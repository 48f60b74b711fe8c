import type { RpcError } from "../../protocol/droid/envelope.ts";
import type { Notification } from "../../protocol/droid/notifications.ts";
import {
  factoryApiVersion,
  factoryProtocolVersion,
  jsonRpcVersion,
  notificationMethod,
} from "../../protocol/droid/version.ts";
import type { Outgoing } from "./outbox.ts";

const versions = { factoryApiVersion, factoryProtocolVersion };
const traceparentPattern = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/;

export type Lines = ReturnType<typeof createLines>;

/** Writes the lines of one connection, with keys in the order that clients are used to. */
export function createLines() {
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
    result: (id: string, result: object) =>
      JSON.stringify({ jsonrpc: jsonRpcVersion, type: "response", ...versions, id, result }),
    error: (id: string | null, { code, message, data }: RpcError): string => {
      const error = data === undefined ? { code, message } : { code, message, data };
      return JSON.stringify({ jsonrpc: jsonRpcVersion, type: "response", ...versions, id, error });
    },
    notification,
    outgoing(message: Outgoing): string {
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
    /** Starts the trace of a turn; `traceparent` is the client's, if valid. */
    beginTrace(traceparent?: unknown) {
      const own = typeof traceparent === "string" ? traceparentPattern.exec(traceparent)?.[1] : undefined;
      trace = own === undefined || /^0+$/.test(own) ? randomHex(32) : own;
    },
  };
}

/** For trace ids, which need not be unpredictable. */
function randomHex(digits: number): string {
  let text = "";
  while (text.length < digits) text += (Math.random() * 0x1_0000_0000).toString(16).split(".")[0]?.padStart(8, "0");
  return text;
}
