import { AgentError } from "../../engine/errors.ts";
import type { WrittenServer } from "../../mcp/entries/sourced-server.ts";
import { stateOf } from "./server-words.ts";
import type { ServersHere } from "./servers-here.ts";

/** A server that sessions use, by name. Rejects with `usage`, and says why another one cannot be used. */
export async function usableServer(name: string, { sources, cwd }: ServersHere): Promise<WrittenServer> {
  const { servers: written, problems } = await sources.written(cwd);
  const server = written.find((each) => each.name === name);
  if (server === undefined) throw unusable(name, problems);
  const state = stateOf(server);
  if (state === "disabled") throw new AgentError("usage", `${name} is disabled. First use: tinman mcp enable ${name}`);
  if (state !== "enabled") throw new AgentError("usage", `${name} is not trusted. Review it: tinman mcp trust ${name}`);
  const { servers, problems: faults } = await sources.list(cwd);
  if (!servers.some((each) => each.name === name)) throw unusable(name, faults);
  return server;
}

function unusable(name: string, problems: readonly string[]): AgentError {
  const why = problems.find((problem) => problem.includes(` ${name} `) || problem.includes(JSON.stringify(name)));
  const known = `No MCP server is named ${JSON.stringify(name)}. See: tinman mcp list`;
  return new AgentError("usage", why ?? known);
}
