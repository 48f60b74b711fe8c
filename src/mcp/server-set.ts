import { pathToFileURL } from "node:url";
import { AgentError } from "../engine/errors.ts";
import type { Clock } from "../engine/ports.ts";
import type { NamedServer, ServerEntry } from "../engine/servers/server-entry.ts";
import type { ServerState } from "../engine/servers/server-state.ts";
import type { ServerPrompt, ServersOfSession, ServerToolInfo } from "../engine/servers/tool-servers.ts";
import type { Tool } from "../engine/tool.ts";
import { Connection, type ConnectionLimits, type ConnectionParts } from "./connection/connection.ts";
import type { Link, LinkHandlers } from "./connection/link.ts";
import type { Target } from "./connection/target.ts";
import { elicit } from "./elicitation.ts";
import type { SourcedServer } from "./entries/sourced-server.ts";
import { promptText } from "./prompts.ts";
import { resourceTool } from "./resources.ts";
import { problemOf } from "./server-problem.ts";
import type { ServerSignIn } from "./sign-in/sign-ins.ts";
import type { CheckImage } from "./tools/results.ts";
import { serverTool } from "./tools/server-tool.ts";
import { ToolNames } from "./tools/tool-names.ts";

export interface ServerSetParts {
  readonly clock: Clock;
  readonly limits: ConnectionLimits;
  readonly checkImage: CheckImage;
  open(target: Target, handlers: LinkHandlers, signal: AbortSignal): Promise<Link>;
  signInTo(name: string, entry: ServerEntry): ServerSignIn | undefined;
}

/** How many questions of one server wait for the user. */
const mostQuestions = 4;

/** The connected servers of one session, and their tools. */
export class ServerSet {
  private readonly session: ServersOfSession;
  private readonly parts: ServerSetParts;
  private connections: readonly Connection[] = [];
  private readonly names = new ToolNames();
  private readonly known = new Map<string, { readonly key: string; readonly tool: Tool }>();
  private tools: readonly Tool[] = [];
  private told = "[]";
  private changes = 0;
  private readonly waiting = new Set<() => void>();
  private readonly questions = new Map<string, number>();
  private isClosed = false;
  private isChanging = false;

  constructor(session: ServersOfSession, parts: ServerSetParts) {
    this.session = session;
    this.parts = parts;
  }

  /** Grows whenever `list` would return other tools. */
  get version(): number {
    return this.changes;
  }

  list(): readonly Tool[] {
    return this.tools;
  }

  states(): readonly ServerState[] {
    return this.connections.map(({ state }) => state);
  }

  inventory(): readonly ServerToolInfo[] {
    return this.connections.flatMap((connection) =>
      connection.inventory.map(({ name, description, isReadOnly, inputSchema }) => ({
        server: connection.name,
        name,
        ...(description === "" ? {} : { description }),
        isEnabled: connection.isEnabled(name),
        isReadOnly,
        inputSchema: JSON.parse(inputSchema) as unknown,
      })),
    );
  }

  prompts(): readonly ServerPrompt[] {
    return this.connections.flatMap(({ offeredPrompts }) => offeredPrompts);
  }

  async promptsKnown(): Promise<void> {
    await Promise.all(this.connections.map((connection) => connection.promptsKnown));
  }

  async promptText(server: string, name: string, values: Readonly<Record<string, string>>): Promise<string> {
    const connection = this.find(server);
    const prompt = connection?.offeredPrompts.find((offered) => offered.name === name);
    if (connection === undefined || prompt === undefined) {
      throw new AgentError("usage", `The server ${server} has no prompt ${name}.`);
    }
    const missing = prompt.arguments.find((wanted) => wanted.required && !Object.hasOwn(values, wanted.name));
    if (missing !== undefined) throw new AgentError("usage", `The prompt ${name} needs the argument ${missing.name}.`);
    const limit = new AbortController();
    const stop = this.parts.clock.after(this.parts.limits.connectMs, () => limit.abort());
    try {
      return await promptText(await connection.use(limit.signal), name, values, limit.signal);
    } catch (error) {
      const why = limit.signal.aborted ? "It did not answer." : problemOf(error).message;
      throw new AgentError("server_failed", `The server ${server} could not give its prompt ${name}. ${why}`);
    } finally {
      stop();
    }
  }

  async settled(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !this.isClosed && this.connections.some(({ isAwaited }) => isAwaited)) {
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.waiting.delete(wake);
          signal.removeEventListener("abort", wake);
          resolve();
        };
        this.waiting.add(wake);
        signal.addEventListener("abort", wake, { once: true });
      });
    }
  }

  /** Uses exactly these servers from now on. Those that are unchanged stay connected. */
  async use(servers: readonly SourcedServer[]): Promise<void> {
    if (this.isClosed) return;
    const changed = servers.find((server) => {
      const known = this.find(server.name);
      return known === undefined || !isSame(known.server, server);
    });
    const old = new Map(this.connections.map((connection) => [connection.name, connection]));
    const connections = servers.map((server) => {
      const known = old.get(server.name);
      if (known === undefined || !isSame(known.server, server)) return new Connection(server, this.connectionParts());
      old.delete(server.name);
      known.setDisabledTools(server.disabledTools ?? []);
      return known;
    });
    await Promise.all(connections.map(({ ownSignIn }) => ownSignIn?.ready));
    this.connections = connections;
    const gone = [...old.values()];
    // It was closed meanwhile.
    if (this.isClosed) return this.close();
    this.isChanging = true;
    for (const connection of this.connections) {
      const { entry, isUntrusted } = connection.server;
      if (entry.isDisabled !== true && isUntrusted !== true) connection.start();
    }
    this.isChanging = false;
    this.changed(changed?.name ?? gone[0]?.name);
    await Promise.all(gone.map((connection) => connection.close()));
  }

  find(name: string): Connection | undefined {
    return this.connections.find((connection) => connection.name === name);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const wake of [...this.waiting]) wake();
    await Promise.all(this.connections.map((connection) => connection.close()));
  }

  private connectionParts(): ConnectionParts {
    const { cwd, tell } = this.session;
    const root = { uri: pathToFileURL(cwd).href, name: cwd.split("/").at(-1) || cwd };
    return {
      ...this.parts,
      root,
      open: (target, handlers, signal) => this.parts.open(target, handlers, signal),
      signInTo: (name, entry) => this.parts.signInTo(name, entry),
      canAsk: () => this.session.canAsk(),
      tell: (event) => this.session.tell(event),
      changed: (connection) => {
        if (this.connections.includes(connection)) this.changed(connection.name);
      },
      notice: (text) => tell({ type: "notice", level: "warning", text }),
      elicit: (server, calls, params, signal) => this.elicit(server, calls, params, signal),
    };
  }

  private async elicit(
    ...[server, calls, params, signal]: Parameters<ConnectionParts["elicit"]>
  ): ReturnType<ConnectionParts["elicit"]> {
    const call = calls.at(-1);
    const open = this.questions.get(server) ?? 0;
    if (call === undefined || open >= mostQuestions) return { action: "decline" };
    this.questions.set(server, open + 1);
    try {
      const either = AbortSignal.any([signal, call.signal]);
      return await elicit(server, call.callId, params, either, (interaction, until) =>
        this.session.ask(interaction, until),
      );
    } finally {
      this.questions.set(server, (this.questions.get(server) ?? 1) - 1);
    }
  }

  private changed(name: string | undefined): void {
    if (this.isClosed || this.isChanging) return;
    this.rebuild();
    if (name !== undefined) this.tell(name);
    for (const wake of [...this.waiting]) wake();
  }

  /** Only about real changes. */
  private tell(changed: string): void {
    const servers = this.states();
    const now = JSON.stringify(servers) + this.changes;
    if (now === this.told || this.isClosed) return;
    this.told = now;
    this.session.tell({ type: "servers.changed", servers, changed });
  }

  /** Unchanged tools stay the same objects. */
  private rebuild(): void {
    const tools = this.connections.flatMap((connection) =>
      connection.tools.map((definition) => {
        const name = this.names.nameOf(connection.name, definition.name);
        const key = `${connection.mark} ${definition.mark}`;
        const known = this.known.get(name);
        if (known?.key === key) return known.tool;
        const tool = serverTool(name, connection, definition);
        this.known.set(name, { key, tool });
        return tool;
      }),
    );
    const withResources = this.connections.filter(({ hasResources }) => hasResources);
    if (withResources.length > 0) tools.push(this.resources);
    const isSame = tools.length === this.tools.length && tools.every((tool, at) => tool === this.tools[at]);
    if (isSame) return;
    this.tools = tools;
    this.changes += 1;
  }

  private readonly resources: Tool = resourceTool({
    find: (name) => this.find(name),
    names: () => this.connections.filter(({ hasResources }) => hasResources).map(({ name }) => name),
    checkImage: (bytes) => this.parts.checkImage(bytes),
  });
}

function isSame(a: SourcedServer, b: SourcedServer): boolean {
  const relevant = ({ disabledTools: _, ...rest }: SourcedServer): string => JSON.stringify(rest);
  return relevant(a) === relevant(b);
}

/** All servers of a session. The client's replace the user's of the same name. */
export function combined(
  given: readonly NamedServer[],
  configured: readonly SourcedServer[],
  switchedOff: ReadonlyMap<string, readonly string[]>,
): { readonly servers: readonly SourcedServer[]; readonly replaced: readonly string[] } {
  const own = given.map(({ name, entry }): [string, SourcedServer] => [
    name,
    { name, entry, source: "client", disabledTools: switchedOff.get(name) ?? [] },
  ]);
  const clients = new Map(own);
  const others = configured.filter(({ name }) => !clients.has(name));
  const replaced = configured.filter(({ name }) => clients.has(name)).map(({ name }) => name);
  return { servers: [...others, ...clients.values()], replaced };
}
