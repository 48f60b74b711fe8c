import type { UserConfig } from "../../config/check/checked-config.ts";
import forms from "../../config/check/config-forms.json" with { type: "json" };
import { faultOf, faultText } from "../../config/check/form.ts";
import { namedChecks } from "../../config/check/named-checks.ts";
import { printable, visible } from "../../config/check/visible.ts";
import { reachOf } from "../../config/servers/server-words.ts";
import {
  type NamedServer,
  type ServerEntry,
  type ServerOAuth,
  serverNameFault,
} from "../../engine/servers/server-entry.ts";
import { type Fields, fieldsOf, isRecord } from "../../text/values.ts";

/** Entries as their files and clients write them: variables are still `${NAME}`. */
export interface DecodedServers {
  readonly servers: readonly NamedServer[];
  /** One sentence about each entry that was skipped. */
  readonly problems: readonly string[];
}

export type ConfiguredServers = NonNullable<NonNullable<UserConfig["mcp"]>["servers"]>;
type ConfiguredServer = ConfiguredServers[string];

/** More than any user has. A hostile file could name millions. */
const mostServers = 200;

/** The keys of a JSON document that hold servers: what Claude and Cursor write, and VS Code. */
const keysOfServers = ["mcpServers", "servers"] as const;

/** `servers` of config.yaml, which has been checked. */
export function configuredServers(servers: ConfiguredServers): readonly NamedServer[] {
  return Object.entries(servers).map(([name, entry]) => ({ name, entry: entryFrom(entry) }));
}

/** A document `{"mcpServers": {name: entry}}`. `where` starts its problems. `undefined` if it names no servers. */
export function decodeDocument(document: unknown, where: string): DecodedServers | undefined {
  if (!isRecord(document)) return undefined;
  const found = keysOfServers.map((key) => document[key]).find((value) => value !== undefined);
  if (!isRecord(found)) return undefined;
  return decodeAll(Object.entries(found), where);
}

/** Without what only the user can grant a server. */
export function withoutRights({ name, entry }: NamedServer): NamedServer {
  const { tools: _, ...own } = entry;
  return { name, entry: own };
}

function decodeAll(given: readonly (readonly [name: string, raw: unknown])[], where: string): DecodedServers {
  const servers: NamedServer[] = [];
  const problems: string[] = [];
  for (const [name, raw] of given.slice(0, mostServers)) {
    const decoded = decodeServer(name, raw);
    if ("fault" in decoded) problems.push(skipped(name, where, decoded.fault));
    else servers.push({ name, entry: decoded.entry });
  }
  if (given.length > mostServers)
    problems.push(`${where} names more than ${mostServers} MCP servers. The rest is skipped.`);
  return { servers, problems };
}

/** A sentence about an entry that cannot be used. */
function skipped(name: string, where: string, fault: string): string {
  return printable(`Skipped the MCP server ${visible(name)} of ${where}: ${fault}.`);
}

/** An entry as JSON has it. Ignores keys of other programs. */
export function decodeServer(name: string, raw: unknown): { readonly entry: ServerEntry } | { readonly fault: string } {
  const badName = serverNameFault(name);
  if (badName !== undefined) return { fault: `its name ${badName}` };
  const usual = inUsualForm(raw);
  const fault = faultOf(forms.server, usual, namedChecks);
  if (fault !== undefined) return { fault: faultText(fault) };
  const entry = usual as ConfiguredServer;
  const reach = reachOf(entry);
  return "fault" in reach ? { fault: `it ${reach.fault}` } : { entry: entryFrom(entry) };
}

const types: Readonly<Record<string, string>> = {
  "streamable-http": "http",
  streamable_http: "http",
  streamableHttp: "http",
  remote: "http",
  local: "stdio",
};

/** What programs write differently. */
function inUsualForm(raw: unknown): unknown {
  if (!isRecord(raw)) return raw;
  const { type, headers, disabled, ...others } = Object.fromEntries(
    Object.entries(raw).filter(([, value]) => value !== null && value !== undefined),
  );
  return {
    ...others,
    ...(type === undefined
      ? {}
      : { type: typeof type === "string" && Object.hasOwn(types, type) ? types[type] : type }),
    ...(headers === undefined ? {} : { headers: Array.isArray(headers) ? headersFrom(headers) : headers }),
    ...(disabled === true && raw.enabled === undefined ? { enabled: false } : {}),
  };
}

/** `[{name, value}]`, as clients of the protocols send headers. */
function headersFrom(list: readonly unknown[]): unknown {
  const pairs = list.map(fieldsOf);
  if (pairs.some(({ name }) => typeof name !== "string")) return list;
  return Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
}

function entryFrom(given: ConfiguredServer): ServerEntry {
  const { command, args = [], env = {}, contained, url, headers = {}, oauth, tools, enabled } = given;
  const reach = reachOf(given);
  const kind = "kind" in reach ? reach.kind : "stdio";
  const common = {
    ...(enabled === false ? { isDisabled: true } : {}),
    ...(tools === undefined ? {} : { tools }),
  };
  if (kind === "stdio") {
    return { kind, command: command ?? "", args, env, ...(contained === undefined ? {} : { contained }), ...common };
  }
  return {
    kind,
    url: url ?? "",
    headers,
    ...(oauth === undefined || oauth === true ? {} : { oauth: oauth === false ? false : oauthFrom(oauth) }),
    ...common,
  };
}

function oauthFrom(given: Fields & Exclude<ConfiguredServer["oauth"], boolean | undefined>): ServerOAuth {
  const { clientId, clientSecret, scopes, resource, clientMetadataUrl, callbackPort } = given;
  const { authorizationServerIssuer: issuer, tokenEndpointAuthMethod: authMethod } = given;
  const fields = { clientId, clientSecret, scopes, resource, issuer, clientMetadataUrl, callbackPort, authMethod };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
