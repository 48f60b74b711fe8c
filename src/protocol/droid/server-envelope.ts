import { notification } from "./notifications.ts";
import { serverRequests } from "./server-requests.ts";
import { factoryApiVersion, factoryProtocolVersion, jsonRpcVersion, notificationMethod } from "./version.ts";
import { z } from "./zod.ts";

/* Envelopes of our own messages. Separate from envelope.ts, which is loaded in every run. */

const versions = {
  factoryApiVersion: z.literal(factoryApiVersion),
  factoryProtocolVersion: z.literal(factoryProtocolVersion),
};

export const traceMeta = z.strictObject({
  traceparent: z
    .string()
    .regex(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
    .describe("W3C Trace Context, one trace per turn."),
});

export const rpcError = z.strictObject({
  code: z.number().int(),
  message: z.string(),
  data: z
    .strictObject({
      requestId: z.string().optional().describe("With a null id: the request's id, if it could be read."),
      code: z.string().optional().describe("A code of docs/errors.md."),
    })
    .optional(),
});

const response = { jsonrpc: z.literal(jsonRpcVersion), type: z.literal("response"), ...versions };

export const resultResponse = <R extends z.ZodType>(result: R) =>
  z.strictObject({ ...response, id: z.string(), result });

export const errorResponse = z.strictObject({ ...response, id: z.string().nullable(), error: rpcError });

export const notificationEnvelopeOf = <N extends z.ZodType>(one: N) =>
  z.strictObject({
    jsonrpc: z.literal(jsonRpcVersion),
    type: z.literal("notification"),
    ...versions,
    method: z.literal(notificationMethod),
    params: z.strictObject({ notification: one }),
    _meta: traceMeta,
  });

export const serverRequestOf = <M extends string, P extends z.ZodType>(method: M, params: P) =>
  z.strictObject({
    type: z.literal("request"),
    jsonrpc: z.literal(jsonRpcVersion),
    ...versions,
    method: z.literal(method),
    id: z.string(),
    params,
    _meta: traceMeta,
  });

export const notificationEnvelope = notificationEnvelopeOf(notification);

export const serverRequest = z.discriminatedUnion("method", [
  serverRequestOf("droid.request_permission", serverRequests["droid.request_permission"]),
  serverRequestOf("droid.ask_user", serverRequests["droid.ask_user"]),
]);
