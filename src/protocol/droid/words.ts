/* The wire's enumerations, as plain lists, so that they can be used without loading the schemas. */

export const laterLevels = ["off", "low", "medium", "high"] as const;
export type LaterLevel = (typeof laterLevels)[number];

export const impactLevels = ["low", "medium", "high"] as const;

export const earlyLevels = ["normal", "auto-low", "auto-medium", "auto-high", "spec"] as const;
export type EarlyLevel = (typeof earlyLevels)[number];

/** Values of `autonomyMode`, the same as the early dialect's levels. */
export const autonomyModes = earlyLevels;

export const interactionModes = ["auto", "spec"] as const;

/** Known modes that we reject with a message. */
export const otherInteractionModes = ["agi", "mission"] as const;

export const reasoningEfforts = ["none", "dynamic", "off", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

export const workingStates = [
  "idle",
  "streaming_assistant_message",
  "waiting_for_tool_confirmation",
  "executing_tool",
  "compacting_conversation",
] as const;
export type WorkingState = (typeof workingStates)[number];

/** All answers to a permission request that clients may know, even those we don't offer. */
export const outcomes = [
  "proceed_once",
  "proceed_always",
  "proceed_always_file",
  "proceed_always_tools",
  "proceed_always_server",
  "proceed_auto_run",
  "proceed_auto_run_low",
  "proceed_auto_run_medium",
  "proceed_auto_run_high",
  "proceed_new_session",
  "proceed_new_session_low",
  "proceed_new_session_medium",
  "proceed_new_session_high",
  "proceed_edit",
  "cancel",
] as const;

/** The answers that we offer. */
export const offeredOutcomes = [
  "proceed_once",
  "proceed_always",
  "proceed_always_tools",
  "proceed_always_server",
  "proceed_auto_run_low",
  "proceed_auto_run_medium",
  "proceed_auto_run_high",
  "cancel",
] as const;
export type OfferedOutcome = (typeof offeredOutcomes)[number];

export const turnEndReasons = [
  "completed",
  "spec_handoff",
  "cancelled",
  "permission_rejected",
  "no_approver_available",
  "prompt_rejected",
  "model_authentication_failed",
  "model_request_rejected",
  "model_provider_unavailable",
  "model_provider_unreachable",
  "completion_persistence_failed",
  "error",
] as const;
export type TurnEndReason = (typeof turnEndReasons)[number];

/** The only error types that clients accept. */
export const errorTypes = [
  "ConnectionError",
  "ProtocolError",
  "SessionError",
  "TimeoutError",
  "DroidClientError",
  "ProcessExitError",
  "Error",
] as const;
export type ErrorType = (typeof errorTypes)[number];

export const retryReasons = ["overloaded", "rate_limited", "timeout", "network", "empty_response", "unknown"] as const;
export type RetryReason = (typeof retryReasons)[number];

/** The providers that clients know. All others are `generic-chat-completion-api`. */
export const modelProviders = [
  "anthropic",
  "openai",
  "generic-chat-completion-api",
  "factory",
  "google",
  "xai",
  "voyage",
] as const;
export type ModelProvider = (typeof modelProviders)[number];

export const imageTypes = ["image/jpeg", "image/png", "image/gif", "image/webp"] as const;

export const mcpStatuses = ["connecting", "connected", "disconnected", "failed", "disabled"] as const;
export const mcpServerTypes = ["stdio", "http", "sse"] as const;

export const mcpSources = ["org", "runtime", "user", "project", "folder", "dynamic", "builtin"] as const;

export const mcpAuthOutcomes = ["success", "cancelled", "failed"] as const;

export const mcpAuthMethods = ["none", "client_secret_basic", "client_secret_post"] as const;
