/**
 * The published examples of the protocol's first dialect (0.57), verbatim: existing clients were written against them.
 * "..." in a text matches anything.
 */
export type Example = Readonly<Record<string, unknown>>;

const request = (id: string, method: string, params: Example): Example => ({
  jsonrpc: "2.0",
  factoryApiVersion: "1.0.0",
  type: "request",
  id,
  method,
  params,
});

const answer = (id: string, result: Example): Example => ({
  jsonrpc: "2.0",
  factoryApiVersion: "1.0.0",
  type: "response",
  id,
  result,
});

const notification = (notification: Example): Example => ({
  type: "notification",
  method: "droid.session_notification",
  params: { notification },
});

const state = (newState: string): Example => notification({ type: "droid_working_state_changed", newState });

const error = (code: number, message: string): Example => ({
  jsonrpc: "2.0",
  type: "response",
  factoryApiVersion: "1.0.0",
  id: null,
  error: { code, message },
});

const permissionId = "1887395f-fcc3-4703-ac35-349cccca8a1f";
const questionId = "52e74dee-c6a9-4325-ab2a-e304c3b2f818";
const planId = "db9be483-...";

/** The client's messages. */
export const fromClient = {
  unknownMethod: request("1", "...", {}),
  initialize: request("1", "droid.initialize_session", {
    machineId: "machine-probe",
    cwd: "/path/to/workspace",
    sessionId: "probe-...",
    modelId: "gpt-5.1",
    autonomyLevel: "auto-low",
    reasoningEffort: "none",
  }),
  initializeOfScript: request("1", "droid.initialize_session", {
    machineId: "m1",
    cwd: "/tmp/droid-resume-clean",
    modelId: "kimi-k2.5",
    autonomyLevel: "auto-low",
  }),
  initializeToPlan: request("1", "droid.initialize_session", { machineId: "m1", cwd: "/tmp", autonomyLevel: "spec" }),
  load: request("2", "droid.load_session", { sessionId: "a3179cea-cbc4-404f-aa54-5ba7e82d23b5" }),
  addUserMessage: request("2", "droid.add_user_message", { text: "Just reply OK." }),
  updateEffort: request("3", "droid.update_session_settings", { reasoningEffort: "xhigh" }),
  bogusLevel: request("3", "droid.update_session_settings", { autonomyLevel: "bogus-level" }),
  interrupt: request("4", "droid.interrupt_session", {}),
  allowOnce: answer(permissionId, { selectedOption: "proceed_once" }),
  answerQuestion: answer(questionId, {
    cancelled: false,
    answers: [{ index: 1, question: "Which color do you want?", answer: "Red" }],
  }),
  answerWithTexts: answer(questionId, { answers: ["Red"] }),
  approvePlan: answer(planId, { selectedOption: "proceed_once" }),
  approvePlanLow: answer(planId, { selectedOption: "proceed_auto_run_low" }),
  approvePlanMedium: answer(planId, { selectedOption: "proceed_auto_run_medium" }),
  approvePlanHigh: answer(planId, { selectedOption: "proceed_auto_run_high" }),
  cancelPlan: answer(planId, { selectedOption: "cancel" }),
} as const;

const allowed = {
  command: "echo 'hello' > /tmp/droid-perm-test-...txt",
  timeout: 60,
  riskLevelReason: "...",
  riskLevel: "medium",
};

const planOptions = [
  { label: "Proceed with implementation", value: "proceed_once", selectedColor: "#E3992A" },
  {
    label: "Proceed, and allow file edits and read-only commands (Low)",
    value: "proceed_auto_run_low",
    selectedColor: "#E3992A",
  },
  {
    label: "Proceed, and allow reversible commands (Medium)",
    value: "proceed_auto_run_medium",
    selectedColor: "#E3992A",
  },
  { label: "Proceed, and allow all commands (High)", value: "proceed_auto_run_high", selectedColor: "#E54048" },
  { label: "No, keep iterating on spec", value: "cancel", selectedColor: "#E54048", selectedPrefix: "✕ " },
];

const planRequest = (input: Example, details: Example): Example => ({
  type: "request",
  method: "droid.request_permission",
  id: planId,
  params: {
    toolUses: [
      {
        toolUse: { type: "tool_use", id: "functions.ExitSpecMode:1", name: "ExitSpecMode", input },
        confirmationType: "exit_spec_mode",
        details: { type: "exit_spec_mode", ...details },
      },
    ],
    options: planOptions,
  },
});

const onePlan = { plan: "Exit Spec mode to perform file creation operations" };
const optionNames = ["Plan A - File logging", "Plan B - stdout logging"];
const twoPlans = {
  plan: "## Logging System Design\n\n### Plan A: File-based logging system ...\n\n### Plan B: stdout-based structured logging system ...",
  optionNames,
};

/** The model's calls in the examples. */
export const calls = {
  execute: { id: "call_bn6NsLqIO1ofhyKmSHzSQcKL", name: "Execute", input: allowed },
  ask: {
    id: "call_dkqxtnKTeUCDhJs0actksoW1",
    name: "AskUser",
    input: { questionnaire: "1. [question] Which color do you want?\n[topic] Color\n[option] Red\n[option] Blue" },
  },
  pwd: {
    id: "call_yebcxAJ0LWypjQq2j4TWNQF2",
    name: "Execute",
    input: { command: "pwd", timeout: 60, riskLevel: "low", riskLevelReason: "..." },
  },
  /** Prints what the example's `ls` printed, on any system. */
  failing: {
    id: "call_pBVrZ7Yu9CmyipHlA4ZSJJ5m",
    name: "Execute",
    input: {
      command: "printf 'ls: /path/does/not/exist: No such file or directory\\n' >&2; exit 1",
      riskLevel: "low",
    },
  },
  onePlan: { id: "functions.ExitSpecMode:1", name: "ExitSpecMode", input: onePlan },
  twoPlans: { id: "functions.ExitSpecMode:1", name: "ExitSpecMode", input: twoPlans },
} as const;

/** The program's messages. */
export const fromServer = {
  success: answer("2", {}),
  settingsTaken: answer("3", {}),
  interrupted: answer("4", {}),
  invalidRequest: error(-32600, "Invalid request format"),
  invalidMessage: error(-32700, "Invalid JSON-RPC message"),
  initialized: {
    type: "response",
    id: "1",
    result: {
      sessionId: "probe-...",
      session: { messages: [] },
      settings: {
        modelId: "gpt-5.1",
        reasoningEffort: "none",
        autonomyLevel: "auto-low",
        specModeReasoningEffort: "none",
      },
      availableModels: [],
      gitRepo: { owner: "...", repoName: "..." },
    },
  },
  loaded: {
    type: "response",
    id: "2",
    result: {
      session: {
        messages: [
          {
            id: "f5a14b7d-...",
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
            id: "2ead7df5-...",
            role: "assistant",
            content: [{ type: "text", text: "OK" }],
            parentId: "f5a14b7d-...",
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
      availableModels: [],
      isAgentLoopInProgress: false,
      gitRepo: { repoName: "..." },
      cwd: "/path/to/workspace",
    },
  },
  requestPermission: {
    type: "request",
    method: "droid.request_permission",
    id: permissionId,
    params: {
      toolUses: [
        {
          toolUse: { type: "tool_use", id: "call_bn6NsLqIO1ofhyKmSHzSQcKL", name: "Execute", input: allowed },
          confirmationType: "exec",
          details: {
            type: "exec",
            fullCommand: allowed.command,
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
  permissionResolved: {
    jsonrpc: "2.0",
    factoryApiVersion: "1.0.0",
    ...notification({
      type: "permission_resolved",
      requestId: permissionId,
      toolUseIds: ["call_bn6NsLqIO1ofhyKmSHzSQcKL"],
      selectedOption: "proceed_once",
    }),
  },
  askUser: {
    type: "request",
    jsonrpc: "2.0",
    factoryApiVersion: "1.0.0",
    method: "droid.ask_user",
    id: questionId,
    params: {
      toolCallId: "call_dkqxtnKTeUCDhJs0actksoW1",
      questions: [{ index: 1, topic: "Color", question: "Which color do you want?", options: ["Red", "Blue"] }],
    },
  },
  onePlan: planRequest(onePlan, onePlan),
  twoPlans: planRequest(twoPlans, { plan: "## Logging System Design\n\n### Plan A ...", optionNames }),
  settingsUpdated: notification({ type: "settings_updated", settings: { modelId: "gpt-5.1" } }),
  titleUpdated: notification({ type: "session_title_updated", title: "..." }),
  streaming: state("streaming_assistant_message"),
  executing: state("executing_tool"),
  waiting: state("waiting_for_tool_confirmation"),
  idle: state("idle"),
  userMessage: notification({
    type: "create_message",
    message: { id: "...", role: "user", content: [{ type: "text", text: "..." }], parentId: "root" },
  }),
  assistantMessage: notification({
    type: "create_message",
    message: {
      id: "72e934ca-f675-43b3-a64a-f696bb532c28",
      role: "assistant",
      content: [{ type: "tool_use", ...calls.pwd }],
      parentId: "...",
    },
  }),
  textDelta: notification({
    type: "assistant_text_delta",
    messageId: "8a2bbdfe-a5a5-45d4-9a47-e52daeb55690",
    blockIndex: 0,
    textDelta: "OK",
  }),
  toolProgress: notification({
    type: "tool_progress_update",
    toolUseId: "call_bn6NsLqIO1ofhyKmSHzSQcKL",
    toolName: "Execute",
    update: { type: "status", text: "...", timestamp: 1771239439693 },
  }),
  toolResult: notification({
    type: "tool_result",
    toolUseId: "call_bn6NsLqIO1ofhyKmSHzSQcKL",
    messageId: "3ffae25b-9ad8-4b42-90d3-64602bfdc7ff",
    content: "Command completed successfully\n\n[Process exited with code 0]",
  }),
  failedToolResult: notification({
    type: "tool_result",
    toolUseId: "call_pBVrZ7Yu9CmyipHlA4ZSJJ5m",
    messageId: "b19a859c-c29e-4646-b168-b1adb937e917",
    content:
      "Error: Command failed (exit code: 1)\nls: /path/does/not/exist: No such file or directory\n\n\n[Process exited with code 1]",
  }),
  tokenUsage: notification({
    type: "session_token_usage_changed",
    sessionId: "probe4-...",
    tokenUsage: {
      inputTokens: 15117,
      outputTokens: 11,
      cacheCreationTokens: 0,
      cacheReadTokens: 0,
      thinkingTokens: 0,
    },
  }),
  mcpStatus: notification({
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
  signIn: notification({
    type: "mcp_auth_required",
    serverName: "linear",
    authUrl: "https://mcp.linear.app/authorize?redirect_uri=http%3A%2F%2Flocalhost%3A54622%2Fcallback",
    message: "Authentication required for linear",
  }),
} as const;
