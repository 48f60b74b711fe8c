import { errorCodes, failureCauses } from "../core/errors.ts";
import type { DurableBody, EndReason } from "../core/event.ts";
import type { StopReason, ToolStatus } from "../core/message.ts";
import { accessClasses, type Decision, type FileChange } from "../core/permission.ts";
import { autonomyLevels, type Mode, reasoningEfforts } from "../core/settings.ts";

/**
 * Says whether a parsed value has the fields that readers of events rely on. By hand and not by schema: a long session has
 * thousands of records, and they are all checked whenever it is resumed.
 */
type Guard = (value: unknown) => boolean;

export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export const isText = (value: unknown): value is string => typeof value === "string";
/** Also as another system writes it: a log may have been carried here. Below no folder at all, everything would lie. */
export const isAbsolutePath = (value: unknown): value is string => isText(value) && /^(?:\/|[a-z]:[\\/])/i.test(value);
export const isNumber = (value: unknown): value is number => Number.isFinite(value);
export const isPositiveInteger = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 1;
const isIndex: Guard = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const isFlag: Guard = (value) => typeof value === "boolean";
const isErrorCode: Guard = (value) => isText(value) && Object.hasOwn(errorCodes, value);

function oneOf(...allowed: readonly string[]): Guard {
  return (value) => isText(value) && allowed.includes(value);
}

/** Like `oneOf`, but does not compile when the type has got another member. */
function everyOneOf<Name extends string>(names: Readonly<Record<Name, true>>): Guard {
  return oneOf(...Object.keys(names));
}

export function optional(guard: Guard): Guard {
  return (value) => value === undefined || guard(value);
}

function listOf(guard: Guard): Guard {
  return (value) => Array.isArray(value) && value.every(guard);
}

export function shape(guards: Readonly<Record<string, Guard>>): Guard {
  const entries = Object.entries(guards);
  return (value) => isFields(value) && entries.every(([key, guard]) => guard(value[key]));
}

/** A union told apart by the text in `tag`. */
function variants(tag: string, byTag: Readonly<Record<string, Guard>>): Guard {
  const guards = new Map(Object.entries(byTag));
  return (value) => {
    const kind = isFields(value) ? value[tag] : undefined;
    return isText(kind) && (guards.get(kind)?.(value) ?? false);
  };
}

/** What every session has. */
const neededSettings = {
  modelId: isText,
  reasoningEffort: oneOf(...reasoningEfforts),
  autonomy: oneOf(...autonomyLevels),
  mode: everyOneOf<Mode>({ auto: true, spec: true }),
};

const furtherSettings = {
  specModelId: isText,
  specReasoningEffort: oneOf(...reasoningEfforts),
  systemPrompt: isText,
  appendSystemPrompt: isText,
  tags: listOf(shape({ name: isText, metadata: optional(isFields) })),
};

function each(guards: Readonly<Record<string, Guard>>, change: (guard: Guard) => Guard): Record<string, Guard> {
  return Object.fromEntries(Object.entries(guards).map(([key, guard]) => [key, change(guard)]));
}

export const isSettings = shape({ ...neededSettings, ...each(furtherSettings, optional) });

/** `null` takes away what a session may be without. */
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

/** Opaque, so only its outline is looked at. */
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
});

const isAnswer = variants("kind", {
  allow: shape({ always: optional(isFlag) }),
  answers: shape({ answers: listOf(shape({ index: isIndex, answer: isText })) }),
  approve: shape({ autonomy: oneOf(...autonomyLevels) }),
  cancel: shape({ why: optional(isText) }),
});

const bodyGuards: Readonly<Record<Exclude<DurableBody["type"], "session.opened">, Guard>> = {
  "session.updated": shape({ changes: isChanges, cwd: optional(isAbsolutePath) }),
  "session.titled": shape({ title: isText }),
  "prompt.accepted": shape({ messageId: isText, content: listOf(isPromptBlock) }),
  "prompt.discarded": shape({ messageId: isText }),
  "turn.started": shape({ turnId: isText, model: isText }),
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
  "tool.ended": shape({ messageId: isText, result: isToolResult }),
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
  }),
};

const guardByType: ReadonlyMap<string, Guard> = new Map(Object.entries(bodyGuards));

/** The guard of a record's own fields; `undefined` for a type that this version does not know. */
export function bodyGuard(type: string): Guard | undefined {
  return guardByType.get(type);
}
