import type { McpServer as BackendServer } from "../../sdk/api.ts";
import { isText } from "../../text/values.ts";

interface WantedServers {
  readonly servers: readonly BackendServer[];
  /** One sentence for each skipped server. */
  readonly problems: readonly string[];
}

/** The servers that a client wants, in the backend's form. Invalid ones are skipped, so the session always opens. */
export function wantedServers(given: unknown): WantedServers {
  const servers: BackendServer[] = [];
  const problems: string[] = [];
  const entries = Array.isArray(given) ? given : given === undefined || given === null ? [] : [given];
  for (const [index, entry] of entries.entries()) {
    const server = serverOf(entry);
    if (server !== undefined) servers.push(server);
    else problems.push(`Skipped the MCP server ${nameOf(entry, index)}: it is not a valid stdio, http or sse entry.`);
  }
  return { servers, problems };
}

function serverOf(entry: unknown): BackendServer | undefined {
  const { name, type = "stdio", command, url, args, env, headers } = Object(entry) as Record<string, unknown>;
  if (typeof name !== "string") return undefined;
  if (type === "stdio") {
    const list = args ?? [];
    const variables = pairs(env);
    if (typeof command !== "string" || !Array.isArray(list) || !list.every(isText) || !variables) return undefined;
    return { name, type, command, args: list, env: variables };
  }
  const sent = pairs(headers);
  if ((type !== "http" && type !== "sse") || typeof url !== "string" || !sent) return undefined;
  return { name, type, url, headers: sent };
}

function pairs(given: unknown): Readonly<Record<string, string>> | undefined {
  const list = Array.isArray(given)
    ? given.map((each) => [Object(each).name, Object(each).value])
    : Object.entries(Object(given ?? {}));
  return list.every((pair) => pair.every(isText)) ? Object.fromEntries(list) : undefined;
}

function nameOf(entry: unknown, index: number): string {
  const { name } = Object(entry) as { name?: unknown };
  return isText(name) ? name : `no. ${index + 1}`;
}
