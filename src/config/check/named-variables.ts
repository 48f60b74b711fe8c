import { variablesOf } from "../servers/server-words.ts";
import type { UserConfig } from "./checked-config.ts";
import { variablesIn } from "./variables.ts";

/** The environment variables used in model addresses, keys and headers, and in headers and secrets for MCP servers. */
export function namedVariables({ models, mcp }: UserConfig): readonly string[] {
  const texts = (models?.entries ?? []).flatMap(({ baseUrl, apiKey, headers }) => [
    baseUrl ?? "",
    apiKey ?? "",
    ...Object.values(headers ?? {}),
  ]);
  const ofServers = Object.values(mcp?.servers ?? {}).flatMap(({ headers, oauth }) => [
    ...Object.values(headers ?? {}),
    typeof oauth === "object" ? (oauth.clientSecret ?? "") : "",
  ]);
  return [...new Set([...texts.flatMap(variablesIn), ...ofServers.flatMap(variablesOf)])];
}
