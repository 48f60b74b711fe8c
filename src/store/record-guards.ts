import { errorCodes, failureCauses } from "../core/errors.ts";
import type { DurableBody, EndReason } from "../core/event.ts";
import type { StopReason, ToolStatus } from "../core/message.ts";
import { accessClasses, type Decision, type FileChange } from "../core/permission.ts";
import {
  each,
  everyOneOf,
  type Guard,
  isAbsolutePath,
  isFields,
  isNumber,
  isText,
  listOf,
  oneOf,
  optional,
  shape,
} from "./listing/guards.ts";
import { isTitled } from "./listing/listed-records.ts";
import { furtherSettings, isAutonomy, neededSettings } from "./listing/settings-guards.ts";

const isIndex: Guard = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const isFlag: Guard = (value) => typeof value === "boolean";
const isErrorCode: Guard = (value) => isText(value) && Object.hasOwn(errorCodes, value);

/** A union discriminated by `tag`. */
function variants(tag: string, byTag: Readonly<Record<string, Guard>>): Guard {
  const guards = new Map(Object.entries(byTag));
  return (value) => {
    const kind = isFields(value) ? value[tag] : undefined;
    return isText(kind) && (guards.get(kind)?.(value) ?? false);
  };
}

/** `null` removes an optional setting. */
const isChanges = shape({
  ...each(neededSettings, optional),
  ...each(furtherSettings, (guard) => optional((value) => value === null || guard(value))),
});

const isUsage = shape({
  input: isNumber,
  output: isNumber,
  cacheRead: isNumber,
  cacheWrite: isNumber,
  thinking: isNumber,
});

/** Opaque, so only its outer shape is checked. */
const isProof: Guard = (value) => isFields(value) && Object.values(value).every(isFields);

const isImage = shape({ type: oneOf("image"), mediaType: isText, data: isText });
const isToolCall = shape({
  type: oneOf("tool_call"),
  id: isText,
  name: isText,
  malformedInput: optional(isText),
  proof: optional(isProof),
});

const isPromptBlock = variants("type", {
  text: shape({ text: isText }),
  image: isImage,
  document: shape({
    mediaType: isText,
    encoding: oneOf("base64", "text"),
    data: isText,
    name: optional(isText),
  }),
});

const isReplyBlock = variants("type", {
  text: shape({ text: isText, proof: optional(isProof) }),
  thinking: shape({ text: isText, proof: optional(isProof) }),
  tool_call: isToolCall,
});

const isReply = shape({
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

const isToolResult = shape({
  type: oneOf("tool_result"),
  callId: isText,
  name: isText,
  status: everyOneOf<ToolStatus>({ ok: true, failed: true, refused: true, interrupted: true }),
  text: isText,
  exitCode: optional(isNumber),
  media: optional(listOf(isImage)),
  fullTextPath: optional(isText),
});

const isDecision = shape({
  verdict: everyOneOf<Decision["verdict"]>({ allow: true, ask: true, deny: true, refuse: true }),
  class: oneOf(...accessClasses),
  impact: everyOneOf<Decision["impact"]>({ low: true, medium: true, high: true }),
  always: optional(everyOneOf<NonNullable<Decision["always"]>>({ low: true, medium: true, high: true })),
  extractedCommands: listOf(isText),
  rule: isText,
  why: isText,
});

const isFileChange = shape({
  path: isText,
  movedTo: optional(isText),
  change: everyOneOf<FileChange["change"]>({ add: true, update: true, delete: true }),
  oldContent: optional(isText),
  newContent: optional(isText),
});

const isPreview = variants("type", {
  command: shape({ command: isText }),
  create: shape({ path: isText, content: isText, oldContent: optional(isText) }),
  edit: shape({ path: isText, oldContent: optional(isText), newContent: optional(isText) }),
  patch: shape({ patch: isText, files: listOf(isFileChange) }),
  fetch: shape({ url: isText }),
  paths: shape({ paths: listOf(isText) }),
});

const isInteraction = variants("kind", {
  permission: shape({ calls: listOf(shape({ call: isToolCall, decision: isDecision, preview: optional(isPreview) })) }),
  question: shape({
    callId: isText,
    questions: listOf(shape({ index: isIndex, topic: isText, question: isText, options: listOf(isText) })),
  }),
  plan: shape({ callId: isText, plan: isText, title: optional(isText), optionNames: optional(listOf(isText)) }),
  tool: shape({ call: isToolCall }),
});

const isAnswer = variants("kind", {
  allow: shape({ always: optional(isFlag) }),
  answers: shape({ answers: listOf(shape({ index: isIndex, answer: isText })) }),
  approve: shape({ autonomy: isAutonomy }),
  result: shape({ text: isText, isError: optional(isFlag) }),
  cancel: shape({ why: optional(isText) }),
});

const bodyGuards: Readonly<Record<Exclude<DurableBody["type"], "session.opened">, Guard>> = {
  "session.updated": shape({ changes: isChanges, cwd: optional(isAbsolutePath) }),
  "session.titled": isTitled,
  "prompt.accepted": shape({ messageId: isText, content: listOf(isPromptBlock) }),
  "prompt.discarded": shape({ messageId: isText }),
  "turn.started": shape({ turnId: isText, model: isText, prompts: optional(listOf(isText)) }),
  "prompt.taken": shape({ messageId: isText, reminders: listOf(isText) }),
  "message.checkpoint": shape({
    messageId: isText,
    block: isIndex,
    kind: oneOf("text", "thinking"),
    from: isIndex,
    text: isText,
  }),
  "message.ended": shape({ message: isReply }),
  "usage.updated": shape({ call: isUsage, total: isUsage, cost: optional(isNumber) }),
  "tool.started": shape({ callId: isText, name: isText }),
  "tool.ended": shape({
    messageId: isText,
    result: isToolResult,
    created: optional(listOf(isText)),
    moved: optional(listOf(isText)),
  }),
  "request.opened": shape({ requestId: isText, interaction: isInteraction }),
  "request.closed": shape({ requestId: isText, answer: isAnswer, changes: optional(isChanges) }),
  "turn.ended": shape({
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
    failure: optional(shape({ code: isErrorCode, message: isText, cause: optional(oneOf(...failureCauses)) })),
    usage: isUsage,
    durationMs: isNumber,
    untaken: optional(listOf(isText)),
    joined: optional(listOf(isText)),
  }),
};

const guardByType: ReadonlyMap<string, Guard> = new Map(Object.entries(bodyGuards));

/** The guard for a record's own fields; `undefined` for an unknown type. */
export function bodyGuard(type: string): Guard | undefined {
  return guardByType.get(type);
}
