import { mcpAuthOutcomes, mcpServerTypes, mcpSources, mcpStatuses } from "./words.ts";
import { type Wire, z } from "./zod.ts";

/* What clients learn about MCP servers and their tools. */

const mcpServer = z.strictObject({
  name: z.string(),
  source: z.enum(mcpSources).describe("user: configured. project: from the repository. dynamic: from the client."),
  isManaged: z.boolean().describe("Always false."),
  status: z.enum(mcpStatuses),
  serverType: z.enum(mcpServerTypes),
  hasAuthTokens: z.boolean().optional().describe("Only of http and sse."),
  toolCount: z.number().int().optional().describe("While it is connected."),
  promptCount: z.number().int().optional().describe("If it offers prompts: see list_commands."),
  error: z.string().optional().describe("Why it failed: one sentence."),
  requiresAuth: z.boolean().optional().describe("It works only after a sign-in."),
  pendingAuthUrl: z.string().optional().describe("A sign-in waits for the user there."),
  pendingAuthMessage: z.string().optional(),
  pendingAuthState: z.string().optional().describe("Names the sign-in in submit_mcp_auth_code."),
});

export const mcpStatus = {
  servers: z.array(mcpServer),
  summary: z.strictObject({
    total: z.number().int(),
    connected: z.number().int(),
    connecting: z.number().int(),
    failed: z.number().int(),
    disabled: z.number().int(),
  }),
};

export const mcpStatusChanged = z.strictObject({ type: z.literal("mcp_status_changed"), ...mcpStatus });

export const mcpAuthRequired = z.strictObject({
  type: z.literal("mcp_auth_required"),
  serverName: z.string(),
  authUrl: z.string(),
  message: z.string(),
  state: z.string().describe("Names the sign-in in submit_mcp_auth_code."),
});

export const mcpAuthCompleted = z.strictObject({
  type: z.literal("mcp_auth_completed"),
  serverName: z.string(),
  outcome: z.enum(mcpAuthOutcomes),
  message: z.string(),
});

export const mcpTool = z.strictObject({
  serverName: z.string(),
  name: z.string().describe("The server's own name for it. The model calls <server>___<tool>."),
  description: z.string().optional(),
  isEnabled: z.boolean(),
  isReadOnly: z.boolean().optional().describe("The server's own word."),
  inputSchema: z.record(z.string(), z.unknown()).optional(),
});

export type McpStatus = Pick<Wire<typeof mcpStatusChanged>, "servers" | "summary">;
export type McpTool = Wire<typeof mcpTool>;
