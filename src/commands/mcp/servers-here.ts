import { loadUserConfig } from "../../config/load.ts";
import { ownHomes } from "../../config/own-homes.ts";
import type { ServerEntry } from "../../engine/servers/server-entry.ts";
import { createServerSources, type WrittenSources } from "../../mcp/entries/sources.ts";
import { workingFolder } from "../working-folder.ts";

/** What the commands about servers work on. */
export interface ServersHere {
  readonly home: string;
  readonly cwd: string;
  readonly sources: WrittenSources;
}

/** Rejects with `config_invalid`. */
export async function serversHere(): Promise<ServersHere> {
  const { own: home } = ownHomes(process.env);
  const { mcp: config } = await loadUserConfig(home);
  return { home, cwd: workingFolder(undefined), sources: createServerSources({ home, config, env: process.env }) };
}

/** How a server is reached, on one line. An address's query can hold a key. */
export function reachText(entry: ServerEntry): string {
  if (entry.kind === "stdio") return [entry.command, ...entry.args].map(word).join(" ");
  const [address = ""] = entry.url.split(/[?#]/, 1);
  const rest = address === entry.url ? "" : "?…";
  return `${address}${rest}${entry.kind === "sse" ? " (sse)" : ""}`;
}

/** Quoted where needed, so that one argument doesn't look like two. */
export function word(text: string): string {
  return /^[\w@%+=:,./${}~-]+$/.test(text) ? text : JSON.stringify(text);
}
