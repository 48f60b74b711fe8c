import { message, tokenUsage } from "./content.ts";
import { mcpStatus, mcpTool } from "./mcp.ts";
import { availableModel, listedModel, toolInfo } from "./models.ts";
import { askUserParams, requestPermissionParams } from "./server-requests.ts";
import { settings } from "./settings.ts";
import { type Wire, z } from "./zod.ts";

/* `result` of each method. */

const gitRepo = z.strictObject({
  owner: z.string().optional().describe("Absent without a remote."),
  repoName: z.string(),
});

const mcpServers = z.array(z.record(z.string(), z.unknown())).describe("As sent, without type.");

export const initializeResult = z.strictObject({
  sessionId: z.string(),
  session: z.strictObject({ messages: z.array(message).describe("Always empty.") }),
  settings,
  availableModels: z.array(availableModel),
  gitRepo: gitRepo.optional(),
  mcpServers: mcpServers.optional(),
});

export const pendingPermission = requestPermissionParams.extend({ requestId: z.string() });
const pendingQuestion = askUserParams.extend({ requestId: z.string() });

export const loadResult = z.strictObject({
  session: z.strictObject({ messages: z.array(message), title: z.string().optional() }),
  settings,
  availableModels: z.array(availableModel),
  isAgentLoopInProgress: z.boolean(),
  gitRepo: gitRepo.optional(),
  cwd: z.string(),
  tokenUsage,
  pendingPermissions: z.array(pendingPermission).optional(),
  queuedMessages: z
    .array(
      z.strictObject({ messageId: z.string(), text: z.string(), requestId: z.string().describe("Same as messageId.") }),
    )
    .optional()
    .describe("Accepted messages whose turn has not started."),
  pendingAskUserRequests: z.array(pendingQuestion).optional(),
  mcpServers: mcpServers.optional(),
});

const listToolsResult = z.strictObject({ tools: z.array(toolInfo) });
const listModelsResult = z.strictObject({ models: z.array(listedModel) });
const listSkillsResult = z.strictObject({ skills: z.array(z.never()).describe("Always empty.") });
const listCommandsResult = z.strictObject({
  commands: z
    .array(
      z.strictObject({
        name: z.string().describe("Without its slash: mcp:<server>:<prompt>."),
        description: z.string(),
        argumentHint: z.string().optional(),
      }),
    )
    .describe("Messages that stand for the prompts of MCP servers."),
});
const forkResult = z.strictObject({ newSessionId: z.string() });

const contextStatsResult = z.strictObject({
  used: z.number().int(),
  remaining: z.number().int(),
  limit: z.number().int(),
  reserve: z.number().int().describe("Of the limit, kept free for the answer."),
  accuracy: z.enum(["exact", "estimated"]),
  updatedAt: z.string().describe("ISO 8601 with time zone."),
});

const compactResult = z.strictObject({
  newSessionId: z.string().describe("The same session."),
  removedCount: z.number().int().describe("Messages that the model no longer reads."),
});

const contextBreakdownResult = z.strictObject({
  modelId: z.string(),
  modelDisplayName: z.string(),
  contextBudget: z.number().int().describe("The model's window."),
  usedTokens: z.number().int(),
  freeTokens: z.number().int(),
  categories: z.array(z.strictObject({ name: z.string(), tokens: z.number().int(), colorKey: z.string() })),
  skills: z.array(z.never()).describe("Always empty."),
  mcpServers: z
    .array(z.strictObject({ name: z.string(), toolCount: z.number().int(), tokens: z.number().int() }))
    .describe("Servers whose tools are offered."),
  droids: z.array(z.never()).describe("Always empty."),
});

const listMcpServersResult = z.strictObject(mcpStatus);
const listMcpToolsResult = z.strictObject({ tools: z.array(mcpTool) });
const listMcpRegistryResult = z.strictObject({ servers: z.array(z.never()).describe("Always empty.") });
const done = z.strictObject({ success: z.boolean() });

const emptyResult = z.strictObject({});

export const clientResults = {
  "droid.initialize_session": initializeResult,
  "droid.load_session": loadResult,
  "droid.add_user_message": emptyResult,
  "droid.update_session_settings": emptyResult,
  "droid.interrupt_session": emptyResult,
  "droid.close_session": emptyResult,
  "droid.list_tools": listToolsResult,
  "droid.list_models": listModelsResult,
  "droid.rename_session": done,
  "droid.fork_session": forkResult,
  "droid.compact_session": compactResult,
  "droid.get_context_stats": contextStatsResult,
  "droid.get_context_breakdown": contextBreakdownResult,
  "droid.list_skills": listSkillsResult,
  "droid.list_commands": listCommandsResult,
  "droid.list_mcp_servers": listMcpServersResult,
  "droid.list_mcp_tools": listMcpToolsResult,
  "droid.list_mcp_registry": listMcpRegistryResult,
  "droid.add_mcp_server": done,
  "droid.remove_mcp_server": done,
  "droid.toggle_mcp_server": done,
  "droid.toggle_mcp_tool": done,
  "droid.authenticate_mcp_server": done,
  "droid.submit_mcp_auth_code": done,
  "droid.submit_mcp_auth_error": done,
  "droid.cancel_mcp_auth": done,
  "droid.clear_mcp_auth": done,
};

export type ResultOf<M extends keyof typeof clientResults> = Wire<(typeof clientResults)[M]>;
export type GitRepo = Wire<typeof gitRepo>;
export type InitializeResult = Wire<typeof initializeResult>;
export type LoadResult = Wire<typeof loadResult>;
export type ListToolsResult = Wire<typeof listToolsResult>;
export type ListCommandsResult = Wire<typeof listCommandsResult>;
export type ListModelsResult = Wire<typeof listModelsResult>;
export type ContextBreakdownResult = Wire<typeof contextBreakdownResult>;
export type ContextStatsResult = Wire<typeof contextStatsResult>;
