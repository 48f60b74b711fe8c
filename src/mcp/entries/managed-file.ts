import { join } from "node:path";
import { invalid } from "../../config/check/config-fault.ts";
import type { NamedServer, ServerEntry } from "../../engine/servers/server-entry.ts";
import { type Fields, fieldsOf, isRecord, textsOf } from "../../text/values.ts";
import { type DecodedServers, decodeDocument } from "./decode-entry.ts";
import { changeJson, readJson } from "./shared-json.ts";

/* `$TINMAN_HOME/mcp.json`: servers that `tinman mcp add` and clients store, and what is switched off. */

/** What the user switched, for servers of any source. */
export interface Switches {
  /** Replaces the entry's own word. */
  readonly enabled?: boolean;
  readonly disabledTools: readonly string[];
}

export interface ManagedServers extends DecodedServers {
  switches(name: string): Switches;
}

const untouched: Switches = { disabledTools: [] };

export function managedFile(home: string): string {
  return join(home, "mcp.json");
}

/** Rejects with `config_invalid`. */
export async function readManaged(home: string): Promise<ManagedServers> {
  const path = managedFile(home);
  const file = await readJson(path);
  const switched = fieldsOf(file.switches);
  return {
    ...(decodeDocument(file, path) ?? { servers: [], problems: [] }),
    switches: (name) => (Object.hasOwn(switched, name) ? switchesFrom(switched[name]) : untouched),
  };
}

function switchesFrom(value: unknown): Switches {
  const { enabled, disabledTools } = fieldsOf(value);
  return { ...(typeof enabled === "boolean" ? { enabled } : {}), disabledTools: textsOf(disabledTools) };
}

/** False if the file has a server with this name, unless it is to be replaced. */
export async function addManaged(
  home: string,
  { name, entry }: NamedServer,
  { replaces = false } = {},
): Promise<boolean> {
  let isAdded = true;
  await changeServers(home, (servers) => {
    isAdded = replaces || !Object.hasOwn(servers, name);
    return isAdded ? { ...servers, [name]: rawEntry(entry) } : undefined;
  });
  return isAdded;
}

/** False if the file has no server with this name. */
export async function removeManaged(home: string, name: string): Promise<boolean> {
  let isThere = false;
  await changeServers(home, (servers) => {
    isThere = Object.hasOwn(servers, name);
    return isThere ? without(servers, name) : undefined;
  });
  if (isThere) await changeSwitches(home, name, () => untouched);
  return isThere;
}

export async function changeSwitches(
  home: string,
  name: string,
  change: (before: Switches) => Switches,
): Promise<void> {
  await changeJson(managedFile(home), (file) => {
    const all = fieldsOf(file.switches);
    const { enabled, disabledTools } = change(Object.hasOwn(all, name) ? switchesFrom(all[name]) : untouched);
    const own = {
      ...(enabled === undefined ? {} : { enabled }),
      ...(disabledTools.length === 0 ? {} : { disabledTools }),
    };
    const switches = Object.keys(own).length === 0 ? without(all, name) : { ...all, [name]: own };
    const { switches: _, ...others } = file;
    return Object.keys(switches).length === 0 ? others : { ...others, switches };
  });
}

async function changeServers(home: string, change: (servers: Fields) => Fields | undefined): Promise<void> {
  const path = managedFile(home);
  await changeJson(path, (file) => {
    const key = file.mcpServers === undefined && file.servers !== undefined ? "servers" : "mcpServers";
    const before = file[key] ?? {};
    if (!isRecord(before)) throw invalid(path, `${key} is not a map of servers. Edit it by hand`);
    const after = change(before);
    return after === undefined ? undefined : { ...file, [key]: after };
  });
}

function without(map: Fields, name: string): Fields {
  return Object.fromEntries(Object.entries(map).filter(([key]) => key !== name));
}

/** An entry as `{"mcpServers": …}` has it. */
function rawEntry(entry: ServerEntry): object {
  const { isDisabled, tools } = entry;
  const common = {
    ...(tools === undefined ? {} : { tools }),
    ...(isDisabled === true ? { enabled: false } : {}),
  };
  if (entry.kind === "stdio") {
    const { command, args, env, contained } = entry;
    return {
      command,
      ...(args.length === 0 ? {} : { args }),
      ...(Object.keys(env).length === 0 ? {} : { env }),
      ...(contained === undefined ? {} : { contained }),
      ...common,
    };
  }
  const { kind, url, headers, oauth } = entry;
  return {
    type: kind,
    url,
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(oauth === undefined ? {} : { oauth: oauth === false ? false : rawOauth(oauth) }),
    ...common,
  };
}

function rawOauth({
  issuer,
  authMethod,
  ...others
}: Exclude<Extract<ServerEntry, { url: string }>["oauth"], false | undefined>) {
  return {
    ...others,
    ...(issuer === undefined ? {} : { authorizationServerIssuer: issuer }),
    ...(authMethod === undefined ? {} : { tokenEndpointAuthMethod: authMethod }),
  };
}
