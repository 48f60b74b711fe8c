import { existsSync } from "node:fs";
import { join } from "node:path";
import { compose } from "../../compose.ts";
import { printable } from "../../config/check/visible.ts";
import { AgentError } from "../../engine/errors.ts";
import { exitCodes } from "../../frontends/exit-codes.ts";
import type { Io } from "../../frontends/front-end.ts";
import { decodeServer } from "../../mcp/entries/decode-entry.ts";
import { managedFile } from "../../mcp/entries/managed-file.ts";
import type { GivenAdd } from "./mcp-options.ts";
import { stateOf } from "./server-words.ts";
import { type ServersHere, serversHere } from "./servers-here.ts";

/** `tinman mcp add`. `words` are the arguments after `--`. */
export async function addServer(name: string, given: GivenAdd, words: readonly string[] = [], io: Io): Promise<number> {
  const decoded = decodeServer(name, rawEntry(given, words));
  if ("fault" in decoded) throw new AgentError("usage", `This server cannot be added: ${decoded.fault}.`);
  const { home, sources } = await serversHere();
  await sources.add({ name, entry: decoded.entry });
  await io.stdout.write(`Added ${name} to ${printable(managedFile(home))}.\n`);
  return exitCodes.success;
}

function rawEntry({ url, type, header, env, contained }: GivenAdd, [command, ...args]: readonly string[]): object {
  if ((command === undefined) === (url === undefined)) {
    throw new AgentError("usage", "Give a command after --, or an address with --url.");
  }
  const ofOther =
    url === undefined ? { "--type": type, "--header": header } : { "--env": env, "--contained": contained };
  const unused = Object.entries(ofOther).find(([, value]) => value !== undefined)?.[0];
  if (unused !== undefined) {
    throw new AgentError("usage", `${unused} needs ${url === undefined ? "--url" : "a command"}.`);
  }
  return url === undefined ? { command, args, env, contained } : { type: type ?? "http", url, headers: header };
}

/** `tinman mcp remove`. */
export async function removeServer(name: string, io: Io): Promise<number> {
  const here = await serversHere();
  if (!(await here.sources.remove(name))) throw await notRemovable(name, here);
  // Another server of this name must not get them.
  if (existsSync(join(here.home, "mcp", "tokens.json"))) await (await compose()).signOut(name);
  await io.stdout.write(`Removed ${name} from ${printable(managedFile(here.home))}.\n`);
  return exitCodes.success;
}

async function notRemovable(name: string, { sources, cwd }: ServersHere): Promise<AgentError> {
  const { servers } = await sources.written(cwd);
  const server = servers.find((each) => each.name === name);
  if (server === undefined) return unknownServer(name);
  const off = `Remove it there, or use: tinman mcp disable ${name}`;
  return new AgentError("usage", `The MCP server ${name} is in ${server.file}. ${off}`);
}

function unknownServer(name: string): AgentError {
  return new AgentError("usage", `No MCP server is named ${JSON.stringify(name)}. See: tinman mcp list`);
}

/** `tinman mcp enable` and `disable`. */
export async function setServerEnabled(name: string, isEnabled: boolean, io: Io): Promise<number> {
  const { sources, cwd } = await serversHere();
  if (!(await sources.setEnabled(name, isEnabled, cwd))) throw unknownServer(name);
  await io.stdout.write(`${isEnabled ? "Enabled" : "Disabled"} ${name}.\n`);
  const server = (await sources.written(cwd)).servers.find((each) => each.name === name);
  const state = server === undefined ? undefined : stateOf(server);
  if (isEnabled && state !== "enabled")
    await io.stdout.write(`It is not trusted. Review it: tinman mcp trust ${name}\n`);
  return exitCodes.success;
}
