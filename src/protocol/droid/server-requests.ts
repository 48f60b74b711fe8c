import { toolUseBlock } from "./content.ts";
import { impactLevels, offeredOutcomes, outcomes } from "./words.ts";
import { type Wire, z } from "./zod.ts";

/* Requests to the client, and their answers. */

const file = { filePath: z.string(), fileName: z.string() };
const contents = {
  oldContent: z.string().optional().describe("The whole file before; absent if it does not exist."),
  newContent: z.string().optional().describe("The whole file after; absent if the change does not apply."),
};

const command = {
  fullCommand: z.string().describe("The command line. For other tools: the name, the resolved paths, and the input."),
  command: z.string().describe('extractedCommands, joined by ", ".'),
  extractedCommands: z.array(z.string()),
  impactLevel: z.enum(impactLevels),
  riskLevelReason: z.string().optional().describe("One sentence: what the call does, and so why it needs permission."),
  contained: z
    .boolean()
    .optional()
    .describe("Present if commands run in a sandbox here: whether this one does. false: it runs with all rights."),
};

export const execDetails = z.strictObject({ type: z.literal("exec"), ...command });

const sandboxDetails = z
  .strictObject({
    type: z.literal("sandbox_violation"),
    violatingToolName: z.string(),
    target: z.string().describe("The whole command."),
    operationType: z.literal("tool"),
    violationType: z.literal("tool"),
    reason: z.string().describe("The same as riskLevelReason."),
    violationReason: z.literal("not-allowed"),
    isOrgDeny: z.literal(false),
    ...command,
  })
  .describe("The model asks to run a command outside the sandbox.");

const mcpToolDetails = z.strictObject({
  type: z.literal("mcp_tool"),
  toolName: z.string().describe("The name that the model calls."),
  serverName: z.string(),
  actualToolName: z.string().describe("The server's own name for the tool."),
  impactLevel: z.enum(impactLevels),
  riskLevelReason: z.string().describe("One sentence: what the call does, and so why it needs permission."),
});

const createDetails = z.strictObject({
  type: z.literal("create"),
  ...file,
  content: z.string(),
  oldContent: z.string().optional().describe("The content that would be overwritten."),
});

const editDetails = z.strictObject({ type: z.literal("edit"), ...file, ...contents });

const applyPatchDetails = z.strictObject({
  type: z.literal("apply_patch"),
  ...file,
  patchContent: z.string(),
  ...contents,
  files: z
    .array(
      z.strictObject({
        ...file,
        change: z.enum(["add", "update", "delete"]),
        movedTo: z.string().optional(),
        ...contents,
      }),
    )
    .optional()
    .describe("All files of the patch. The fields beside it describe the first."),
});

const exitSpecModeDetails = z.strictObject({
  type: z.literal("exit_spec_mode"),
  plan: z.string(),
  title: z.string().optional(),
  optionNames: z.array(z.string()).optional(),
});

export const permissionDetails = z.discriminatedUnion("type", [
  execDetails,
  createDetails,
  editDetails,
  applyPatchDetails,
  exitSpecModeDetails,
  sandboxDetails,
  mcpToolDetails,
]);

export const permissionOption = z.strictObject({
  label: z.string(),
  value: z.enum(offeredOutcomes),
  selectedColor: z.string(),
  selectedPrefix: z.string().optional(),
});

export const permissionToolUse = z.strictObject({
  toolUse: toolUseBlock,
  confirmationType: z.enum(permissionDetails.options.map(({ shape }) => shape.type.value)),
  details: permissionDetails,
});

export const requestPermissionParams = z.strictObject({
  toolUses: z.array(permissionToolUse),
  options: z.array(permissionOption),
});

export const askUserParams = z.strictObject({
  toolCallId: z.string(),
  questions: z.array(
    z.strictObject({
      index: z.number().int().describe("From 1."),
      topic: z.string(),
      question: z.string(),
      options: z.array(z.string()),
    }),
  ),
});

export const serverRequests = {
  "droid.request_permission": requestPermissionParams,
  "droid.ask_user": askUserParams,
};

/*
 * The answer schemas are only for the document and never validate a client's answer: a malformed answer must still settle its
 * request, or the waiting turn would hang.
 */

export const permissionAnswer = z.object({ selectedOption: z.enum(outcomes), comment: z.string().optional() });

const oneAnswer = z.object({
  index: z.number().int().optional(),
  question: z.string().optional(),
  answer: z.union([z.string(), z.array(z.string())]),
});

/** Plain strings answer the questions in order. */
export const askUserAnswer = z.object({
  cancelled: z.boolean().optional(),
  answers: z.array(z.union([z.string(), oneAnswer])).optional(),
});

export type ServerMethod = keyof typeof serverRequests;
export type PermissionDetails = Wire<typeof permissionDetails>;
export type PermissionOption = Wire<typeof permissionOption>;
export type PermissionToolUse = Wire<typeof permissionToolUse>;
export type RequestPermissionParams = Wire<typeof requestPermissionParams>;
export type AskUserParams = Wire<typeof askUserParams>;
