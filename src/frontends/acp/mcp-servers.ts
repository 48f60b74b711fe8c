import type { McpServer } from "@agentclientprotocol/sdk";
import type { McpServer as BackendServer } from "../../sdk/api.ts";

/** What a client asks for, as a backend takes it. */
export function backendServers(servers: readonly McpServer[]): readonly BackendServer[] {
  return servers.map((server) => {
    const { name } = server;
    if (!("type" in server)) {
      return { name, type: "stdio", command: server.command, args: server.args, env: pairs(server.env) };
    }
    return { name, type: server.type, url: server.url, headers: pairs(server.headers) };
  });
}

function pairs(list: readonly { readonly name: string; readonly value: string }[]): Readonly<Record<string, string>> {
  return Object.fromEntries(list.map(({ name, value }) => [name, value]));
}

/** A sentence for each server that could not be had, from `mcp_status_changed`. */
export function mcpFailures(notification: unknown): readonly string[] {
  const { servers } = Object(notification) as { servers?: unknown };
  if (!Array.isArray(servers)) return [];
  return servers.flatMap((each: unknown) => {
    const { name, status, error } = Object(each) as { name?: unknown; status?: unknown; error?: unknown };
    if (status !== "failed") return [];
    return [`The MCP server ${String(name)} cannot be used: ${typeof error === "string" ? error : "it failed."}`];
  });
}
