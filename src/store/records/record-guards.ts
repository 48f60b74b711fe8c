import { errorCodes, type Failure, failureCauses } from "../../engine/errors.ts";
import type {
  CompactionTrigger,
  DurableBody,
  EndReason,
  EventOf,
  SettingsChanges,
  ShortenedResult,
} from "../../engine/event.ts";
import type { Answer, Interaction, Question } from "../../engine/interaction.ts";
import type {
  AssistantMessage,
  ImageBlock,
  PromptBlock,
  RawCall,
  ReplyBlock,
  StopReason,
  ToolCallBlock,
  ToolResultBlock,
  ToolStatus,
  Usage,
  UserMessage,
} from "../../engine/message.ts";
import {
  accessClasses,
  type Decision,
  type FileChange,
  type Preview,
  type ServerCall,
} from "../../engine/permission.ts";
import { isRecord, isText } from "../../text/values.ts";
import {
  each,
  everyOneOf,
  type FieldGuards,
  type Guard,
  guardsByKind,
  isAbsolutePath,
  isAnything,
  isFlag,
  isNumber,
  listOf,
  oneOf,
  optional,
  shape,
  variants,
} from "../listing/guards.ts";
import { titledFields } from "../listing/listed-records.ts";
import { furtherSettings, isAutonomy, neededSettings } from "../listing/settings-guards.ts";

const isIndex: Guard = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const isErrorCode: Guard = (value) => isText(value) && Object.hasOwn(errorCodes, value);

/** `null` removes an optional setting. */
const isChanges = shape<SettingsChanges>({
  ...each(neededSettings, optional),
  ...each(furtherSettings, (guard) => optional((value) => value === null || guard(value))),
});

const isUsage = shape<Usage>({
  input: isNumber,
  output: isNumber,
  cacheRead: isNumber,
  cacheWrite: isNumber,
  thinking: isNumber,
});

/** Opaque, so only its outer shape is checked. */
const isProof: Guard = (value) => isRecord(value) && Object.values(value).every(isRecord);

const image: FieldGuards<Omit<ImageBlock, "type">> = { mediaType: isText, data: isText };
const isImage = shape<ImageBlock>({ type: oneOf("image"), ...image });
const toolCall: FieldGuards<Omit<ToolCallBlock, "type">> = {
  id: isText,
  name: isText,
  input: isAnything,
  raw: optional(shape<RawCall>({ name: isText, input: isAnything, ignored: optional(listOf(isText)) })),
  malformedInput: optional(isText),
  proof: optional(isProof),
};
const isToolCall = shape<ToolCallBlock>({ type: oneOf("tool_call"), ...toolCall });

const promptBlocks = {
  text: { text: isText },
  image,
  document: { mediaType: isText, encoding: oneOf("base64", "text"), data: isText, name: optional(isText) },
};
const isPromptBlock = variants<PromptBlock, "type">("type", promptBlocks);

const isUserBlock = variants<UserMessage["content"][number], "type">("type", {
  ...promptBlocks,
  reminder: { text: isText },
});

type Summary = NonNullable<EventOf<"context.compacted">["summary"]>;

const isUserMessage = shape<UserMessage>({
  id: isText,
  createdAt: isNumber,
  role: oneOf("user"),
  content: listOf(isUserBlock),
});

const isReplyBlock = variants<ReplyBlock, "type">("type", {
  text: { text: isText, proof: optional(isProof) },
  thinking: { text: isText, proof: optional(isProof) },
  tool_call: toolCall,
});

const isReply = shape<AssistantMessage>({
  id: isText,
  createdAt: isNumber,
  role: oneOf("assistant"),
  content: listOf(isReplyBlock),
  stop: everyOneOf<StopReason>({
    end: true,
    tool_calls: true,
    length: true,
    refusal: true,
    interrupted: true,
    failed: true,
  }),
  model: isText,
});

const isToolResult = shape<ToolResultBlock>({
  type: oneOf("tool_result"),
  callId: isText,
  name: isText,
  status: everyOneOf<ToolStatus>({ ok: true, failed: true, refused: true, interrupted: true }),
  text: isText,
  forModel: optional(isText),
  exitCode: optional(isNumber),
  media: optional(listOf(isImage)),
  fullTextPath: optional(isText),
  reminders: optional(listOf(isText)),
  cause: optional(isText),
});

const isServerCall = shape<ServerCall>({
  server: isText,
  tool: isText,
  marks: shape<ServerCall["marks"]>({ server: isText, tool: isText }),
});

const isDecision = shape<Decision>({
  verdict: everyOneOf<Decision["verdict"]>({ allow: true, ask: true, deny: true, refuse: true }),
  class: oneOf(...accessClasses),
  impact: everyOneOf<Decision["impact"]>({ low: true, medium: true, high: true }),
  always: optional(everyOneOf<NonNullable<Decision["always"]>>({ low: true, medium: true, high: true })),
  extractedCommands: listOf(isText),
  rule: isText,
  why: isText,
  contained: optional((value) => typeof value === "boolean"),
  server: optional(isServerCall),
});

const isFileChange = shape<FileChange>({
  path: isText,
  movedTo: optional(isText),
  change: everyOneOf<FileChange["change"]>({ add: true, update: true, delete: true }),
  oldContent: optional(isText),
  newContent: optional(isText),
});

const isPreview = variants<Preview, "type">("type", {
  command: { command: isText },
  create: { path: isText, content: isText, oldContent: optional(isText) },
  edit: { path: isText, oldContent: optional(isText), newContent: optional(isText) },
  patch: { patch: isText, files: listOf(isFileChange) },
  fetch: { url: isText },
  server: { server: isText, tool: isText },
  paths: { paths: listOf(isText) },
});

type AskedCall = (Interaction & { readonly kind: "permission" })["calls"][number];

const isAskedCall = shape<AskedCall>({ call: isToolCall, decision: isDecision, preview: optional(isPreview) });
const isQuestion = shape<Question>({ index: isIndex, topic: isText, question: isText, options: listOf(isText) });

const isInteraction = variants<Interaction, "kind">("kind", {
  permission: { calls: listOf(isAskedCall) },
  question: { callId: isText, questions: listOf(isQuestion) },
  plan: { callId: isText, plan: isText, title: optional(isText), optionNames: optional(listOf(isText)) },
  tool: { call: isToolCall },
});

const isAnswer = variants<Answer, "kind">("kind", {
  allow: { always: optional((value) => typeof value === "boolean" || value === "tools" || value === "server") },
  answers: { answers: listOf(shape({ index: isIndex, answer: isText })) },
  approve: { autonomy: isAutonomy },
  result: { text: isText, isError: optional(isFlag) },
  cancel: { why: optional(isText) },
});

type BodyAfterFirst = Exclude<DurableBody, { readonly type: "session.opened" }>;

const bodyGuards = guardsByKind<BodyAfterFirst, "type">({
  "session.updated": { changes: isChanges, cwd: optional(isAbsolutePath) },
  "session.titled": titledFields,
  "prompt.accepted": { messageId: isText, content: listOf(isPromptBlock) },
  "prompt.discarded": { messageId: isText },
  "turn.started": { turnId: isText, model: isText, prompts: optional(listOf(isText)) },
  "prompt.taken": { messageId: isText, reminders: listOf(isText) },
  "message.checkpoint": {
    messageId: isText,
    block: isIndex,
    kind: oneOf("text", "thinking"),
    from: isIndex,
    text: isText,
  },
  "message.ended": { message: isReply },
  "usage.updated": { call: isUsage, total: isUsage, cost: optional(isNumber), purpose: optional(oneOf("summary")) },
  "context.compacted": {
    trigger: everyOneOf<CompactionTrigger>({ window: true, provider: true, user: true }),
    results: listOf(shape<ShortenedResult>({ messageId: isText, callId: isText, text: isText })),
    media: listOf(isText),
    summary: optional(shape<Summary>({ message: isUserMessage, through: isText, removed: isIndex })),
    isShortened: optional(isFlag),
    tokensBefore: isNumber,
    tokensAfter: isNumber,
  },
  "tool.started": { callId: isText, name: isText },
  "tool.ended": {
    messageId: isText,
    result: isToolResult,
    created: optional(listOf(isText)),
    moved: optional(listOf(isText)),
    seen: optional((value) => isRecord(value) && Object.values(value).every(isText)),
    wrote: optional(listOf(isText)),
  },
  "request.opened": { requestId: isText, interaction: isInteraction },
  "request.closed": { requestId: isText, answer: isAnswer, changes: optional(isChanges) },
  "turn.ended": {
    turnId: isText,
    reason: everyOneOf<EndReason>({
      completed: true,
      planned: true,
      interrupted: true,
      denied: true,
      cancelled: true,
      limit: true,
      length: true,
      context_full: true,
      refused: true,
      failed: true,
    }),
    failure: optional(shape<Failure>({ code: isErrorCode, message: isText, cause: optional(oneOf(...failureCauses)) })),
    cause: optional(isText),
    usage: isUsage,
    durationMs: isNumber,
    untaken: optional(listOf(isText)),
    joined: optional(listOf(isText)),
  },
});

/** The guard for a record's own fields; `undefined` for an unknown type. */
export function bodyGuard(type: string): Guard | undefined {
  return bodyGuards.get(type);
}
