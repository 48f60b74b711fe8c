/** The program's requests to its client. The SDKs' high level answers "cancel" to any other request. */
import { z } from "zod";
import { anyObject, count, flag, text, texts, toolUse } from "./strict-objects.ts";
import { outcome } from "./strict-words.ts";

const question = z.looseObject({
  index: count.min(1),
  topic: text,
  question: text,
  options: texts,
  multiSelect: flag.optional(),
});

const details = z.discriminatedUnion("type", [
  z.looseObject({
    type: z.literal("edit"),
    filePath: text,
    fileName: text,
    oldContent: text.optional(),
    newContent: text.optional(),
  }),
  z.looseObject({
    type: z.literal("exec"),
    fullCommand: text,
    command: text,
    extractedCommands: texts.optional(),
    impactLevel: text.optional(),
    riskLevelReason: text.optional(),
  }),
  z.looseObject({ type: z.literal("create"), filePath: text, fileName: text, content: text }),
  z.looseObject({
    type: z.literal("ask_user"),
    questionnaire: text,
    parsed: z.looseObject({ questions: z.array(question) }).optional(),
    parseError: z.looseObject({ message: text, line: count.optional() }).optional(),
  }),
  z.looseObject({
    type: z.literal("exit_spec_mode"),
    plan: text,
    title: text.optional(),
    optionNames: texts.optional(),
  }),
  z.looseObject({
    type: z.literal("apply_patch"),
    filePath: text,
    fileName: text,
    patchContent: text,
    oldContent: text.optional(),
    newContent: text.optional(),
    files: z.array(anyObject).optional(),
  }),
  z.looseObject({
    type: z.literal("mcp_tool"),
    toolName: text,
    impactLevel: text,
    serverName: text.optional(),
    actualToolName: text.optional(),
  }),
  z.looseObject({
    type: z.literal("sandbox_violation"),
    violatingToolName: text,
    target: text,
    operationType: z.enum(["read", "write", "network", "tool"]),
    violationType: z.enum(["filesystem-read", "filesystem-write", "network", "tool"]),
    reason: text,
    violationReason: z.enum(["deny-list", "not-allowed"]).optional(),
    isOrgDeny: flag,
  }),
  z.looseObject({ type: z.literal("droid_shield_violation"), command: text, reason: text }),
]);

const asked = z
  .looseObject({ toolUse, confirmationType: text, details })
  .refine((use) => use.confirmationType === use.details.type, "confirmationType is not the type of its details");

export const askedTools = z.array(asked).min(1);
export const permissionOptions = z.array(z.looseObject({ label: text, value: outcome })).min(1);
export const askedQuestions = z.array(question).min(1);

export const serverRequests: Readonly<Record<string, z.ZodType>> = {
  "droid.request_permission": z.looseObject({
    toolUses: askedTools,
    options: permissionOptions,
    associatedSessionIds: texts.optional(),
  }),
  "droid.ask_user": z.looseObject({ toolCallId: text, questions: askedQuestions }),
};
