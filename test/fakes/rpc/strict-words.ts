/** The public SDKs' closed enumerations: any other word makes the whole message invalid. */
import { z } from "zod";

export const outcome = z.enum([
  "proceed_once",
  "proceed_always",
  "proceed_always_file",
  "proceed_auto_run",
  "proceed_auto_run_low",
  "proceed_auto_run_medium",
  "proceed_auto_run_high",
  "proceed_new_session",
  "proceed_new_session_low",
  "proceed_new_session_medium",
  "proceed_new_session_high",
  "proceed_edit",
  "proceed_always_tools",
  "proceed_always_server",
  "cancel",
]);

export const workingState = z.enum([
  "idle",
  "thinking",
  "streaming_assistant_message",
  "waiting_for_tool_confirmation",
  "executing_tool",
  "compacting_conversation",
]);

export const errorType = z.enum([
  "ConnectionError",
  "ProtocolError",
  "SessionError",
  "TimeoutError",
  "DroidClientError",
  "ProcessExitError",
  "Error",
]);

export const turnEnd = z.enum([
  "completed",
  "cancelled",
  "permission_rejected",
  "error",
  "process_exit",
  "spec_handoff",
  "structured_output_missing",
  "structured_output_invalid",
  "structured_output_schema_invalid",
  "model_usage_exhausted",
  "model_authentication_failed",
  "model_request_rejected",
  "model_provider_unreachable",
  "model_provider_unavailable",
  "prompt_rejected",
  "completion_persistence_failed",
  "no_approver_available",
]);

export const retryReason = z.enum(["overloaded", "rate_limited", "timeout", "network", "empty_response", "unknown"]);
export const toolPhase = z.enum([
  "streaming_input",
  "queued",
  "executing",
  "settled_after_execution",
  "settled_without_execution",
  "settled_unknown",
]);

export const interactionMode = z.enum(["auto", "spec", "agi"]);
/** The levels of current SDKs, and those of older clients. */
export const laterLevel = z.enum(["off", "low", "medium", "high"]);
export const oldLevel = z.enum(["normal", "auto-low", "auto-medium", "auto-high", "spec"]);
export const autonomyMode = z.enum(["normal", "spec", "auto-low", "auto-medium", "auto-high"]);
export const reasoningEffort = z.enum(["none", "dynamic", "off", "minimal", "low", "medium", "high", "xhigh", "max"]);
export const modelProvider = z.enum([
  "anthropic",
  "openai",
  "generic-chat-completion-api",
  "factory",
  "google",
  "xai",
  "voyage",
]);

export const role = z.enum(["user", "assistant", "tool", "system"]);
export const visibility = z.enum(["both", "llm_only", "user_only"]);
export const accuracy = z.enum(["exact", "estimated"]);
export const skillLocation = z.enum(["project", "personal", "builtin", "automation"]);
export const settingsLevel = z.enum(["org", "runtime", "user", "project", "folder", "dynamic", "builtin"]);
export const mcpServerStatus = z.enum(["connecting", "connected", "disconnected", "failed", "disabled"]);
export const mcpServerType = z.enum(["stdio", "http", "sse"]);
export const mcpAuthOutcome = z.enum(["success", "cancelled", "failed"]);
export const errorCodes: readonly number[] = [-32700, -32600, -32601, -32602, -32603, -32001, -32004, -32005];
