/* Messages of the protocol as servers of its first dialect write them, kept by hand. */

const envelope = { jsonrpc: "2.0", factoryApiVersion: "1.0.0" };
const request = { ...envelope, type: "request" };
const answer = { ...envelope, type: "response" };
const notified = (notification: object): object => ({
  type: "notification",
  method: "droid.session_notification",
  params: { notification },
});

const uuid = "1887395f-fcc3-4703-ac35-349cccca8a1f";
const question = "Which color do you want?";

/** A message of a server, and what this program sends with it that the first dialect did not have, or its page left out. */
export interface ServerExample {
  readonly example: object;
  readonly added?: object;
}

const models = { availableModels: [] };

export const results: Readonly<Record<string, ServerExample>> = {
  "droid.initialize_session": {
    example: {
      type: "response",
      id: "1",
      result: {
        sessionId: "probe-1",
        session: { messages: [] },
        settings: {
          modelId: "gpt-5.1",
          reasoningEffort: "none",
          autonomyLevel: "auto-low",
          specModeReasoningEffort: "none",
        },
        ...models,
        gitRepo: { owner: "someone", repoName: "something" },
      },
    },
  },
  "droid.load_session": {
    example: {
      type: "response",
      id: "2",
      result: {
        session: {
          messages: [
            {
              id: "f5a14b7d",
              role: "user",
              content: [
                { type: "text", text: "<system-reminder>...</system-reminder>" },
                { type: "text", text: "The password is DOLPHIN-2288. Just reply OK." },
              ],
              createdAt: 1771250960382,
              updatedAt: 1771250960382,
              parentId: "root",
            },
            {
              id: "2ead7df5",
              role: "assistant",
              content: [{ type: "text", text: "OK" }],
              parentId: "f5a14b7d",
              createdAt: 1771250963471,
              updatedAt: 1771250963471,
            },
          ],
        },
        settings: {
          modelId: "kimi-k2.5",
          reasoningEffort: "off",
          autonomyLevel: "auto-low",
          specModeReasoningEffort: "none",
        },
        ...models,
        isAgentLoopInProgress: false,
        gitRepo: { repoName: "something" },
        cwd: "/path/to/workspace",
      },
    },
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
  "droid.add_user_message": { example: { ...answer, id: "2", result: {} } },
  "droid.update_session_settings": { example: { ...answer, id: "3", result: {} } },
  "droid.interrupt_session": { example: { ...answer, id: "4", result: {} } },
};

export const errors: Readonly<Record<string, ServerExample>> = {
  "Invalid request format": {
    example: { ...answer, id: null, error: { code: -32600, message: "Invalid request format" } },
  },
  "Invalid JSON-RPC message": {
    example: { ...answer, id: null, error: { code: -32700, message: "Invalid JSON-RPC message" } },
  },
};

const gold = "#E3992A";
const red = "#E54048";

const planOptions = [
  { label: "Proceed with implementation", value: "proceed_once", selectedColor: gold },
  {
    label: "Proceed, and allow file edits and read-only commands (Low)",
    value: "proceed_auto_run_low",
    selectedColor: gold,
  },
  {
    label: "Proceed, and allow reversible commands (Medium)",
    value: "proceed_auto_run_medium",
    selectedColor: gold,
  },
  { label: "Proceed, and allow all commands (High)", value: "proceed_auto_run_high", selectedColor: red },
  { label: "No, keep iterating on spec", value: "cancel", selectedColor: red, selectedPrefix: "✕ " },
];

const planRequest = (input: { readonly plan: string; readonly optionNames?: readonly string[] }): object => ({
  type: "request",
  method: "droid.request_permission",
  id: "db9be483",
  params: {
    toolUses: [
      {
        toolUse: { type: "tool_use", id: "functions.ExitSpecMode:1", name: "ExitSpecMode", input },
        confirmationType: "exit_spec_mode",
        details: { type: "exit_spec_mode", ...input },
      },
    ],
    options: planOptions,
  },
});

export const serverRequests: Readonly<Record<string, ServerExample>> = {
  "permission to run a command": {
    example: {
      type: "request",
      method: "droid.request_permission",
      id: uuid,
      params: {
        toolUses: [
          {
            toolUse: {
              type: "tool_use",
              id: "call_bn6",
              name: "Execute",
              input: {
                command: "echo 'hello' > /tmp/droid-perm-test.txt",
                timeout: 60,
                riskLevelReason: "...",
                riskLevel: "medium",
              },
            },
            confirmationType: "exec",
            details: {
              type: "exec",
              fullCommand: "echo 'hello' > /tmp/droid-perm-test.txt",
              command: "echo",
              extractedCommands: ["echo"],
              impactLevel: "medium",
            },
          },
        ],
        options: [
          { label: "Yes, allow", value: "proceed_once" },
          { label: "Yes, and always allow...", value: "proceed_always" },
          { label: "No, cancel", value: "cancel" },
        ],
      },
    },
    added: {
      params: {
        options: [{ selectedColor: gold }, { selectedColor: gold }, { selectedColor: red, selectedPrefix: "✕ " }],
      },
    },
  },
  "permission for one plan": {
    example: planRequest({ plan: "Exit Spec mode to perform file creation operations" }),
  },
  "permission for one plan of several": {
    example: planRequest({
      plan: "## Logging System Design\n\n### Plan A ...",
      optionNames: ["Plan A - File logging", "Plan B - stdout logging"],
    }),
  },
  "a question": {
    example: {
      ...request,
      method: "droid.ask_user",
      id: uuid,
      params: {
        toolCallId: "call_dkq",
        questions: [{ index: 1, topic: "Color", question, options: ["Red", "Blue"] }],
      },
    },
  },
};

const times = { params: { notification: { message: { createdAt: 1771239439693, updatedAt: 1771239439693 } } } };
const succeeded = { params: { notification: { isError: false } } };

export const notifications: Readonly<Record<string, ServerExample>> = {
  settings_updated: {
    example: notified({ type: "settings_updated", settings: { modelId: "gpt-5.1" } }),
    added: {
      params: {
        notification: {
          settings: { reasoningEffort: "none", autonomyLevel: "auto-low", specModeReasoningEffort: "none" },
        },
      },
    },
  },
  session_title_updated: { example: notified({ type: "session_title_updated", title: "..." }) },
  "state streaming_assistant_message": {
    example: notified({ type: "droid_working_state_changed", newState: "streaming_assistant_message" }),
  },
  "state executing_tool": { example: notified({ type: "droid_working_state_changed", newState: "executing_tool" }) },
  "state waiting_for_tool_confirmation": {
    example: notified({ type: "droid_working_state_changed", newState: "waiting_for_tool_confirmation" }),
  },
  "state idle": { example: notified({ type: "droid_working_state_changed", newState: "idle" }) },
  "create_message of the user": {
    example: notified({
      type: "create_message",
      message: { id: "...", role: "user", content: [{ type: "text", text: "..." }], parentId: "root" },
    }),
    added: times,
  },
  "create_message of the assistant": {
    example: notified({
      type: "create_message",
      message: {
        id: "72e934ca-f675-43b3-a64a-f696bb532c28",
        role: "assistant",
        content: [
          {
            type: "tool_use",
            id: "call_yeb",
            name: "Execute",
            input: { command: "pwd", timeout: 60, riskLevel: "low", riskLevelReason: "..." },
          },
        ],
        parentId: "...",
      },
    }),
    added: times,
  },
  assistant_text_delta: {
    example: notified({
      type: "assistant_text_delta",
      messageId: "8a2bbdfe-a5a5-45d4-9a47-e52daeb55690",
      blockIndex: 0,
      textDelta: "OK",
    }),
  },
  tool_progress_update: {
    example: notified({
      type: "tool_progress_update",
      toolUseId: "call_bn6",
      toolName: "Execute",
      update: { type: "status", text: "...", timestamp: 1771239439693 },
    }),
  },
  "tool_result of a success": {
    example: notified({
      type: "tool_result",
      toolUseId: "call_bn6",
      messageId: "3ffae25b-9ad8-4b42-90d3-64602bfdc7ff",
      content: "Command completed successfully\n\n[Process exited with code 0]",
    }),
    added: succeeded,
  },
  "tool_result of a failure": {
    example: notified({
      type: "tool_result",
      toolUseId: "call_pBV",
      messageId: "b19a859c-c29e-4646-b168-b1adb937e917",
      content:
        "Error: Command failed (exit code: 1)\nls: /x: No such file or directory\n\n\n[Process exited with code 1]",
    }),
    added: { params: { notification: { isError: true } } },
  },
  session_token_usage_changed: {
    example: notified({
      type: "session_token_usage_changed",
      sessionId: "probe4",
      tokenUsage: {
        inputTokens: 15117,
        outputTokens: 11,
        cacheCreationTokens: 0,
        cacheReadTokens: 0,
        thinkingTokens: 0,
      },
    }),
  },
  mcp_status_changed: {
    example: notified({
      type: "mcp_status_changed",
      servers: [
        {
          name: "linear",
          source: "user",
          isManaged: false,
          status: "connecting",
          serverType: "http",
          hasAuthTokens: true,
        },
        {
          name: "apikit",
          source: "user",
          isManaged: false,
          status: "connecting",
          serverType: "http",
          hasAuthTokens: false,
        },
      ],
      summary: { total: 2, connected: 0, connecting: 2, failed: 0, disabled: 0 },
    }),
  },
  permission_resolved: {
    example: {
      ...envelope,
      ...notified({
        type: "permission_resolved",
        requestId: uuid,
        toolUseIds: ["call_bn6"],
        selectedOption: "proceed_once",
      }),
    },
  },
};

/** What this program never sends: it does not speak MCP yet, so no server of that kind can want a sign-in. */
export const neverSent = notified({
  type: "mcp_auth_required",
  serverName: "linear",
  authUrl: "https://mcp.linear.app/authorize?redirect_uri=http%3A%2F%2Flocalhost%3A54622%2Fcallback",
  message: "Authentication required for linear",
});
