import { printable } from "../../config/check/visible.ts";
import type { ServerState } from "../../engine/servers/server-state.ts";
import { exitCodes } from "../../frontends/exit-codes.ts";
import type { Io } from "../../frontends/front-end.ts";
import type { WrittenServer } from "../../mcp/entries/sourced-server.ts";
import { table } from "../models/models.ts";
import { stateOf, stateWords, statusText } from "./server-words.ts";
import { reachText, serversHere } from "./servers-here.ts";

interface GivenList {
  readonly json?: boolean;
  readonly check?: boolean;
}

/** `tinman mcp list`. With `--check`, exit code 1 if a server that should be used fails. */
export async function listServers({ json, check }: GivenList, io: Io): Promise<number> {
  const { sources, cwd } = await serversHere();
  const { servers, problems } = await sources.written(cwd);
  const states = check === true && servers.length > 0 ? await found(io) : undefined;
  const stateIn = ({ name }: WrittenServer): ServerState | undefined => states?.find((state) => state.name === name);
  if (json === true) {
    const shown = servers.map((server) => ({ ...jsonOf(server), ...checkedJson(stateIn(server)) }));
    await io.stdout.write(`${JSON.stringify(shown)}\n`);
  } else if (servers.length === 0) {
    await io.stdout.write("No MCP servers. Add one: tinman mcp add <name> -- <command>\n");
  } else {
    const rows = servers.map((server) => {
      const state = stateOf(server);
      const isChecked = states !== undefined && state === "enabled";
      return [
        server.name,
        server.file,
        isChecked ? statusText(stateIn(server)) : stateWords[state],
        reachText(server.entry),
      ];
    });
    await io.stdout.write(table(rows));
  }
  for (const problem of problems) await io.stderr.write(`tinman: ${printable(problem)}\n`);
  const isFailing = servers.some((server) => stateOf(server) === "enabled" && stateIn(server)?.status !== "connected");
  return states !== undefined && isFailing ? exitCodes.failed : exitCodes.success;
}

async function found(io: Io): Promise<readonly ServerState[]> {
  const { withServers } = await import("./mcp-test.ts");
  return withServers(io, undefined, (servers) => servers.states());
}

function checkedJson(state: ServerState | undefined): object {
  if (state === undefined) return {};
  const { status, toolCount, error } = state;
  return { status, ...(toolCount === undefined ? {} : { toolCount }), ...(error === undefined ? {} : { error }) };
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
