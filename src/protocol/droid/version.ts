/** What stands in every envelope. The first version is frozen; the second names the dialect and is not negotiated. */
export const jsonRpcVersion = "2.0";
export const factoryApiVersion = "1.0.0";
export const factoryProtocolVersion = "1.15.0";

/** The only method of notifications; what happened stands in its params. */
export const notificationMethod = "droid.session_notification";

export const errorCodes = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  notFound: -32004,
} as const;
