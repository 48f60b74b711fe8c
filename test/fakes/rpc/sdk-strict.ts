/** The requirements of the public SDKs, message by message. */
import { z } from "zod";
import { noticePayloads } from "./strict-notices.ts";
import { serverRequests } from "./strict-requests.ts";
import { resultPayloads } from "./strict-results.ts";
import { errorCodes, laterLevel, oldLevel } from "./strict-words.ts";
import type { Notice, Received } from "./wire.ts";

const traced = z.strictObject({ traceparent: z.string().optional(), tracestate: z.string().optional() }).optional();
const common = {
  jsonrpc: z.literal("2.0"),
  factoryApiVersion: z.literal("1.0.0"),
  factoryProtocolVersion: z.string().optional(),
  _meta: traced,
};
const rpcError = z.looseObject({
  code: z.int().refine((code) => errorCodes.includes(code), "is not a code that the SDKs know"),
  message: z.string(),
});

const envelopes: Readonly<Record<string, z.ZodType>> = {
  notification: z.looseObject({
    ...common,
    type: z.literal("notification"),
    method: z.literal("droid.session_notification"),
    params: z.looseObject({ notification: z.looseObject({ type: z.string() }), sessionId: z.string().optional() }),
  }),
  request: z.looseObject({
    ...common,
    type: z.literal("request"),
    id: z.string().min(1),
    method: z.enum(["droid.request_permission", "droid.ask_user"]),
    params: z.looseObject({}),
  }),
  response: z
    .looseObject({
      ...common,
      type: z.literal("response"),
      id: z.string().nullable(),
      result: z.looseObject({}).optional(),
      error: rpcError.optional(),
    })
    .refine(
      ({ result, error }) => (result === undefined) !== (error === undefined),
      "must have either a result or an error",
    ),
};

export type Faults = readonly string[];

export interface Strict {
  notice(notice: Notice): Faults;
  serverRequest(request: Received): Faults;
  result(method: string, result: unknown): Faults;
  message(message: Received, methodOf: ReadonlyMap<string, string>): Faults;
}

function createStrict(level: z.ZodType): Strict {
  const notices = noticePayloads(level);
  const results = resultPayloads(level);
  const notice = (payload: Notice): Faults => check(notices[payload.type], payload, payload.type);
  const serverRequest = ({ method = "?", params }: Received): Faults => check(serverRequests[method], params, method);
  const result = (method: string, value: unknown): Faults => check(results[method], value, `result of ${method}`);
  return {
    notice,
    serverRequest,
    result,
    message: (message, methodOf) => {
      const envelope = envelopes[message.type ?? ""];
      if (envelope === undefined) return [`type ${JSON.stringify(message.type)} is dropped by the SDKs`];
      const faults = check(envelope, message, String(message.type));
      if (faults.length > 0) return faults;
      if (message.params?.notification !== undefined) return notice(message.params.notification);
      if (message.type === "request") return serverRequest(message);
      if (message.result === undefined || typeof message.id !== "string") return [];
      const method = methodOf.get(message.id);
      return method === undefined ? [`a response to nothing: ${message.id}`] : result(method, message.result);
    },
  };
}

/** For current SDKs. */
export const strict = createStrict(laterLevel);
/** The same for clients with the older words for levels. */
export const strictOld = createStrict(oldLevel);

export interface CheckOptions {
  /** The client uses the older words for levels. */
  readonly old?: boolean;
}

/** Everything that an SDK would reject in the responses to what was sent. */
export function checkAll(
  received: readonly Received[],
  sent: readonly Readonly<Record<string, unknown>>[],
  { old = false }: CheckOptions = {},
): Faults {
  const methodOf = new Map(
    sent.filter(({ type }) => type === "request").map(({ id, method }) => [String(id), String(method)]),
  );
  const { message: faultsOf } = old ? strictOld : strict;
  return received.flatMap((message) => faultsOf(message, methodOf).map((fault) => `${fault} in ${brief(message)}`));
}

function check(schema: z.ZodType | undefined, value: unknown, what: string): Faults {
  const parsed = schema?.safeParse(value);
  if (parsed === undefined || parsed.success) return [];
  return parsed.error.issues.map((issue) => `${[what, ...issue.path.map(String)].join(".")}: ${issue.message}`);
}

function brief(message: Received): string {
  return JSON.stringify(message).slice(0, 500);
}
