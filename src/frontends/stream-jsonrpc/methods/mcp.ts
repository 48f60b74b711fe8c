import { AgentError } from "../../../engine/errors.ts";
import type { ServerToolInfo, ToolServers } from "../../../engine/servers/tool-servers.ts";
import type { McpTool } from "../../../protocol/droid/mcp.ts";
import type { mcpParams } from "../../../protocol/droid/mcp-params.ts";
import type { ParamsOf } from "../../../protocol/droid/params.ts";
import type { ResultOf } from "../../../protocol/droid/results.ts";
import { isRecord, isText } from "../../../text/values.ts";
import type { Context } from "../context.ts";
import { mcpStatus } from "../notifications/server-news.ts";
import { NoSession, NotFound } from "../rpc-failure.ts";
import { namedServer } from "./given-servers.ts";

type McpMethod = keyof typeof mcpParams;
type Handlers = {
  readonly [M in McpMethod]: (params: ParamsOf<M>, context: Context) => Promise<ResultOf<M>>;
};

const unconfigured = "MCP server not found in configuration";
const unknown = "Server not found";

/** The methods about MCP servers. */
export const mcpHandlers: Handlers = {
  async "droid.list_mcp_servers"(_, { live }) {
    return mcpStatus(live?.session.serverStates() ?? [], live?.canSignIn ?? true);
  },

  async "droid.list_mcp_tools"(_, context) {
    const tools = sessionOf(context).servers?.inventory() ?? [];
    return { tools: tools.map(wireTool) };
  },

  "droid.list_mcp_registry": async () => ({ servers: [] }),

  async "droid.add_mcp_server"(params, context) {
    const server = namedServer(params);
    await serversOf(context).add(server);
    return { success: true };
  },

  async "droid.remove_mcp_server"({ serverName }, context) {
    return found(await serversOf(context).remove(serverName), unconfigured);
  },

  async "droid.toggle_mcp_server"({ serverName, enabled }, context) {
    return found(await serversOf(context).setEnabled(serverName, enabled), unconfigured);
  },

  async "droid.toggle_mcp_tool"({ serverName, toolName, enabled }, context) {
    return found(await serversOf(context).setToolEnabled(serverName, toolName, enabled), "MCP tool not found");
  },

  /** Responds when the sign-in has ended. */
  async "droid.authenticate_mcp_server"({ serverName }, context) {
    const outcome = await serversOf(context).signIn(serverName);
    if (outcome === undefined) throw new NotFound(unknown);
    return { success: outcome === "success" };
  },

  async "droid.submit_mcp_auth_code"({ serverName, code, state }, context) {
    return { success: await serversOf(context).finishSignIn(serverName, state, { code }) };
  },

  async "droid.submit_mcp_auth_error"({ serverName, error, errorDescription, state }, context) {
    const answer = { error, ...(errorDescription === undefined ? {} : { description: errorDescription }) };
    return { success: await serversOf(context).finishSignIn(serverName, state, answer) };
  },

  async "droid.cancel_mcp_auth"({ serverName }, context) {
    return found(await serversOf(context).cancelSignIn(serverName), unknown);
  },

  async "droid.clear_mcp_auth"({ serverName }, context) {
    return found(await serversOf(context).forgetTokens(serverName), unknown);
  },
};

function sessionOf({ live }: Context) {
  if (live === undefined || live.session.isClosed) throw new NoSession();
  return live.session;
}

function serversOf(context: Context): ToolServers {
  const { servers } = sessionOf(context);
  if (servers === undefined) throw new AgentError("usage", "This session uses no MCP servers.");
  return servers;
}

function found(isFound: boolean, otherwise: string): { readonly success: true } {
  if (!isFound) throw new NotFound(otherwise);
  return { success: true };
}

function wireTool({
  server: serverName,
  name,
  description,
  isEnabled,
  isReadOnly,
  inputSchema,
}: ServerToolInfo): McpTool {
  return {
    serverName,
    name,
    ...(description === undefined ? {} : { description }),
    isEnabled,
    ...(isReadOnly === undefined ? {} : { isReadOnly }),
    ...(isRecord(inputSchema) ? { inputSchema: strictSchema(inputSchema) } : {}),
  };
}

/** Clients expect the three keywords in their usual forms, and reject the list for one tool that has another. */
function strictSchema({ type, properties, required, ...others }: Readonly<Record<string, unknown>>) {
  return {
    ...(isText(type) ? { type } : {}),
    ...(isRecord(properties)
      ? { properties: Object.fromEntries(Object.entries(properties).filter(([, schema]) => isRecord(schema))) }
      : {}),
    ...(Array.isArray(required) && required.every(isText) ? { required } : {}),
    ...others,
  };
}
