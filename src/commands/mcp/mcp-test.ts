import { compose } from "../../compose.ts";
import { printable } from "../../config/check/visible.ts";
import { AgentError } from "../../engine/errors.ts";
import type { ServerToolInfo, ToolServers } from "../../engine/servers/tool-servers.ts";
import { exitCodes } from "../../frontends/exit-codes.ts";
import { type Io, onStop } from "../../frontends/front-end.ts";
import type { WrittenServer } from "../../mcp/entries/sourced-server.ts";
import { textStart } from "../../text/text-cut.ts";
import { table } from "../models/models.ts";
import { statusText } from "./server-words.ts";
import { serversHere } from "./servers-here.ts";
import { usableServer } from "./usable-server.ts";

const mostShown = 100;

/** Starts or reaches servers (all that can be used, or one), looks at them, and ends them. A signal ends the wait. */
export async function withServers<T>(
  io: Io,
  only: string | undefined,
  look: (servers: ToolServers) => Promise<T> | T,
): Promise<T> {
  const servers = (await compose()).openServers(only);
  const stopping = new AbortController();
  const stopListening = onStop(io, () => stopping.abort());
  try {
    await servers.settled(stopping.signal);
    if (stopping.signal.aborted) throw new AgentError("interrupted", "Stopped before the servers were connected.");
    return await look(servers);
  } finally {
    stopListening();
    await servers.close();
  }
}

/** `tinman mcp test`: connects to one server, and prints its tools with their classes. */
export async function testServer(name: string, options: { readonly json?: boolean }, io: Io): Promise<number> {
  const server = await usableServer(name, await serversHere());
  return withServers(io, name, async (opened) => {
    const found = opened.states().find((each) => each.name === name);
    const tools = opened.inventory().map((tool) => ({ ...tool, class: classOf(tool, server) }));
    if (options.json === true) {
      const shown = tools.map(({ name: tool, class: own, description, isEnabled }) => ({
        name: tool,
        class: own,
        isEnabled,
        description: description ?? "",
      }));
      await io.stdout.write(`${JSON.stringify({ ...found, tools: shown })}\n`);
    } else {
      const rows = tools.map(({ name: tool, class: own, description, isEnabled }) => [
        own,
        tool,
        isEnabled ? firstWords(description) : "(disabled)",
      ]);
      await io.stdout.write(`${name}: ${printable(statusText(found))}\n${table(rows)}`);
    }
    return found?.status === "connected" ? exitCodes.success : exitCodes.failed;
  });
}

/** The class of a tool's calls, as sessions decide it. */
function classOf({ name, isReadOnly }: ServerToolInfo, { entry }: WrittenServer): string {
  const { tools = {} } = entry;
  return (Object.hasOwn(tools, name) ? tools[name] : undefined) ?? (isReadOnly === true ? "low" : "high");
}

function firstWords(description = ""): string {
  const [line = ""] = description.trim().split("\n", 1);
  return line.length > mostShown ? `${textStart(line, mostShown)}…` : line;
}
