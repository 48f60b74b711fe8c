import "./jitless.ts";
import * as z from "zod/mini";
import { mcpParams, mcpServer } from "./mcp-params.ts";
import {
  autonomyModes,
  earlyLevels,
  imageTypes,
  interactionModes,
  laterLevels,
  otherInteractionModes,
  reasoningEfforts,
} from "./words.ts";
import type { Wire } from "./zod.ts";

/*
 * Parameters of client requests. Unknown keys are ignored. Validate with check.ts, which has readable messages. Loaded in every
 * run, so they use zod/mini.
 */

const text = z.string();
const notBlank = z.string().check(z.regex(/\S/, "must not be blank"));
const perhapsText = z.optional(text);
const perhapsTrue = z.optional(z.boolean());
const effort = z.enum(reasoningEfforts);
const perhapsIds = z.optional(z.array(text));
const tags = z.optional(z.array(z.object({ name: text, metadata: z.optional(z.record(text, text)) })));

/** Keeps unknown keys, because it is returned as sent. An entry that does not fit is a failed server, not an error. */
const mcpServers = z.optional(z.array(z.union([mcpServer, z.unknown()])));
const mcpOAuthCallbackUri = z.optional(
  z.string().check(z.describe("Where the browser goes after a sign-in. Default: a port of this machine.")),
);

const toolFilters = {
  enabledToolIds: perhapsIds,
  disabledToolIds: perhapsIds,
  additionalToolIds: perhapsIds,
  restrictToolIds: perhapsIds,
};

const modes = {
  interactionMode: z.optional(
    z
      .enum([...interactionModes, ...otherInteractionModes], { error: 'must be "auto" or "spec"' })
      .check(z.describe("Only auto and spec are supported; the others are rejected with a message.")),
  ),
  autonomyLevel: z.optional(z.enum([...laterLevels, ...earlyLevels])),
  autonomyMode: z.optional(z.enum(autonomyModes)),
};

const choices = {
  modelId: perhapsText,
  reasoningEffort: z.optional(effort),
  ...modes,
  specModeModelId: z.optional(z.nullable(text).check(z.describe("null clears it."))),
  specModeReasoningEffort: z.optional(z.nullable(effort).check(z.describe("null clears it."))),
};

const compaction = {
  compactionTokenLimit: z.optional(
    z.nullable(z.int().check(z.positive(), z.describe("Compact requests above this many tokens. null: the default."))),
  ),
  compactionThresholdCheckEnabled: z.optional(
    z.nullable(z.boolean().check(z.describe("false: compact only when asked. null: as configured."))),
  ),
};

const promptPreset = z.object({ type: z.literal("preset"), preset: z.literal("droid"), append: text });

const initializeParams = z.object({
  machineId: text,
  cwd: z.optional(z.string().check(z.describe("Default: the working directory of the command line or the process."))),
  sessionId: z.optional(z.string().check(z.describe("A suggestion. The result has the actual id."))),
  ...choices,
  ...toolFilters,
  ...compaction,
  systemPrompt: z.optional(
    z.union([notBlank, promptPreset], {
      error: 'must be text that is not blank, or {"type":"preset","preset":"droid","append":"…"}',
    }),
  ),
  skipPermissionsUnsafe: perhapsTrue,
  autoRejectPermissionRequests: z.optional(z.boolean().check(z.describe("No one can answer permission requests."))),
  tags,
  mcpServers,
  mcpOAuthCallbackUri,
});

const loadParams = z.object({
  sessionId: text,
  ...toolFilters,
  autoRejectPermissionRequests: perhapsTrue,
  mcpServers,
  mcpOAuthCallbackUri,
});

const image = z.object({ type: z.optional(z.literal("base64")), mediaType: z.enum(imageTypes), data: text });

const file = z.discriminatedUnion("mediaType", [
  z.object({
    type: z.optional(z.literal("base64")),
    mediaType: z.literal("application/pdf"),
    data: text,
    name: perhapsText,
  }),
  z.object({
    type: z.optional(z.literal("text")),
    mediaType: z.literal("text/plain"),
    data: text,
    name: perhapsText,
  }),
]);

const addUserMessageParams = z.object({
  text,
  messageId: z.optional(z.string().check(z.describe("Gives the message its own turn with this id."))),
  images: z.optional(z.array(image)),
  files: z.optional(z.array(file)),
});

const updateSettingsParams = z.object({ ...choices, ...toolFilters, ...compaction, tags });

const listToolsParams = z.object({
  ...toolFilters,
  ...modes,
  modelId: perhapsText,
  specModeModelId: choices.specModeModelId,
  skipPermissionsUnsafe: perhapsTrue,
});

const listModelsParams = z.object({ includeDisabled: perhapsTrue });
const renameParams = z.object({ title: notBlank });
const compactParams = z.object({ customInstructions: perhapsText });
const forkParams = z.object({ title: perhapsText, tags });
const closeParams = z.object({ reason: perhapsText });
const noParams = z.object({});

export const clientParams = {
  "droid.initialize_session": initializeParams,
  "droid.load_session": loadParams,
  "droid.add_user_message": addUserMessageParams,
  "droid.update_session_settings": updateSettingsParams,
  "droid.interrupt_session": noParams,
  "droid.close_session": closeParams,
  "droid.list_tools": listToolsParams,
  "droid.list_models": listModelsParams,
  "droid.rename_session": renameParams,
  "droid.fork_session": forkParams,
  "droid.compact_session": compactParams,
  "droid.get_context_stats": noParams,
  "droid.get_context_breakdown": noParams,
  "droid.list_skills": noParams,
  "droid.list_commands": noParams,
  ...mcpParams,
};

export type ClientMethod = keyof typeof clientParams;
export type ParamsOf<M extends ClientMethod> = Wire<(typeof clientParams)[M]>;
export type InitializeParams = Wire<typeof initializeParams>;
export type LoadParams = Wire<typeof loadParams>;
export type AddUserMessageParams = Wire<typeof addUserMessageParams>;
export type UpdateSettingsParams = Wire<typeof updateSettingsParams>;
export type ListToolsParams = Wire<typeof listToolsParams>;
export type ListModelsParams = Wire<typeof listModelsParams>;
