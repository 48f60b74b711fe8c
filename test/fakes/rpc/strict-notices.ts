/** Payloads of `droid.session_notification` by type. The SDKs skip unknown types. */
import { z } from "zod";
import {
  amount,
  changedSettings,
  count,
  flag,
  lastCallTokenUsage,
  mcpServer,
  mcpSummary,
  message,
  text,
  texts,
  tokenUsage,
  toolUse,
} from "./strict-objects.ts";
import * as words from "./strict-words.ts";

const progress = z.looseObject({
  type: z.enum(["tool_call", "tool_result", "error", "status", "message"]),
  toolName: text.optional(),
  status: text.optional(),
  details: text.optional(),
  text: text.optional(),
  error: text.optional(),
  timestamp: amount.optional(),
  parameters: z.record(z.string(), z.unknown()).optional(),
  valueSnippet: text.optional(),
  subagentSessionId: text.optional(),
  terminalId: text.optional(),
  fullOutput: text.optional(),
});

const delta = { messageId: text, blockIndex: count, textDelta: text };
const ofTool = { toolUseId: text, toolName: text };

export const noticePayloads = (level: z.ZodType): Readonly<Record<string, z.ZodType>> => ({
  tool_result: z.looseObject({
    messageId: text,
    toolUseId: text,
    content: z.unknown().optional(),
    isError: flag.optional(),
    id: text.optional(),
  }),
  tool_progress_update: z.looseObject({ ...ofTool, update: progress }),
  create_message: z.looseObject({ message, parentId: text.optional(), requestId: text.optional() }),
  error: z.looseObject({
    message: text,
    errorType: words.errorType,
    timestamp: z.iso.datetime({ offset: true }),
    error: z.looseObject({ name: text, message: text }).optional(),
  }),
  droid_working_state_changed: z.looseObject({ newState: words.workingState }),
  session_compacted: z.looseObject({ summaryId: text, removedCount: count, visibleBoundaryMessageId: text }),
  permission_resolved: z.looseObject({ requestId: text, toolUseIds: texts, selectedOption: words.outcome }),
  settings_updated: z.looseObject({ requestId: text.optional(), settings: changedSettings(level) }),
  session_title_updated: z.looseObject({ requestId: text.optional(), title: text }),
  session_working_directory_changed: z.looseObject({ cwd: text }),
  mcp_status_changed: z.looseObject({ servers: z.array(mcpServer), summary: mcpSummary }),
  assistant_text_delta: z.looseObject(delta),
  assistant_text_complete: z.looseObject({ messageId: text, blockIndex: count }),
  thinking_text_delta: z.looseObject(delta),
  thinking_text_complete: z.looseObject({ messageId: text, blockIndex: count, durationMs: amount.optional() }),
  structured_output: z.looseObject({ messageId: text, structuredOutput: z.record(z.string(), z.unknown()) }),
  session_token_usage_changed: z.looseObject({
    sessionId: text,
    tokenUsage,
    inclusiveTokenUsage: tokenUsage.optional(),
    lastCallTokenUsage: lastCallTokenUsage.optional(),
  }),
  agent_turn_completed: z.looseObject({
    reason: words.turnEnd,
    turnId: text.optional(),
    tokenUsage,
    cumulativeTokenUsage: tokenUsage.optional(),
    childTokenUsage: tokenUsage.optional(),
    cumulativeChildTokenUsage: tokenUsage.optional(),
    durationMs: amount.optional(),
  }),
  mcp_auth_required: z.looseObject({ serverName: text, authUrl: text, message: text, state: text }),
  mcp_auth_completed: z.looseObject({ serverName: text, outcome: words.mcpAuthOutcome, message: text }),
  tool_call: z.looseObject({ toolUse }),
  queued_messages_discarded: z.looseObject({ text, requestId: text.optional() }),
  tool_execution_heartbeat: z.looseObject(ofTool),
  tool_execution_phase_changed: z.looseObject({ ...ofTool, phase: words.toolPhase }),
  llm_retry: z.looseObject({ attempt: count, reason: words.retryReason }),
});
