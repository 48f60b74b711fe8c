import { onAbort } from "../async/on-abort.ts";
import type { Contained } from "../engine/containment.ts";
import { AgentError } from "../engine/errors.ts";
import type { Clock } from "../engine/ports.ts";
import { type NamedServer, serverNameFault } from "../engine/servers/server-entry.ts";
import type { StartServerProgram } from "../engine/servers/server-program.ts";
import type { ServerState } from "../engine/servers/server-state.ts";
import type { OpenServers, ServersOfSession, ToolServers } from "../engine/servers/tool-servers.ts";
import { errorMessage } from "../text/values.ts";
import type { Connection, ConnectionLimits } from "./connection/connection.ts";
import type { ServerSources } from "./entries/sources.ts";
import type { ServerSet } from "./server-set.ts";
import type { SignIns } from "./sign-in/sign-ins.ts";
import type { CheckImage } from "./tools/results.ts";

export interface OpenServersOptions {
  readonly clock: Clock;
  readonly sources: ServerSources;
  readonly startProgram: StartServerProgram;
  /** The walls around a server that runs in the sandbox. Rejects with a sentence if that is impossible. */
  contain(sessionId: string, cwd: string): Promise<Contained>;
  /** Nothing of the session runs in the sandbox any more. */
  release(sessionId: string): Promise<void>;
  /** For servers that are reached over HTTP. */
  fetch(): Promise<typeof globalThis.fetch>;
  /** The sign-ins of this process. */
  signIns(): Promise<SignIns>;
  readonly checkImage: CheckImage;
  readonly limits?: Partial<ConnectionLimits>;
}

const defaultLimits: ConnectionLimits = { waitMs: 10_000, connectMs: 30_000, callSilenceMs: 600_000 };

/** Opens the servers of sessions. Without servers, nothing is loaded but this file. */
export function createOpenServers(options: OpenServersOptions): OpenServers {
  return (session) => new SessionToolServers(session, options);
}

class SessionToolServers implements ToolServers {
  private readonly session: ServersOfSession;
  private readonly options: OpenServersOptions;
  /** The client's servers, with what the user switched off in this session. */
  private given: readonly NamedServer[];
  private readonly switchedOff = new Map<string, readonly string[]>();
  private opened: ServerSet | undefined;
  private beginning: Promise<void>;
  private isClosed = false;
  private isContained = false;
  private readonly toldProblems = new Set<string>();

  constructor(session: ServersOfSession, options: OpenServersOptions) {
    this.session = session;
    this.options = options;
    this.given = session.given.filter(({ name }) => {
      const fault = serverNameFault(name);
      if (fault !== undefined) this.warn(`A server of the client was left out, because its name ${fault}.`);
      return fault === undefined;
    });
    this.beginning = this.refresh();
  }

  get version(): number {
    return this.opened?.version ?? 0;
  }

  list: ToolServers["list"] = () => this.opened?.list() ?? [];

  states(): readonly ServerState[] {
    return this.opened?.states() ?? this.given.map(firstState);
  }

  inventory: ToolServers["inventory"] = () => this.opened?.inventory() ?? [];

  prompts: ToolServers["prompts"] = () => this.opened?.prompts() ?? [];

  promptsKnown: ToolServers["promptsKnown"] = async () => this.opened?.promptsKnown();

  promptText: ToolServers["promptText"] = async (server, name, values) => {
    await this.beginning;
    if (this.opened === undefined) throw new AgentError("usage", `Unknown server ${server}.`);
    return this.opened.promptText(server, name, values);
  };

  settled: ToolServers["settled"] = async (signal) => {
    let stop = (): void => undefined;
    const aborted = new Promise<void>((resolve) => {
      stop = onAbort(signal, resolve);
      if (signal.aborted) resolve();
    });
    await Promise.race([this.beginning, aborted]);
    stop();
    await this.opened?.settled(signal);
  };

  add: ToolServers["add"] = async (server) => {
    // Clients name their servers at each start.
    await this.options.sources.add(server, { replaces: true });
    await this.again();
  };

  remove: ToolServers["remove"] = async (name) => {
    const isRemoved = await this.options.sources.remove(name);
    if (isRemoved) await this.again();
    return isRemoved;
  };

  setEnabled: ToolServers["setEnabled"] = async (name, isEnabled) => {
    if (this.isGiven(name)) {
      this.given = this.given.map((server) =>
        server.name === name ? { name, entry: { ...server.entry, isDisabled: !isEnabled } } : server,
      );
    } else if (!(await this.options.sources.setEnabled(name, isEnabled, this.session.cwd))) return false;
    await this.again();
    if (isEnabled) this.opened?.find(name)?.start();
    return true;
  };

  setToolEnabled: ToolServers["setToolEnabled"] = async (server, tool, isEnabled) => {
    await this.beginning;
    const known = this.opened?.find(server);
    if (known === undefined || !known.inventory.some(({ name }) => name === tool)) return false;
    if (this.isGiven(server)) {
      const others = (this.switchedOff.get(server) ?? []).filter((name) => name !== tool);
      this.switchedOff.set(server, isEnabled ? others : [...others, tool]);
    } else if (!(await this.options.sources.setToolEnabled(server, tool, isEnabled, this.session.cwd))) return false;
    await this.again();
    return true;
  };

  signIn: ToolServers["signIn"] = async (name) => {
    const server = await this.known(name);
    return server && (server.ownSignIn?.begin() ?? "failed");
  };

  finishSignIn: ToolServers["finishSignIn"] = async (name, state, answer) =>
    (await this.known(name))?.ownSignIn?.finish(state, answer) ?? false;

  cancelSignIn: ToolServers["cancelSignIn"] = async (name) => {
    const server = await this.known(name);
    await server?.ownSignIn?.cancel();
    return server !== undefined;
  };

  forgetTokens: ToolServers["forgetTokens"] = async (name) => {
    const server = await this.known(name);
    await server?.forgetTokens();
    return server !== undefined;
  };

  close: ToolServers["close"] = async () => {
    this.isClosed = true;
    await this.opened?.close();
    await this.beginning;
    await this.opened?.close();
    if (this.isContained) await this.options.release(this.session.sessionId);
  };

  private async known(name: string): Promise<Connection | undefined> {
    await this.beginning;
    return this.opened?.find(name);
  }

  private isGiven(name: string): boolean {
    return this.given.some((server) => server.name === name);
  }

  /** After a change of the configuration. */
  private async again(): Promise<void> {
    this.beginning = this.beginning.then(() => this.refresh());
    await this.beginning;
  }

  private async refresh(): Promise<void> {
    try {
      const { servers: configured, problems } = await this.options.sources.list(this.session.cwd);
      for (const problem of problems) this.warn(problem);
      if (this.isClosed || (configured.length + this.given.length === 0 && this.opened === undefined)) return;
      const { ServerSet, combined } = await import("./server-set.ts");
      const { servers, replaced } = combined(this.given, configured, this.switchedOff);
      for (const name of replaced) this.warn(`The client's server ${name} replaces yours in this session.`);
      this.opened ??= new ServerSet(this.session, await this.parts());
      if (!this.isClosed) await this.opened.use(servers);
    } catch (error) {
      this.warn(`The MCP servers cannot be used: ${errorMessage(error)}`);
    }
  }

  private async parts(): Promise<ConstructorParameters<typeof ServerSet>[1]> {
    const { clock, checkImage, limits } = this.options;
    const [{ createOpener }, signIns] = await Promise.all([
      import("./connection/open-channel.ts"),
      this.options.signIns(),
    ]);
    return {
      clock,
      checkImage,
      limits: { ...defaultLimits, ...limits },
      signInTo: (name, entry) => {
        if (entry.kind === "stdio" || entry.oauth === false) return undefined;
        return signIns.forServer(name, entry.url, entry.oauth, this.session.callbackUri);
      },
      open: createOpener({
        ...this.options,
        session: this.session,
        contain: (sessionId, cwd) => {
          this.isContained = true;
          return this.options.contain(sessionId, cwd);
        },
      }),
    };
  }

  /** Each warning once. */
  private warn(text: string): void {
    if (this.toldProblems.has(text)) return;
    this.toldProblems.add(text);
    this.session.tell({ type: "notice", level: "warning", text });
  }
}

function firstState({ name, entry }: NamedServer): ServerState {
  return { name, status: entry.isDisabled === true ? "disabled" : "connecting", source: "client", kind: entry.kind };
}
