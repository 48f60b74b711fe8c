import type { ToolSource } from "../calls/tool-source.ts";
import type { EngineParts } from "../engine-parts.ts";
import type { SessionState } from "../log/history.ts";
import type { Interactions } from "../session/interactions.ts";
import type { RunOptions } from "../settings.ts";
import { Approvals } from "./approvals.ts";
import type { ServerEventBody, ServerState } from "./server-state.ts";
import type { ToolServers } from "./tool-servers.ts";

interface Around {
  readonly state: SessionState;
  readonly run: RunOptions;
  readonly interactions: Interactions;
  tell(event: ServerEventBody): void;
}

/** A session's servers. They are opened when the session begins to be used: reading an old one starts nothing. */
export class SessionServers {
  readonly approvals = new Approvals();
  private readonly parts: EngineParts;
  private readonly around: Around;
  private current: ToolServers | undefined;
  private isClosed = false;

  constructor(parts: EngineParts, around: Around) {
    this.parts = parts;
    this.around = around;
  }

  /** The servers, if the session uses any and has begun. */
  get opened(): ToolServers | undefined {
    return this.current;
  }

  /** All servers, with those that cannot be used. Empty before the session has begun. */
  states(): readonly ServerState[] {
    return [...(this.current?.states() ?? []), ...this.unusable()];
  }

  /** Idempotent. A client that runs all tools has its own servers. */
  open(): ToolServers | undefined {
    const { state, run, interactions, tell } = this.around;
    if (this.isClosed || state.settings.clientRunsTools === true) return this.current;
    this.current ??= this.parts.servers?.({
      sessionId: state.id,
      cwd: state.cwd,
      given: run.servers ?? [],
      ...(run.signInCallback === undefined ? {} : { callbackUri: run.signInCallback }),
      tell: (event) =>
        tell(event.type === "servers.changed" ? { ...event, servers: [...event.servers, ...this.unusable()] } : event),
      canAsk: () => interactions.canAsk("question"),
      ask: (interaction, signal) => interactions.ask(interaction, signal),
    });
    return this.current;
  }

  /** All tools of the session: built-in ones first, because their places in requests must not move. */
  tools(): ToolSource {
    const { tools: own } = this.parts;
    const current = (): ToolServers | undefined => this.current;
    return {
      get version() {
        const servers = current();
        return own.version + (servers === undefined ? 0 : servers.version + 1);
      },
      list: () => {
        const servers = current();
        return servers === undefined ? own.list() : [...own.list(), ...servers.list()];
      },
    };
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.current?.close();
  }

  private unusable(): readonly ServerState[] {
    const { servers = [], unusableServers = [] } = this.around.run;
    const lost = this.parts.servers === undefined ? servers : [];
    return [
      ...lost.map(({ name, entry }) => failed(name, entry.kind, "MCP servers cannot be used here.")),
      ...unusableServers.map(({ name, kind, problem }) => failed(name, kind, problem)),
    ];
  }
}

function failed(name: string, kind: ServerState["kind"], error: string): ServerState {
  return { name, status: "failed", source: "client", kind, error };
}
