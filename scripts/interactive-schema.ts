import { z } from "zod";
import {
  interactiveNotifications,
  interactiveParams,
  interactiveResults,
  jsonRpcVersion,
  refusedCode,
  rpcErrors,
} from "../src/protocol/interactive.ts";
import { definitions, type Named, refOf } from "./schema-definitions.ts";

const jsonrpc = z.literal(jsonRpcVersion);
/** Any JSON value. The response repeats it. */
const id = z.unknown();

const codes = [...Object.values(rpcErrors).map(({ code }) => code), refusedCode];

const client: Named = Object.entries(interactiveParams).map(([method, params]) => [
  `client.request.${method}`,
  z.looseObject({ jsonrpc, id, method: z.literal(method), params }),
]);

const server: Named = [
  ...Object.entries(interactiveResults).map(
    ([method, result]) => [`server.result.${method}`, z.strictObject({ jsonrpc, id, result })] as const,
  ),
  [
    "server.error",
    z.strictObject({
      jsonrpc,
      id,
      error: z.strictObject({
        code: z.literal(codes),
        message: z.string(),
        data: z.record(z.string(), z.unknown()).optional(),
      }),
    }),
  ],
  ...Object.entries(interactiveNotifications).map(
    ([method, params]) =>
      [`server.notification.${method}`, z.strictObject({ jsonrpc, method: z.literal(method), params })] as const,
  ),
];

/** One document for all frames. `$defs` has each kind, plus `client` and `server` for any frame of a direction. */
export function interactiveSchema(): object {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "interactive",
    description: "A text frame on the path /ws of `tinman serve`, in either direction.",
    anyOf: [{ $ref: refOf("client") }, { $ref: refOf("server") }],
    $defs: {
      client: { description: "Any frame from a client.", anyOf: client.map(([name]) => ({ $ref: refOf(name) })) },
      server: { description: "Any frame from the server.", anyOf: server.map(([name]) => ({ $ref: refOf(name) })) },
      ...definitions(client, "input"),
      ...definitions(server, "output"),
    },
  };
}
