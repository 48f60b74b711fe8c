import { type Example, fromServer } from "../../fakes/rpc/published-examples.ts";

/** A published server message. `added`: what we send beyond it, because the early dialect or its documentation lacks it. */
export interface ServerExample {
  readonly example: Example;
  readonly added?: object;
}

type Examples = Readonly<Record<string, ServerExample>>;

/** By method. */
export const results: Examples = {
  "droid.initialize_session": { example: fromServer.initialized },
  "droid.load_session": {
    example: fromServer.loaded,
    added: {
      result: {
        tokenUsage: {
          inputTokens: 1,
          outputTokens: 1,
          cacheCreationTokens: 0,
          cacheReadTokens: 0,
          thinkingTokens: 0,
        },
      },
    },
  },
  "droid.add_user_message": { example: fromServer.success },
  "droid.update_session_settings": { example: fromServer.settingsTaken },
  "droid.interrupt_session": { example: fromServer.interrupted },
};

export const errors: Examples = {
  "Invalid request format": { example: fromServer.invalidRequest },
  "Invalid JSON-RPC message": { example: fromServer.invalidMessage },
};

const gold = "#E3992A";
const red = "#E54048";

export const serverRequests: Examples = {
  "permission to run a command": {
    example: fromServer.requestPermission,
    added: {
      params: {
        options: [{ selectedColor: gold }, { selectedColor: gold }, { selectedColor: red, selectedPrefix: "✕ " }],
      },
    },
  },
  "permission for one plan": { example: fromServer.onePlan },
  "permission for one plan of several": { example: fromServer.twoPlans },
  "a question": { example: fromServer.askUser },
};

const noticed = (notification: object): object => ({ params: { notification } });
const times = noticed({ message: { createdAt: 1771239439693, updatedAt: 1771239439693 } });

export const notifications: Examples = {
  settings_updated: {
    example: fromServer.settingsUpdated,
    added: noticed({
      settings: { reasoningEffort: "none", autonomyLevel: "auto-low", specModeReasoningEffort: "none" },
    }),
  },
  session_title_updated: { example: fromServer.titleUpdated },
  "state streaming_assistant_message": { example: fromServer.streaming },
  "state executing_tool": { example: fromServer.executing },
  "state waiting_for_tool_confirmation": { example: fromServer.waiting },
  "state idle": { example: fromServer.idle },
  "create_message of the user": { example: fromServer.userMessage, added: times },
  "create_message of the assistant": { example: fromServer.assistantMessage, added: times },
  assistant_text_delta: { example: fromServer.textDelta },
  tool_progress_update: { example: fromServer.toolProgress },
  "tool_result of a success": { example: fromServer.toolResult, added: noticed({ isError: false }) },
  "tool_result of a failure": { example: fromServer.failedToolResult, added: noticed({ isError: true }) },
  session_token_usage_changed: { example: fromServer.tokenUsage },
  mcp_status_changed: { example: fromServer.mcpStatus },
  // Later clients need the state.
  mcp_auth_required: { example: fromServer.signIn, added: noticed({ state: "s" }) },
  permission_resolved: { example: fromServer.permissionResolved },
};
