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
 * What the client SDK gives its callers, whatever the backend sent. The SDK's TypeScript types (src/sdk/types.ts) and the
 * document schema/sdk.schema.json are both written from these, so neither needs zod.
 */

const otherBlock = z
  .strictObject({ type: z.literal("other"), given: z.unknown() })
  .describe("A block of a kind that this version does not know, as it came.");

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
  visibility: z.string().optional().describe("Whom it is for, where the backend says so; llm_only is not for people."),
});

const settings = z.strictObject({
  modelId: z.string(),
  reasoningEffort: z.string().optional(),
  interactionMode: z.string().describe("auto, spec, or a mode of the backend's own."),
  autonomyLevel: z
    .enum(["off", "low", "medium", "high"])
    .describe("What may happen without a question; of older words, what they mean."),
  specModeModelId: z.string().optional(),
  specModeReasoningEffort: z.string().optional(),
});

const turnError = z.strictObject({
  message: z.string(),
  type: z.string().optional().describe("The backend's name for the kind of error."),
  code: z.string().optional().describe("Its name for this very error, which says more."),
});

const turnResult = z.strictObject({
  status: z
    .enum(["completed", "interrupted", "failed"])
    .describe("interrupted also when a permission was refused and the backend stopped for it."),
  reason: z.string().describe("The backend's own word where it gave one; else the status."),
  text: z.string().describe("Of the last reply that has any."),
  turnId: z.string().describe("The id that was sent with the prompt."),
  usage: tokenUsage.optional().describe("Of this turn; only from backends that count by turn."),
  error: turnError.optional(),
});

const of = { messageId: z.string() };
const toolCall = { id: z.string(), name: z.string(), input: z.record(z.string(), z.unknown()) };

const sharedEvents = {
  message: z
    .strictObject({ type: z.literal("message"), message, text: z.string().describe("Of its text blocks.") })
    .describe("A whole message, once each; again only when the backend changed it."),
  toolCall: z
    .strictObject({ type: z.literal("tool_call"), ...toolCall, messageId: z.string().optional() })
    .describe("Once for each call, with its whole input."),
  toolResult: z
    .strictObject({
      type: z.literal("tool_result"),
      id: z.string().describe("Of the call."),
      name: z.string().optional().describe("Of the tool, where its call was seen."),
      content: toolContent,
      text: z.string().describe("Of its content."),
      isError: z.boolean(),
    })
    .describe("Once for each call."),
  thinking: z.strictObject({ type: z.literal("thinking"), ...of, text: z.string() }),
  error: z
    .strictObject({ type: z.literal("error"), error: turnError })
    .describe("Something went wrong; whether the turn failed, its end says."),
  notice: z
    .strictObject({ type: z.literal("notice"), level: z.enum(["info", "warning"]), message: z.string() })
    .describe("Something people should know; nothing ends because of it."),
  other: z
    .strictObject({ type: z.literal("other"), name: z.string(), given: z.unknown() })
    .describe("Anything that this version does not know, as it came."),
};

const turnEvent = z.discriminatedUnion("type", [
  z
    .strictObject({ type: z.literal("text"), ...of, text: z.string() })
    .describe("A piece of a reply. All pieces of a message since its last text_reset are its text."),
  z
    .strictObject({ type: z.literal("text_reset"), ...of })
    .describe("What was shown of this message does not count: the backend began again."),
  sharedEvents.thinking,
  sharedEvents.message,
  z
    .strictObject({ type: z.literal("tool_input"), ...toolCall })
    .describe("A call whose input is still being written: the keys that are there so far."),
  sharedEvents.toolCall,
  z.strictObject({
    type: z.literal("tool_progress"),
    id: z.string().describe("Of the call."),
    name: z.string().optional(),
    text: z.string(),
  }),
  sharedEvents.toolResult,
  z.strictObject({ type: z.literal("state"), state: z.string() }).describe("When it changes."),
  z.strictObject({
    type: z.literal("usage"),
    usage: tokenUsage.describe("Of the session so far."),
    lastCall: tokenUsage.optional().describe("Of the last model call, where the backend tells."),
  }),
  z.strictObject({ type: z.literal("settings"), settings }),
  z.strictObject({ type: z.literal("title"), title: z.string() }),
  z.strictObject({ type: z.literal("retry"), attempt: z.number(), reason: z.string() }),
  sharedEvents.notice,
  sharedEvents.error,
  sharedEvents.other,
  z.strictObject({ type: z.literal("end"), result: turnResult }).describe("The last one of a turn."),
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
    .describe("The run's last line."),
]);

const otherDetails = z
  .strictObject({ type: z.literal("other"), name: z.string(), given: z.unknown() })
  .describe("Of a kind that this version does not know, or that lacks what its kind must have.");

const mcpToolDetails = z.strictObject({
  type: z.literal("mcp_tool"),
  toolName: z.string(),
  impactLevel: z.string().optional(),
  serverName: z.string().optional(),
});

const wholeCommandDetails = execDetails.extend({
  command: z.string().describe("The same: backends shorten it here, and an approver must see all of it."),
});
const [, ...otherKinds] = permissionDetails.options;

const permissionCall = z.strictObject({
  ...toolCall,
  details: z.discriminatedUnion("type", [wholeCommandDetails, ...otherKinds, mcpToolDetails, otherDetails]),
});

const permissionOption = z.strictObject({
  value: z.string().describe("What to answer."),
  label: z.string().describe("For people."),
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
  name: z.string().describe("The name that the model calls it by."),
  description: z.string(),
  category: z.string().optional(),
  isAllowed: z
    .boolean()
    .describe("Whether the model is offered it at present. What it does with it may still be asked about."),
});

const sessionSummary = z.strictObject({
  id: z.string(),
  title: z.string(),
  cwd: z.string().optional(),
  createdAt: z.number().describe("Milliseconds since 1970."),
  updatedAt: z.number(),
  path: z.string().describe("Of its log."),
  backend: z.enum(["tinman", "droid"]).describe("Who wrote it, and can resume it."),
});

/** By the names that they have in TypeScript and in the document; what others refer to comes first. */
export const sdkTypes = {
  TokenUsage: tokenUsage,
  TextBlock: textBlock,
  ImageBlock: imageBlock,
  ToolUseBlock: toolUseBlock,
  Block: block,
  Message: message,
  Settings: settings,
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
