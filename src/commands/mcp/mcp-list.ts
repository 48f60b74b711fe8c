import { printable } from "../../config/check/visible.ts";
import { exitCodes } from "../../frontends/exit-codes.ts";
import type { Io } from "../../frontends/front-end.ts";
import type { WrittenServer } from "../../mcp/entries/sourced-server.ts";
import { table } from "../models/models.ts";
import { reachText, serversHere } from "./servers-here.ts";

/** `tinman mcp list`. */
export async function listServers(options: { readonly json?: boolean }, io: Io): Promise<number> {
  const { sources, cwd } = await serversHere();
  const { servers, problems } = await sources.written(cwd);
  if (options.json === true) await io.stdout.write(`${JSON.stringify(servers.map(jsonOf))}\n`);
  else if (servers.length === 0) await io.stdout.write("No MCP servers. Add one: tinman mcp add <name> -- <command>\n");
  else
    await io.stdout.write(
      table(servers.map((server) => [server.name, server.file, stateWords[stateOf(server)], reachText(server.entry)])),
    );
  for (const problem of problems) await io.stderr.write(`tinman: ${printable(problem)}\n`);
  return exitCodes.success;
}

const stateWords = {
  enabled: "enabled",
  disabled: "disabled",
  untrusted: "not trusted",
  changed: "changed since it was trusted",
} as const;

export function stateOf({ entry, offer }: WrittenServer): keyof typeof stateWords {
  if (entry.isDisabled === true) return "disabled";
  if (offer === undefined || offer.trust === "trusted") return "enabled";
  return offer.trust === "changed" ? "changed" : "untrusted";
}

function jsonOf(server: WrittenServer): object {
  const { name, file, entry, disabledTools = [], offer } = server;
  const reach = entry.kind === "stdio" ? { command: entry.command, args: entry.args } : { url: entry.url };
  return {
    name,
    file,
    ...(offer === undefined ? {} : { folder: offer.folder }),
    type: entry.kind,
    ...reach,
    state: stateOf(server),
    disabledTools,
  };
}
