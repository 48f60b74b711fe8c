import "./jitless.ts";
import * as z from "zod/mini";
import { mcpAuthMethods, mcpServerTypes } from "./words.ts";
import type { Wire } from "./zod.ts";

/* Parameters about MCP servers. */

const text = z.string();
const perhapsText = z.optional(text);
const perhapsTexts = z.optional(z.array(text));
const record = z.record(text, text);
const pairs = z.array(z.object({ name: text, value: text }));

const oauth = z.union([
  z.literal(false),
  z.object({
    scopes: perhapsTexts,
    resource: z.optional(z.union([text, z.literal(false)])),
    authorizationServerIssuer: perhapsText,
    clientMetadataUrl: perhapsText,
    clientId: perhapsText,
    clientSecret: perhapsText,
    callbackPort: z.optional(z.int().check(z.minimum(1), z.maximum(65_535))),
    tokenEndpointAuthMethod: z.optional(z.enum(mcpAuthMethods)),
  }),
]);

/** How a server is started or reached. */
const reached = {
  command: perhapsText,
  args: perhapsTexts,
  env: z.optional(z.union([record, pairs])),
  url: perhapsText,
  headers: z.optional(z.union([record, pairs])),
  oauth: z.optional(oauth.check(z.describe("false: never sign in."))),
};

export const mcpServer = z.looseObject({ name: text, type: z.optional(z.enum(mcpServerTypes)), ...reached });

const settingsLevel = z.optional(z.literal("user"));
const serverName = text;
const named = z.object({ serverName });
const state = z.string().check(z.describe("From mcp_auth_required."));

export const mcpParams = {
  "droid.list_mcp_servers": z.object({}),
  "droid.list_mcp_tools": z.object({}),
  "droid.list_mcp_registry": z.object({}),
  "droid.add_mcp_server": z.object({ name: text, type: z.enum(mcpServerTypes), ...reached }),
  "droid.remove_mcp_server": z.object({ serverName, settingsLevel }),
  "droid.toggle_mcp_server": z.object({ serverName, enabled: z.boolean(), settingsLevel }),
  "droid.toggle_mcp_tool": z.object({ serverName, toolName: text, enabled: z.boolean() }),
  "droid.authenticate_mcp_server": named,
  "droid.submit_mcp_auth_code": z.object({ serverName, code: text, state }),
  "droid.submit_mcp_auth_error": z.object({ serverName, error: text, errorDescription: perhapsText, state }),
  "droid.cancel_mcp_auth": named,
  "droid.clear_mcp_auth": named,
};

export type McpServerParams = Wire<typeof mcpServer>;
