import type { Contained } from "../../engine/containment.ts";
import type { ServerEntry } from "../../engine/servers/server-entry.ts";
import type { StartServerProgram } from "../../engine/servers/server-program.ts";
import type { ServersOfSession } from "../../engine/servers/tool-servers.ts";
import { errorMessage } from "../../text/values.ts";
import { ServerProblem, shownLine, withStop } from "../server-problem.ts";
import { type Channel, type ClientLibrary, type Link, type LinkHandlers, openLink } from "./link.ts";
import { openStdioChannel } from "./stdio-channel.ts";

export interface OpenerParts {
  readonly session: ServersOfSession;
  readonly startProgram: StartServerProgram;
  contain(sessionId: string, cwd: string): Promise<Contained>;
  fetch(): Promise<typeof globalThis.fetch>;
}

/** Loaded once, after the first program has started, because it takes a while. */
let library: Promise<ClientLibrary> | undefined;

export function createOpener(parts: OpenerParts) {
  return async (entry: ServerEntry, handlers: LinkHandlers, signal: AbortSignal): Promise<Link> => {
    const opening = openChannel(entry, parts);
    library ??= import("@modelcontextprotocol/client");
    const [channel, loaded] = await Promise.all([opening, library]);
    return openLink(loaded, channel, handlers, signal);
  };
}

async function openChannel(entry: ServerEntry, parts: OpenerParts): Promise<Channel> {
  const { session, startProgram: start } = parts;
  if (entry.kind !== "stdio") throw new ServerProblem("Not supported.", { isLasting: true });
  if (entry.contained !== true) return openStdioChannel(entry, { start, cwd: session.cwd });
  let contained: Contained;
  try {
    contained = await parts.contain(session.sessionId, session.cwd);
  } catch (error) {
    throw new ServerProblem(withStop(shownLine(errorMessage(error))), { isLasting: true });
  }
  return openStdioChannel(entry, { start, cwd: session.cwd, contained });
}
