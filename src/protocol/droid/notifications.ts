import { lastCallTokenUsage, message, tokenUsage, toolContent, toolUseBlock } from "./content.ts";
import { mcpAuthCompleted, mcpAuthRequired, mcpStatusChanged } from "./mcp.ts";
import { changedSettings } from "./settings.ts";
import { errorTypes, offeredOutcomes, retryReasons, turnEndReasons, workingStates } from "./words.ts";
import { type Wire, z } from "./zod.ts";

/* `params.notification` of `droid.session_notification`, discriminated by `type`. */

export const settingsUpdated = z.strictObject({
  type: z.literal("settings_updated"),
  settings: changedSettings,
});

const sessionTitleUpdated = z.strictObject({ type: z.literal("session_title_updated"), title: z.string() });

const workingStateChanged = z.strictObject({
  type: z.literal("droid_working_state_changed"),
  newState: z.enum(workingStates),
});

export const createMessage = z.strictObject({
  type: z.literal("create_message"),
  message,
  requestId: z.string().optional().describe("Id of the request that sent the user's message."),
});

const delta = { messageId: z.string(), blockIndex: z.number().int(), textDelta: z.string() };
const complete = { messageId: z.string(), blockIndex: z.number().int() };

const assistantTextDelta = z.strictObject({ type: z.literal("assistant_text_delta"), ...delta });
const assistantTextComplete = z.strictObject({ type: z.literal("assistant_text_complete"), ...complete });
const thinkingTextDelta = z.strictObject({ type: z.literal("thinking_text_delta"), ...delta });
const thinkingTextComplete = z.strictObject({
  type: z.literal("thinking_text_complete"),
  ...complete,
  durationMs: z.number(),
});

const toolCall = z.strictObject({
  type: z.literal("tool_call"),
  toolUse: toolUseBlock.describe("While the arguments stream, input has the keys complete so far."),
});

const tool = { toolUseId: z.string(), toolName: z.string() };

const toolProgressUpdate = z.strictObject({
  type: z.literal("tool_progress_update"),
  ...tool,
  update: z.strictObject({ type: z.literal("status"), text: z.string(), timestamp: z.number().int() }),
});

const toolExecutionHeartbeat = z.strictObject({ type: z.literal("tool_execution_heartbeat"), ...tool });

const toolResult = z.strictObject({
  type: z.literal("tool_result"),
  toolUseId: z.string(),
  messageId: z.string().describe("Shared by all results of one assistant message."),
  content: toolContent,
  isError: z.boolean(),
});

const permissionResolved = z.strictObject({
  type: z.literal("permission_resolved"),
  requestId: z.string(),
  toolUseIds: z.array(z.string()).describe("The allowed calls; empty if cancelled."),
  selectedOption: z.enum(offeredOutcomes),
});

const sessionTokenUsageChanged = z.strictObject({
  type: z.literal("session_token_usage_changed"),
  sessionId: z.string(),
  tokenUsage: tokenUsage.describe("The session's total so far."),
  lastCallTokenUsage: lastCallTokenUsage.optional(),
});

const agentTurnCompleted = z.strictObject({
  type: z.literal("agent_turn_completed"),
  reason: z.enum(turnEndReasons),
  turnId: z.string().describe("The client's messageId, or else the id of the turn's first message."),
  tokenUsage: tokenUsage.describe("Usage of this turn."),
  cumulativeTokenUsage: tokenUsage.describe("The session's total so far."),
  durationMs: z.number(),
});

const errorHappened = z.strictObject({
  type: z.literal("error"),
  message: z.string(),
  errorType: z.enum(errorTypes),
  timestamp: z.string().describe("ISO 8601 with time zone."),
  error: z.strictObject({ name: z.string(), message: z.string() }),
});

const llmRetry = z.strictObject({
  type: z.literal("llm_retry"),
  attempt: z.number().int(),
  reason: z.enum(retryReasons),
});

const sessionCompacted = z.strictObject({
  type: z.literal("session_compacted"),
  summaryId: z.string(),
  removedCount: z.number().int().describe("Messages that the model no longer reads."),
  visibleBoundaryMessageId: z.string().describe("The last of them. The history keeps them all."),
});

const noticeGiven = z.strictObject({
  type: z.literal("notice"),
  level: z.enum(["info", "warning"]),
  message: z.string().describe("Text for people. It ends nothing."),
  timestamp: z.string().describe("ISO 8601 with time zone."),
});

const queuedMessagesDiscarded = z.strictObject({
  type: z.literal("queued_messages_discarded"),
  text: z.string(),
  requestId: z.string().optional(),
});

export const notification = z.discriminatedUnion("type", [
  settingsUpdated,
  sessionTitleUpdated,
  workingStateChanged,
  createMessage,
  assistantTextDelta,
  assistantTextComplete,
  thinkingTextDelta,
  thinkingTextComplete,
  toolCall,
  toolProgressUpdate,
  toolExecutionHeartbeat,
  toolResult,
  permissionResolved,
  sessionTokenUsageChanged,
  mcpStatusChanged,
  mcpAuthRequired,
  mcpAuthCompleted,
  agentTurnCompleted,
  errorHappened,
  llmRetry,
  sessionCompacted,
  noticeGiven,
  queuedMessagesDiscarded,
]);

export type ErrorHappened = Wire<typeof errorHappened>;
export type Notification = Wire<typeof notification>;
