/** Sent in every envelope. `factoryApiVersion` is frozen. `factoryProtocolVersion` names the dialect, without negotiation. */
export const jsonRpcVersion = "2.0";
export const factoryApiVersion = "1.0.0";
export const factoryProtocolVersion = "1.15.0";

/** The only notification method. Its params say what happened. */
export const notificationMethod = "droid.session_notification";

export const errorCodes = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  notFound: -32004,
} as const;
