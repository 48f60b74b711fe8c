import {
  documentBlock,
  imageBlock,
  redactedThinkingBlock,
  textBlock,
  thinkingBlock,
  tokenUsage,
  toolContent,
  toolResultBlock,
  toolUseBlock,
} from "./droid/content.ts";
import { askUserParams, execDetails, permissionDetails } from "./droid/server-requests.ts";
import { z } from "./droid/zod.ts";

/*
 * The client SDK's data types, for any backend. src/sdk/types.ts and schema/sdk.schema.json are generated from them, so that
 * the SDK needs no zod.
 */

const otherBlock = z
  .strictObject({ type: z.literal("other"), given: z.unknown() })
  .describe("A block of an unknown kind, unchanged.");

const block = z.discriminatedUnion("type", [
  textBlock,
  imageBlock,
  documentBlock,
  thinkingBlock,
  redactedThinkingBlock,
  toolUseBlock,
  toolResultBlock,
  otherBlock,
]);

const message = z.strictObject({
  id: z.string(),
  role: z.enum(["user", "assistant", "tool", "system"]),
  content: z.array(block),
  createdAt: z.number().optional().describe("Milliseconds since 1970."),
  parentId: z.string().optional(),
  visibility: z.string().optional().describe("The audience, if the backend reports it. llm_only is not for people."),
});

const settings = z.strictObject({
  modelId: z.string(),
  reasoningEffort: z.string().optional(),
  interactionMode: z.string().describe("auto, spec, or another mode of the backend."),
  autonomyLevel: z
    .enum(["off", "low", "medium", "high"])
    .describe("What runs without asking. Older names are translated."),
  specModeModelId: z.string().optional(),
  specModeReasoningEffort: z.string().optional(),
  sandbox: z
    .strictObject({ enabled: z.boolean(), mode: z.string().optional() })
    .optional()
    .describe("Whether commands run in a sandbox, if the backend reports it."),
});

const turnError = z.strictObject({
  message: z.string(),
  type: z.string().optional().describe("The backend's error type."),
  code: z.string().optional().describe("The backend's error code, more specific than type."),
});

const turnResult = z.strictObject({
  status: z
    .enum(["completed", "interrupted", "failed"])
    .describe("interrupted includes turns that the backend stopped because a permission was refused."),
  reason: z.string().describe("The backend's reason, or else the status."),
  text: z.string().describe("Text of the last reply that has any."),
  turnId: z.string().describe("The id sent with the prompt."),
  usage: tokenUsage.optional().describe("Usage of this turn, if the backend reports it."),
  error: turnError.optional(),
});

const of = { messageId: z.string() };
const toolCall = { id: z.string(), name: z.string(), input: z.record(z.string(), z.unknown()) };

const sharedEvents = {
  message: z
    .strictObject({ type: z.literal("message"), message, text: z.string().describe("Text of its text blocks.") })
    .describe("A complete message. Sent once, and again only if the backend changes it."),
  toolCall: z
    .strictObject({ type: z.literal("tool_call"), ...toolCall, messageId: z.string().optional() })
    .describe("Sent once per call, with its complete input."),
  toolResult: z
    .strictObject({
      type: z.literal("tool_result"),
      id: z.string().describe("The call's id."),
      name: z.string().optional().describe("The tool's name, if its call was seen."),
      content: toolContent,
      text: z.string().describe("Text of its content."),
      isError: z.boolean(),
    })
    .describe("Sent once per call."),
  thinking: z.strictObject({ type: z.literal("thinking"), ...of, text: z.string() }),
  error: z
    .strictObject({ type: z.literal("error"), error: turnError })
    .describe("An error. The end event says whether the turn failed."),
  notice: z
    .strictObject({ type: z.literal("notice"), level: z.enum(["info", "warning"]), message: z.string() })
    .describe("Information for people. It ends nothing."),
  other: z
    .strictObject({ type: z.literal("other"), name: z.string(), given: z.unknown() })
    .describe("An unknown event, unchanged."),
};

const mcpServerState = z.strictObject({
  name: z.string(),
  type: z.string().describe("stdio, http or sse."),
  source: z.string().describe("user: configured. project: from the repository. dynamic: named by a client."),
  status: z.string().describe("connecting, connected, failed, disabled or disconnected."),
  error: z.string().optional().describe("Why it failed: one sentence."),
  toolCount: z.number().optional().describe("While it is connected."),
  promptCount: z.number().optional().describe("If it offers prompts, and the backend reports it."),
  isSignedIn: z.boolean().optional(),
  needsSignIn: z.boolean().optional(),
  signIn: z
    .strictObject({ url: z.string(), message: z.string(), state: z.string() })
    .optional()
    .describe("A sign-in that waits for the user."),
});

const mcpTool = z.strictObject({
  server: z.string(),
  name: z.string().describe("The server's own name for it. The model calls <server>___<tool>."),
  description: z.string(),
  isEnabled: z.boolean(),
  isReadOnly: z.boolean().optional().describe("The server's own word."),
  inputSchema: z.unknown().optional(),
});

const turnEvent = z.discriminatedUnion("type", [
  z
    .strictObject({ type: z.literal("text"), ...of, text: z.string() })
    .describe("A delta. A message's text is all its deltas since its last text_reset."),
  z
    .strictObject({ type: z.literal("text_reset"), ...of })
    .describe("Discard this message's text so far: the backend started over."),
  sharedEvents.thinking,
  sharedEvents.message,
  z
    .strictObject({ type: z.literal("tool_input"), ...toolCall })
    .describe("A call whose input is still streaming, with the keys complete so far."),
  sharedEvents.toolCall,
  z.strictObject({
    type: z.literal("tool_progress"),
    id: z.string().describe("The call's id."),
    name: z.string().optional(),
    text: z.string(),
  }),
  sharedEvents.toolResult,
  z.strictObject({ type: z.literal("state"), state: z.string() }).describe("The state has changed."),
  z.strictObject({
    type: z.literal("usage"),
    usage: tokenUsage.describe("The session's total so far."),
    lastCall: tokenUsage.optional().describe("Usage of the last model call, if the backend reports it."),
  }),
  z.strictObject({ type: z.literal("settings"), settings }),
  z.strictObject({ type: z.literal("title"), title: z.string() }),
  z.strictObject({ type: z.literal("retry"), attempt: z.number(), reason: z.string() }),
  sharedEvents.notice,
  z
    .strictObject({ type: z.literal("mcp_servers"), servers: z.array(mcpServerState) })
    .describe("All MCP servers, when one has changed."),
  z
    .strictObject({
      type: z.literal("sign_in_required"),
      server: z.string(),
      url: z.string(),
      message: z.string(),
      state: z.string().optional().describe("Names the sign-in, if the backend has several."),
    })
    .describe("An MCP server needs the user to sign in at the URL. The turn goes on without it."),
  z.strictObject({
    type: z.literal("sign_in_ended"),
    server: z.string(),
    outcome: z.string().describe("success, cancelled or failed."),
    message: z.string(),
  }),
  sharedEvents.error,
  sharedEvents.other,
  z.strictObject({ type: z.literal("end"), result: turnResult }).describe("The last event of a turn."),
]);

const streamJsonEvent = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("session"),
    sessionId: z.string(),
    cwd: z.string().optional(),
    model: z.string().optional(),
    tools: z.array(z.string()),
  }),
  sharedEvents.message,
  sharedEvents.thinking,
  sharedEvents.toolCall,
  sharedEvents.toolResult,
  sharedEvents.notice,
  sharedEvents.error,
  sharedEvents.other,
  z
    .strictObject({
      type: z.literal("end"),
      status: z.enum(["completed", "failed"]),
      reason: z.string(),
      text: z.string(),
      sessionId: z.string(),
      model: z.string().optional(),
      durationMs: z.number().optional(),
      usage: tokenUsage.optional(),
      error: turnError.optional(),
    })
    .describe("The last event of a run."),
]);

const otherDetails = z
  .strictObject({ type: z.literal("other"), name: z.string(), given: z.unknown() })
  .describe("Details of an unknown kind, or without a required field.");

const mcpToolDetails = z.strictObject({
  type: z.literal("mcp_tool"),
  toolName: z.string(),
  impactLevel: z.string().optional(),
  serverName: z.string().optional(),
  actualToolName: z.string().optional().describe("The server's own name for the tool."),
  riskLevelReason: z.string().optional().describe("One sentence: what the call does, and so why it needs permission."),
});

const wholeCommandDetails = execDetails.extend({
  command: z.string().describe("Same as fullCommand, because backends shorten it and an approver must see all of it."),
});
const { type: _, ...commandFields } = wholeCommandDetails.shape;

const violationDetails = z
  .strictObject({
    type: z.literal("sandbox_violation"),
    violatingToolName: z.string(),
    target: z.string().describe("What the call would reach: a command, a path, or an address."),
    operationType: z.string().optional().describe("read, write, network or tool."),
    violationType: z.string().optional().describe("filesystem-read, filesystem-write, network or tool."),
    reason: z.string(),
    violationReason: z.string().optional().describe("not-allowed or deny-list."),
    isOrgDeny: z.boolean().optional(),
    ...z.strictObject(commandFields).partial().shape,
  })
  .describe("A call asks to leave the sandbox. With fullCommand if it is a command.");

const [, createKind, editKind, patchKind, planKind] = permissionDetails.options;
const otherKinds = [createKind, editKind, patchKind, planKind, violationDetails] as const;

const permissionCall = z.strictObject({
  ...toolCall,
  details: z.discriminatedUnion("type", [wholeCommandDetails, ...otherKinds, mcpToolDetails, otherDetails]),
});

const permissionOption = z.strictObject({
  value: z.string().describe("The value to answer with."),
  label: z.string().describe("Text for people."),
});

const question = askUserParams.shape.questions.element.extend({ multiSelect: z.boolean().optional() });

const modelInfo = z.strictObject({
  id: z.string(),
  displayName: z.string(),
  provider: z.string().optional(),
  reasoningEfforts: z.array(z.string()),
  defaultReasoningEffort: z.string().optional(),
  isCustom: z.boolean(),
  disabled: z.boolean(),
  disabledReason: z.string().optional(),
});

const toolInfo = z.strictObject({
  id: z.string(),
  name: z.string().describe("The name that the model uses."),
  description: z.string(),
  category: z.string().optional(),
  isAllowed: z.boolean().describe("Whether it is currently offered to the model. Its calls can still need permission."),
});

const sessionSummary = z.strictObject({
  id: z.string(),
  title: z.string(),
  cwd: z.string().optional(),
  createdAt: z.number().describe("Milliseconds since 1970."),
  updatedAt: z.number(),
  path: z.string().describe("Path of its log."),
  backend: z.enum(["tinman", "droid"]).describe("The program that wrote it and can resume it."),
});

/** By name in TypeScript and in the document. Referenced types come first. */
export const sdkTypes = {
  TokenUsage: tokenUsage,
  TextBlock: textBlock,
  ImageBlock: imageBlock,
  ToolUseBlock: toolUseBlock,
  Block: block,
  Message: message,
  Settings: settings,
  McpServerState: mcpServerState,
  McpTool: mcpTool,
  TurnError: turnError,
  TurnResult: turnResult,
  TurnEvent: turnEvent,
  StreamJsonEvent: streamJsonEvent,
  PermissionCall: permissionCall,
  PermissionOption: permissionOption,
  Question: question,
  ModelInfo: modelInfo,
  ToolInfo: toolInfo,
  SessionSummary: sessionSummary,
} as const satisfies Readonly<Record<string, z.ZodType>>;
