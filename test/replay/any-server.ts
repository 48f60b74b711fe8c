import {
  documentBlock,
  imageBlock,
  message,
  redactedThinkingBlock,
  textBlock,
  thinkingBlock,
  toolResultBlock,
  toolUseBlock,
} from "../../src/protocol/droid/content.ts";
import { createMessage, notification, settingsUpdated } from "../../src/protocol/droid/notifications.ts";
import { clientResults, initializeResult, loadResult, pendingPermission } from "../../src/protocol/droid/results.ts";
import {
  errorResponse,
  notificationEnvelopeOf,
  resultResponse,
  serverRequestOf,
  traceMeta,
} from "../../src/protocol/droid/server-envelope.ts";
import {
  permissionDetails,
  permissionToolUse,
  requestPermissionParams,
  serverRequests,
} from "../../src/protocol/droid/server-requests.ts";
import { changedSettings, earlySettings, laterSettings } from "../../src/protocol/droid/settings.ts";
import {
  interactionModes,
  mcpServerTypes,
  otherInteractionModes,
  reasoningEfforts,
} from "../../src/protocol/droid/words.ts";
import { z } from "../../src/protocol/droid/zod.ts";

/* The protocol as any server may send it: our exact schemas, extended with everything else seen on the wire. */

const [base64Source, textSource] = documentBlock.shape.source.options;
const stored = { path: z.string().optional() };

const anyBlock = z.discriminatedUnion("type", [
  textBlock.extend({ isStreaming: z.boolean().optional() }),
  imageBlock,
  documentBlock.extend({
    source: z.discriminatedUnion("type", [base64Source.extend(stored), textSource.extend(stored)]),
  }),
  thinkingBlock.extend({ signatureProvider: z.string().optional() }),
  redactedThinkingBlock,
  toolUseBlock,
  /** `isError` is absent while the call runs. */
  toolResultBlock.extend({ isError: z.boolean().optional() }),
]);

const anyMessage = message.extend({
  role: z.enum([...message.shape.role.options, "system"]),
  content: z.array(anyBlock),
  parentId: z.string().optional(),
  visibility: z.enum(["both", "llm_only", "user_only"]).optional(),
  openaiMessageId: z.string().optional(),
  chatCompletionReasoningField: z.string().optional(),
  chatCompletionReasoningContent: z.string().optional(),
});

const anyMode = { interactionMode: z.enum([...interactionModes, ...otherInteractionModes]) };
const anySettings = z.union([earlySettings, laterSettings.extend(anyMode)]);
const anyChangedSettings = z.union([
  changedSettings,
  laterSettings.extend(anyMode),
  /** Only the changed ones of these two. */
  z.strictObject({
    specModeModelId: z.string().optional(),
    specModeReasoningEffort: z.enum(reasoningEfforts).optional(),
  }),
]);

const anyNotification = z.union([
  notification,
  createMessage.extend({ message: anyMessage }),
  settingsUpdated.extend({ settings: anyChangedSettings }),
]);

const mcpToolDetails = z.strictObject({
  type: z.literal("mcp_tool"),
  toolName: z.string(),
  impactLevel: z.enum(["low", "medium", "high"]),
});

const anyPermission = {
  toolUses: z.array(
    permissionToolUse.extend({
      details: z.union([permissionDetails, mcpToolDetails]),
    }),
  ),
};

const skill = z.strictObject({
  name: z.string(),
  description: z.string(),
  location: z.string(),
  filePath: z.string(),
  content: z.string(),
  resources: z.array(z.strictObject({ name: z.string(), path: z.string(), type: z.string() })).optional(),
  enabled: z.boolean().optional(),
  userInvocable: z.boolean().optional(),
});

const registered = z.strictObject({
  name: z.string(),
  description: z.string(),
  type: z.enum(mcpServerTypes),
  url: z.string().optional(),
  command: z.string().optional(),
  args: z.array(z.string()).optional(),
  note: z.string().optional(),
});

const rewindFile = z.strictObject({ filePath: z.string() });
const session = loadResult.shape.session.extend({ messages: z.array(anyMessage) });

const anyResults = {
  ...clientResults,
  "droid.initialize_session": initializeResult.extend({ settings: anySettings }),
  "droid.load_session": loadResult.extend({
    session,
    settings: anySettings,
    pendingPermissions: z.array(pendingPermission.extend(anyPermission)).optional(),
  }),
  "droid.list_skills": z.strictObject({ skills: z.array(skill) }),
  "droid.list_mcp_registry": z.strictObject({ servers: z.array(registered) }),
  "droid.get_rewind_info": z.strictObject({
    availableFiles: z.array(rewindFile.extend({ contentHash: z.string(), size: z.number().int() })),
    createdFiles: z.array(rewindFile),
    evictedFiles: z.array(rewindFile),
  }),
  "droid.execute_rewind": z.strictObject({
    newSessionId: z.string(),
    restoredCount: z.number().int(),
    deletedCount: z.number().int(),
    failedRestoreCount: z.number().int(),
    failedDeleteCount: z.number().int(),
  }),
};

const maybeTraced = { _meta: traceMeta.optional() };
const results: Readonly<Record<string, z.ZodType>> = anyResults;
const resultSchemas = new Map(
  Object.entries(results).map(([method, result]) => [method, resultResponse(result).extend(maybeTraced)]),
);
const anyError = errorResponse.extend(maybeTraced);
const anyNotificationEnvelope = notificationEnvelopeOf(anyNotification);
const anyRequest = z.discriminatedUnion("method", [
  serverRequestOf("droid.request_permission", requestPermissionParams.extend(anyPermission)),
  serverRequestOf("droid.ask_user", serverRequests["droid.ask_user"]),
]);

/**
 * The schema of a server's line: a notification, a request, or a response to `method`. `undefined` for a method without
 * a known result.
 */
export function anyServerSchema(
  kind: "notification" | "request" | "error" | "result",
  method = "",
): z.ZodType | undefined {
  if (kind === "notification") return anyNotificationEnvelope;
  if (kind === "request") return anyRequest;
  return kind === "error" ? anyError : resultSchemas.get(method);
}
