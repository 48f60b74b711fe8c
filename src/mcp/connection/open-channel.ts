import type { Contained } from "../../engine/containment.ts";
import type { ServerEntry } from "../../engine/servers/server-entry.ts";
import type { StartServerProgram } from "../../engine/servers/server-program.ts";
import type { ServersOfSession } from "../../engine/servers/tool-servers.ts";
import { errorMessage } from "../../text/values.ts";
import { ServerProblem, shownLine, withStop } from "../server-problem.ts";
import type { ServerSignIn } from "../sign-in/sign-ins.ts";
import { type HttpEntry, openHttpChannel, refusalProblem } from "./http-channel.ts";
import { type Channel, type ClientLibrary, type Link, type LinkHandlers, openLink } from "./link.ts";
import { openStdioChannel } from "./stdio-channel.ts";
import type { Target } from "./target.ts";

export interface OpenerParts {
  readonly session: ServersOfSession;
  readonly startProgram: StartServerProgram;
  contain(sessionId: string, cwd: string): Promise<Contained>;
  fetch(): Promise<typeof globalThis.fetch>;
}

/** Loaded once, after the first program has started, because it takes a while. */
let library: Promise<ClientLibrary> | undefined;

type StdioEntry = ServerEntry & { readonly kind: "stdio" };

/** Connects to servers of any kind. */
export function createOpener(parts: OpenerParts) {
  return async ({ entry, signIn }: Target, handlers: LinkHandlers, signal: AbortSignal): Promise<Link> => {
    if (entry.kind !== "stdio") return openHttp(entry, signIn, parts, handlers, signal);
    const opening = openStdio(entry, parts);
    const loading = load();
    const channel = await opening;
    return openLink(await loading, channel, handlers, signal);
  };
}

function load(): Promise<ClientLibrary> {
  library ??= import("@modelcontextprotocol/client");
  return library;
}

/** Servers of before 2025 answer the first message with 404 or 405, and want to be reached in the older way. */
async function openHttp(
  entry: HttpEntry,
  signIn: ServerSignIn | undefined,
  parts: OpenerParts,
  handlers: LinkHandlers,
  signal: AbortSignal,
): Promise<Link> {
  const [loaded, fetch] = await Promise.all([load(), parts.fetch()]);
  const open = async (kind: "http" | "sse"): Promise<Link> => {
    const signing = signIn === undefined ? {} : { signIn };
    const channel = openHttpChannel({ ...entry, kind }, { library: loaded, fetch, ...signing });
    try {
      return await openLink(loaded, channel, handlers, signal);
    } catch (error) {
      const status = channel.refusal();
      const isKnown = error instanceof ServerProblem && error.needsSignIn;
      throw status === undefined || signal.aborted || isKnown ? error : new Refused(status);
    }
  };
  try {
    return await open(entry.kind);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const isOld = entry.kind === "http" && (error.status === 404 || error.status === 405);
    const again = isOld ? await open("sse").catch(() => undefined) : undefined;
    if (again !== undefined) return again;
    throw refusalProblem(error.status);
  }
}

class Refused extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`HTTP ${status}`);
    this.status = status;
  }
}

async function openStdio(entry: StdioEntry, parts: OpenerParts): Promise<Channel> {
  const { session, startProgram: start } = parts;
  if (entry.contained !== true) return openStdioChannel(entry, { start, cwd: session.cwd });
  let contained: Contained;
  try {
    contained = await parts.contain(session.sessionId, session.cwd);
  } catch (error) {
    throw new ServerProblem(withStop(shownLine(errorMessage(error))), { isLasting: true });
  }
  return openStdioChannel(entry, { start, cwd: session.cwd, contained });
}
