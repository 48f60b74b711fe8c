import { AgentError } from "../../../engine/errors.ts";
import {
  type NamedServer,
  type ServerEntry,
  type ServerOAuth,
  serverNameFault,
  type UnusableServer,
} from "../../../engine/servers/server-entry.ts";
import type { RunOptions } from "../../../engine/settings.ts";
import { check } from "../../../protocol/check.ts";
import { type McpServerParams, mcpServer } from "../../../protocol/droid/mcp-params.ts";
import { terminalLine } from "../../../text/terminal-text.ts";
import { textStart } from "../../../text/text-cut.ts";
import { fieldsOf, textOf } from "../../../text/values.ts";

/** Each can be a program. */
const mostServers = 64;
const maxShownName = 100;

type Servers = Required<Pick<RunOptions, "servers" | "unusableServers">>;

/** The servers that a client names. One that cannot be used is reported as failed, and never keeps a session from opening. */
export function givenServers(entries: readonly unknown[]): Servers {
  const servers = new Map<string, NamedServer>();
  const unusable = new Map<string, UnusableServer>();
  for (const [index, entry] of entries.entries()) {
    const name = shownName(entry, index);
    const isOver = index >= mostServers;
    const read = isOver ? { problem: `Only ${mostServers} servers can be named.` } : readServer(entry);
    // Of two with one name, the last one counts.
    servers.delete(name);
    unusable.delete(name);
    if ("server" in read) servers.set(name, read.server);
    else unusable.set(name, { name, kind: kindOf(fieldsOf(entry)), problem: read.problem });
  }
  return { servers: [...servers.values()], unusableServers: [...unusable.values()] };
}

function readServer(entry: unknown): { readonly server: NamedServer } | { readonly problem: string } {
  const read = check(mcpServer, entry);
  if (!read.ok) return { problem: `The entry is not valid: ${read.problem}.` };
  try {
    return { server: namedServer(read.value) };
  } catch (error) {
    if (error instanceof AgentError) return { problem: error.message };
    throw error;
  }
}

/** Throws `usage`. */
export function namedServer(given: McpServerParams): NamedServer {
  const fault = serverNameFault(given.name);
  if (fault !== undefined) throw new AgentError("usage", `The server's name ${fault}.`);
  return { name: given.name, entry: entryOf(given) };
}

function entryOf(given: McpServerParams): ServerEntry {
  const kind = kindOf(given);
  if (kind === "stdio") {
    const { command, args = [], env } = given;
    if (command === undefined || command === "") {
      throw new AgentError("usage", "Command is required for stdio MCP servers");
    }
    return { kind, command, args, env: recordIn(env) };
  }
  const { url, headers, oauth } = given;
  if (url === undefined || url === "") throw new AgentError("usage", `URL is required for ${kind} MCP servers`);
  if (!isWebAddress(url)) throw new AgentError("usage", "The URL of an MCP server must be an http or https address.");
  return { kind, url, headers: recordIn(headers), ...(oauth === undefined ? {} : { oauth: oauthOf(oauth) }) };
}

function kindOf({
  type,
  url,
  command,
}: { readonly [Key in "type" | "url" | "command"]?: unknown }): ServerEntry["kind"] {
  if (type === "http" || type === "sse" || type === "stdio") return type;
  return command === undefined && url !== undefined ? "http" : "stdio";
}

export function isWebAddress(address: string): boolean {
  return URL.canParse(address) && ["http:", "https:"].includes(new URL(address).protocol);
}

function recordIn(given: McpServerParams["env"]): Readonly<Record<string, string>> {
  return Array.isArray(given)
    ? Object.fromEntries(given.map(({ name, value }: { name: string; value: string }) => [name, value]))
    : { ...(given as Readonly<Record<string, string>> | undefined) };
}

function oauthOf(oauth: NonNullable<McpServerParams["oauth"]>): ServerOAuth | false {
  if (oauth === false) return false;
  const { authorizationServerIssuer: issuer, tokenEndpointAuthMethod: authMethod, ...same } = oauth;
  const all: { readonly [Key in keyof ServerOAuth]: ServerOAuth[Key] | undefined } = { ...same, issuer, authMethod };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

function shownName(entry: unknown, index: number): string {
  const name = textOf(fieldsOf(entry).name) ?? "";
  return name === "" ? `server ${index + 1}` : terminalLine(textStart(name, maxShownName));
}
