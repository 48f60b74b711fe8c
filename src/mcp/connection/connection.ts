import { createPace } from "../../async/pace.ts";
import type { AccessClass } from "../../engine/permission.ts";
import type { Clock } from "../../engine/ports.ts";
import type { ServerEntry } from "../../engine/servers/server-entry.ts";
import type { ServerEventBody, ServerState, ServerStatus } from "../../engine/servers/server-state.ts";
import type { ServerPrompt } from "../../engine/servers/tool-servers.ts";
import { failed, type ToolContext, type ToolOutput } from "../../engine/tool.ts";
import type { Fields } from "../../text/values.ts";
import type { SourcedServer } from "../entries/sourced-server.ts";
import { listPrompts } from "../prompts.ts";
import { problemOf, ServerProblem, withStop } from "../server-problem.ts";
import type { ServerSignIn } from "../sign-in/sign-ins.ts";
import type { ToolOwner } from "../tools/called-tool.ts";
import { callTool, faultOf } from "../tools/calls.ts";
import { listTools, markOf, type ToolDefinition } from "../tools/definitions.ts";
import type { CheckImage } from "../tools/results.ts";
import type { Link, LinkHandlers } from "./link.ts";
import { SessionSignIn } from "./session-sign-in.ts";
import type { Target } from "./target.ts";

export interface ConnectionLimits {
  /** How long a turn waits for a server that is connecting. */
  readonly waitMs: number;
  /** How long connecting can take. */
  readonly connectMs: number;
  /** A call without progress for this long has failed. */
  readonly callSilenceMs: number;
}

export interface ConnectionParts {
  readonly clock: Clock;
  readonly limits: ConnectionLimits;
  readonly checkImage: CheckImage;
  /** Rejects with a `ServerProblem` or an error of the server, soon after an abort. */
  open(target: Target, handlers: LinkHandlers, signal: AbortSignal): Promise<Link>;
  /** Of a server that the user can sign in to. */
  signInTo(name: string, entry: ServerEntry): ServerSignIn | undefined;
  /** A client is attached that can ask the user. */
  canAsk(): boolean;
  tell(event: ServerEventBody): void;
  readonly root: LinkHandlers["root"];
  /** The server asks the user something during these calls. */
  elicit(server: string, calls: readonly ToolContext[], params: Fields, signal: AbortSignal): Promise<Fields>;
  /** The state, or the tools, may have changed. Never throws. */
  changed(connection: Connection): void;
  notice(text: string): void;
}

/** After the first, second, … failure in a row. */
const restartMs = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000] as const;
const mostFailures = 5;
/** A connection that held this long makes earlier failures count no more. */
const stableMs = 60_000;
/** Collects changes of lists, and limits how often a server can make us list again. */
const refreshMs = 250;

/** One server of a session: connects, restarts with back-off, and runs calls. Nothing here throws or rejects. */
export class Connection implements ToolOwner {
  readonly name: string;
  readonly server: SourcedServer;
  readonly mark: string;
  private readonly parts: ConnectionParts;
  private status: ServerStatus = "disabled";
  private problem: ServerProblem | undefined;
  private link: Link | undefined;
  private attempt: { readonly abort: AbortController; readonly done: Promise<void> } | undefined;
  private definitions: ReadonlyMap<string, ToolDefinition> = new Map();
  private prompts: readonly ServerPrompt[] = [];
  /** Resolves when they are, or it has failed to list them. */
  promptsKnown: Promise<void> = Promise.resolve();
  private failures = 0;
  private stopTimer: () => void = () => undefined;
  private isRefreshing = false;
  private isClosed = false;
  private readonly running = new Set<ToolContext>();
  private disabledTools: ReadonlySet<string>;
  /** The first turn has waited long enough. */
  private isOverdue = false;
  private readonly signIn: ServerSignIn | undefined;
  /** Of a server that the user can sign in to. */
  readonly ownSignIn: SessionSignIn | undefined;

  constructor(server: SourcedServer, parts: ConnectionParts) {
    const { name, entry, disabledTools = [] } = server;
    this.server = server;
    this.name = name;
    this.parts = parts;
    this.mark = markOf(name, entry);
    this.disabledTools = new Set(disabledTools);
    const signIn = server.isUntrusted === true ? undefined : parts.signInTo(name, entry);
    this.signIn = signIn;
    const changed = (): void => parts.changed(this);
    const connect = (): void => this.start();
    this.ownSignIn = signIn && new SessionSignIn({ ...parts, server: name, signIn, changed, connect });
  }

  get state(): ServerState {
    const { name, status, problem, server } = this;
    const { kind } = server.entry;
    const error = problem?.message ?? (server.isUntrusted === true ? untrusted(name) : undefined);
    return {
      name,
      status,
      source: server.source,
      kind,
      ...(error === undefined ? {} : { error }),
      ...(status === "connected" ? { toolCount: this.tools.length } : {}),
      ...(this.offeredPrompts.length > 0 ? { promptCount: this.offeredPrompts.length } : {}),
      ...(problem?.needsSignIn === true ? { needsSignIn: true } : {}),
      ...this.ownSignIn?.state,
    };
  }

  /** All tools, also those that are switched off. They stay while the server is restarted. */
  get inventory(): readonly ToolDefinition[] {
    return this.status === "disabled" ? [] : [...this.definitions.values()];
  }

  get tools(): readonly ToolDefinition[] {
    return this.inventory.filter(({ name }) => this.isEnabled(name));
  }

  get offeredPrompts(): readonly ServerPrompt[] {
    return this.link === undefined ? [] : this.prompts;
  }

  get hasResources(): boolean {
    return this.link?.capabilities.resources !== undefined;
  }

  /** A turn should wait for it. */
  get isAwaited(): boolean {
    return this.status === "connecting" && !this.isOverdue;
  }

  isEnabled(tool: string): boolean {
    return !this.disabledTools.has(tool);
  }

  setDisabledTools(tools: readonly string[]): void {
    this.disabledTools = new Set(tools);
    this.parts.changed(this);
  }

  /** Connects, unless it has begun already. */
  start(): void {
    if (this.isClosed || this.attempt !== undefined || this.link !== undefined) return;
    this.failures = 0;
    this.connect();
  }

  /** Ends the connection until `start`. */
  async disable(): Promise<void> {
    this.definitions = new Map();
    this.set("disabled", undefined);
    await this.end();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.ownSignIn?.close();
    await this.end();
  }

  /** Signs out, and connects without tokens. Rejects as the store of tokens does. */
  async forgetTokens(): Promise<void> {
    await this.ownSignIn?.forget();
    if (this.status === "disabled") return;
    await this.end();
    this.start();
  }

  /** An open connection, for a use by the session. Connects if necessary. Rejects with a `ServerProblem`. */
  async use(signal: AbortSignal): Promise<Link> {
    if (this.link === undefined && this.status !== "disabled") {
      this.start();
      const waited = new AbortController();
      const stopWaiting = this.parts.clock.after(this.parts.limits.waitMs, () => waited.abort());
      await untilAborted(AbortSignal.any([signal, waited.signal]), this.attempt?.done);
      stopWaiting();
    }
    if (this.link !== undefined) return this.link;
    const why = this.status === "connecting" ? "It is still connecting." : (this.problem?.message ?? "It is disabled.");
    throw new ServerProblem(why);
  }

  async call(tool: string, input: Fields, context: ToolContext): Promise<ToolOutput> {
    this.running.add(context);
    try {
      const link = await this.use(context.signal);
      // It may have changed while we connected.
      if (!this.definitions.has(tool)) return failed(`The server ${this.name} has no tool of this name any more.`);
      const { clock, limits, checkImage } = this.parts;
      const parts = { clock, silenceMs: limits.callSilenceMs, checkImage };
      return await callTool(link, this.name, [tool, input], context, parts);
    } catch (error) {
      if (context.signal.aborted) return { text: "Error: Tool execution cancelled by user", status: "interrupted" };
      return failed(faultOf(this.name, error));
    } finally {
      this.running.delete(context);
    }
  }

  classOf(tool: string): AccessClass | undefined {
    const { tools } = this.server.entry;
    return tools !== undefined && Object.hasOwn(tools, tool) ? tools[tool] : undefined;
  }

  markOf(tool: string): string | undefined {
    return this.isEnabled(tool) && this.status !== "disabled" ? this.definitions.get(tool)?.mark : undefined;
  }

  private connect(): void {
    this.stopTimer();
    this.stopTimer = () => undefined;
    const abort = new AbortController();
    this.isOverdue = false;
    const done = this.connectOnce(abort).finally(() => {
      if (this.attempt?.abort === abort) this.attempt = undefined;
      this.parts.changed(this);
    });
    this.attempt = { abort, done };
    this.set("connecting", undefined);
  }

  private async connectOnce(abort: AbortController): Promise<void> {
    const { clock, limits } = this.parts;
    const { signal } = abort;
    const tooSlow = new ServerProblem(`The server did not answer within ${Math.round(limits.connectMs / 1000)} s.`);
    const stopWaiting = clock.after(limits.waitMs, () => {
      this.isOverdue = true;
      this.parts.changed(this);
    });
    const stopLimit = clock.after(limits.connectMs, () => abort.abort(tooSlow));
    try {
      // Nothing of this connection happens before the caller knows about it.
      await Promise.resolve();
      const { entry } = this.server;
      const target = { entry, ...(this.signIn === undefined ? {} : { signIn: this.signIn }) };
      const link = await this.parts.open(target, this.handlers(), signal);
      try {
        await this.readTools(link, signal);
        if (signal.aborted) throw signal.reason;
      } catch (error) {
        await link.close();
        throw error;
      }
      this.connected(link);
    } catch (error) {
      if (!signal.aborted) this.failed("failed", problemOf(error));
      else if (signal.reason === tooSlow) this.failed("failed", tooSlow);
    } finally {
      stopWaiting();
      stopLimit();
    }
  }

  private connected(link: Link): void {
    this.link = link;
    this.stopTimer = this.parts.clock.after(stableMs, () => this.forgetFailures(), { background: true });
    const lost = (problem: ServerProblem): void => {
      if (this.link !== link) return;
      this.link = undefined;
      link.close().catch(ignore);
      this.failed("disconnected", problem);
    };
    link.lost.then(lost).catch(ignore);
    this.set("connected", undefined);
    this.promptsKnown = this.readPrompts(link)
      .then(() => this.parts.changed(this))
      .catch(ignore);
  }

  private forgetFailures(): void {
    this.failures = 0;
  }

  private failed(status: "failed" | "disconnected", problem: ServerProblem): void {
    this.stopTimer();
    if (this.isClosed || this.status === "disabled") return;
    this.failures += 1;
    const isLast = this.failures >= mostFailures;
    if (problem.isLasting || problem.needsSignIn || isLast) {
      const times = isLast ? ` It failed ${this.failures} times in a row.` : "";
      const { needsSignIn } = problem;
      this.set("failed", new ServerProblem(withStop(problem.message) + times, { needsSignIn }));
      if (needsSignIn) this.ownSignIn?.needed();
      return;
    }
    const delay = restartMs[this.failures - 1] ?? restartMs[restartMs.length - 1] ?? 0;
    this.stopTimer = this.parts.clock.after(delay, () => this.connect(), { background: true });
    this.set(status, problem);
  }

  private async end(): Promise<void> {
    this.stopTimer();
    const { attempt, link } = this;
    this.link = undefined;
    this.attempt = undefined;
    attempt?.abort.abort(new ServerProblem("The server was stopped."));
    await Promise.all([attempt?.done, link?.close()]);
  }

  private set(status: ServerStatus, problem: ServerProblem | undefined): void {
    this.status = status;
    this.problem = problem;
    this.parts.changed(this);
  }

  private handlers(): LinkHandlers {
    return {
      root: this.parts.root,
      listChanged: (kind) => {
        if (kind !== "resources") this.refresh();
      },
      elicit: (params, signal) => this.parts.elicit(this.name, [...this.running], params, signal),
    };
  }

  /** Reads the lists again a little later, and then not for as long. */
  private refresh(): void {
    if (this.isRefreshing) return;
    this.isRefreshing = true;
    const again = async (): Promise<void> => {
      const { link } = this;
      // A change that comes from now on asks for another one.
      this.isRefreshing = false;
      if (link === undefined) return;
      await Promise.all([
        // A list that cannot be read leaves the last one.
        this.limited((signal) => this.readTools(link, signal, () => this.link === link)).catch(() => undefined),
        this.readPrompts(link),
      ]);
      this.parts.changed(this);
    };
    this.parts.clock.after(refreshMs, () => again().catch(ignore), { background: true });
  }

  private async readTools(link: Link, signal: AbortSignal, isStill = () => true): Promise<void> {
    const pace = createPace();
    const { tools, leftOut } = await listTools(link, this.mark, signal, () => pace.rest());
    if (!isStill() || signal.aborted) return;
    this.definitions = new Map(tools.map((tool) => [tool.name, tool]));
    if (leftOut === 0) return;
    const words = "the others are malformed or too many.";
    this.parts.notice(`Only ${tools.length} tools of the server ${this.name} are offered: ${words}`);
  }

  private async readPrompts(link: Link): Promise<void> {
    const prompts = await this.limited((signal) => listPrompts(link, this.name, signal));
    if (this.link === link) this.prompts = prompts;
  }

  private async limited<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const limit = new AbortController();
    const stop = this.parts.clock.after(this.parts.limits.connectMs, () => limit.abort(), { background: true });
    try {
      return await work(limit.signal);
    } finally {
      stop();
    }
  }
}

function ignore(): void {}

function untrusted(name: string): string {
  return `The repository offers it, and you have not trusted it. To use it, run: tinman mcp trust ${name}`;
}

async function untilAborted(signal: AbortSignal, work: Promise<void> | undefined): Promise<void> {
  if (signal.aborted) return;
  let stop = (): void => undefined;
  const aborted = new Promise<void>((resolve) => {
    stop = resolve;
    signal.addEventListener("abort", stop, { once: true });
  });
  await Promise.race([work, aborted]);
  signal.removeEventListener("abort", stop);
}
