import {
  block,
  documentBlock,
  imageBlock,
  lastCallTokenUsage,
  message,
  redactedThinkingBlock,
  textBlock,
  thinkingBlock,
  tokenUsage,
  toolResultBlock,
  toolUseBlock,
} from "../src/protocol/droid/content.ts";
import { clientNotification, clientRequest, clientResponse } from "../src/protocol/droid/envelope.ts";
import { availableModel, listedModel, toolInfo } from "../src/protocol/droid/models.ts";
import { notification } from "../src/protocol/droid/notifications.ts";
import { clientParams } from "../src/protocol/droid/params.ts";
import { clientResults } from "../src/protocol/droid/results.ts";
import {
  errorResponse,
  notificationEnvelopeOf,
  resultResponse,
  rpcError,
  serverRequestOf,
  traceMeta,
} from "../src/protocol/droid/server-envelope.ts";
import {
  askUserAnswer,
  permissionAnswer,
  permissionDetails,
  permissionOption,
  permissionToolUse,
  serverRequests,
} from "../src/protocol/droid/server-requests.ts";
import { earlySettings, laterSettings } from "../src/protocol/droid/settings.ts";
import { z } from "../src/protocol/droid/zod.ts";
import { definitions, type Named, refOf } from "./schema-definitions.ts";

/** The method without its prefix. */
const short = (method: string): string => method.replace("droid.", "");

const requests: Named = Object.entries(clientParams).map(([method, params]) => [
  `client.request.${short(method)}`,
  z.object({ ...clientRequest.shape, method: z.literal(method), params }),
]);

const { result: _result, error: _error, ...answer } = clientResponse.shape;
const failure = z.object({ code: z.number(), message: z.string() });

const answers: Named = [
  ["client.answer.request_permission", z.object({ ...answer, result: permissionAnswer })],
  ["client.answer.ask_user", z.object({ ...answer, result: askUserAnswer })],
  ["client.answer.error", z.object({ ...answer, error: failure })],
];

const client: Named = [...requests, ...answers, ["client.notification", clientNotification]];

const server: Named = [
  ...Object.entries(clientResults).map(
    ([method, result]) => [`server.result.${short(method)}`, resultResponse(result)] as const,
  ),
  ["server.error", errorResponse],
  ...notification.options.map(
    (one) => [`server.notification.${one.shape.type.value}`, notificationEnvelopeOf(one)] as const,
  ),
  ...Object.entries(serverRequests).map(
    ([method, params]) => [`server.request.${short(method)}`, serverRequestOf(method, params)] as const,
  ),
];

/** Parts shared by several messages. */
const parts: Named = Object.entries({
  availableModel,
  listedModel,
  block,
  documentBlock,
  imageBlock,
  lastCallTokenUsage,
  laterSettings,
  message,
  permissionDetails,
  permissionOption,
  permissionToolUse,
  redactedThinkingBlock,
  rpcError,
  earlySettings,
  textBlock,
  thinkingBlock,
  tokenUsage,
  toolInfo,
  toolResultBlock,
  toolUseBlock,
  traceMeta,
});

/** One document for all messages. `$defs` has each kind, plus `client` and `server` for any message of a direction. */
export function streamJsonRpcSchema(): object {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "stream-jsonrpc",
    description:
      "A line of `tinman exec --input-format stream-jsonrpc --output-format stream-jsonrpc`, in either direction.",
    anyOf: [{ $ref: refOf("client") }, { $ref: refOf("server") }],
    $defs: {
      client: { description: "Any message from a client.", anyOf: client.map(([name]) => ({ $ref: refOf(name) })) },
      server: { description: "Any message from the program.", anyOf: server.map(([name]) => ({ $ref: refOf(name) })) },
      ...definitions(client, "input"),
      ...definitions([...server, ...parts], "output"),
    },
  };
}
