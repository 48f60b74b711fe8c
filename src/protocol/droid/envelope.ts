import "./jitless.ts";
import * as z from "zod/mini";
import type { rpcError } from "./server-envelope.ts";
import { factoryApiVersion, jsonRpcVersion } from "./version.ts";
import type { Wire } from "./zod.ts";

/* Envelopes of client messages, independent of the method. Loaded in every run, so they use zod/mini. */

const versions = {
  jsonrpc: z.literal(jsonRpcVersion),
  factoryApiVersion: z.literal(factoryApiVersion),
  factoryProtocolVersion: z.optional(z.string()),
};

export const clientRequest = z.object({
  ...versions,
  type: z.literal("request"),
  id: z.string(),
  method: z.string(),
  params: z.optional(z.unknown()),
  // A malformed trace must not reject the request.
  _meta: z.catch(z.optional(z.object({ traceparent: z.optional(z.string()) })), undefined),
});

export const clientResponse = z.object({
  ...versions,
  type: z.literal("response"),
  id: z.string(),
  result: z.optional(z.unknown()),
  error: z.optional(z.unknown()),
});

export const clientNotification = z.object({ ...versions, type: z.literal("notification"), method: z.string() });

export const clientEnvelope = z.discriminatedUnion("type", [clientRequest, clientResponse, clientNotification]);

export type ClientRequest = Wire<typeof clientRequest>;
export type ClientResponse = Wire<typeof clientResponse>;
export type ClientEnvelope = Wire<typeof clientEnvelope>;

export type RpcError = Wire<typeof rpcError>;
