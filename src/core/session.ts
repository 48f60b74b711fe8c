import type { Abilities, Attachment } from "./attachment.ts";
import { EventQueue } from "./attachment.ts";
import { chosenModel } from "./context.ts";
import { AgentError } from "./errors.ts";
import type { DurableBody, EngineEvent, EventBody, SettingsChanges } from "./event.ts";
import { seenPlaces } from "./evidence.ts";
import type { SessionState } from "./history.ts";
import { Interactions } from "./interactions.ts";
import { Journal } from "./journal.ts";
import type { Message, PromptBlock } from "./message.ts";
import { noUsage, textOf } from "./message.ts";
import { offeredTools } from "./offered-tools.ts";
import type { CommandRules, DecisionContext, PermissionPolicy } from "./permission.ts";
import type {
  Clock,
  ContextSource,
  Host,
  Ids,
  ModelCatalog,
  ModelInfo,
  SessionLog,
  SessionStore,
  ToolSpec,
} from "./ports.ts";
import type { RunOptions, SessionSettings, TurnLimits } from "./settings.ts";
import type { Tool } from "./tool.ts";
import { runCalls } from "./tool-calls.ts";
import type { TurnOutcome } from "./turn.ts";
import { runTurn } from "./turn.ts";

/** Everything the engine stands on. Built once, by `compose`. */
export interface EngineParts {
  readonly store: SessionStore;
  readonly models: ModelCatalog;
  readonly policy: PermissionPolicy;
  readonly tools: readonly Tool[];
  readonly host: Host;
  readonly context: ContextSource;
  /** The rules on commands in a folder, and what to tell the user of them. Rejects with `config_invalid`. */
  rules(cwd: string): Promise<{ readonly rules: CommandRules; readonly notices: readonly string[] }>;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Canonical folders that decisions depend on. */
  readonly places: Pick<DecisionContext, "home" | "ownHome" | "loginHome" | "temp" | "foldsCase"> & {
    readonly outputs: (sessionId: string) => string;
  };
  /** JSON Schema of a tool's arguments. */
  toolSchema(tool: Tool): Promise<unknown>;
}

export interface PromptOptions {
  readonly messageId?: string;
  readonly limits?: TurnLimits;
}

export interface PromptHandle {
  /** Resolves when the prompt is in the log: from then on it is not lost. Rejects when it was not taken. */
  readonly accepted: Promise<{ readonly messageId: string }>;
  /** The end of the turn that took the prompt up. Rejects only when `accepted` does. */
  readonly outcome: Promise<TurnOutcome>;
}

interface QueuedPrompt {
  readonly messageId: string;
  readonly limits: TurnLimits;
  /** A prompt of an earlier process: it joins the next turn instead of getting its own. */
  readonly leftover: boolean;
  settle(outcome: TurnOutcome): void;
}

const maxQueued = 100;
const maxPromptCharacters = 10_000_000;
const maxTitleCharacters = 150;

/** One session: its prompt queue, its live turn, and who is attached. */
export class Session {
  private readonly parts: EngineParts;
  private readonly log: SessionLog;
  private readonly run: RunOptions;
  private readonly journal: Journal;
  private readonly interactions: Interactions;
  private readonly clients = new Map<EventQueue, Abilities>();
  private readonly tools: ReadonlyMap<string, Tool>;
  private readonly seenFiles = new Map<string, string>();
  private readonly queue: QueuedPrompt[] = [];
  private live: { readonly abort: AbortController; readonly done: Promise<void> } | undefined;
  private readonly noticed = new Set<string>();
  private oriented = false;
  private closed = false;

  constructor(parts: EngineParts, log: SessionLog, state: SessionState, run: RunOptions, owed: readonly DurableBody[]) {
    this.parts = parts;
    this.log = log;
    this.run = run;
    this.journal = new Journal({ state, log, clock: parts.clock, publish: (event) => this.publish(event) });
    this.journal.owe(owed);
    this.interactions = new Interactions({
      present: () => [...this.clients.values()],
      emit: (body) => this.journal.emit(body),
      settings: () => state.settings,
      ids: parts.ids,
    });
    const disabled = new Set(run.disabledTools);
    this.tools = new Map(parts.tools.filter((tool) => !disabled.has(tool.name)).map((tool) => [tool.name, tool]));
    for (const messageId of state.waiting.keys()) {
      this.queue.push({ messageId, limits: {}, leftover: true, settle: () => undefined });
    }
  }

  get id(): string {
    return this.journal.state.id;
  }

  get cwd(): string {
    return this.journal.state.cwd;
  }

  get settings(): SessionSettings {
    return this.journal.state.settings;
  }

  get title(): string {
    return this.journal.state.title;
  }

  /** The tools that a model is offered. */
  toolSpecs(model: ModelInfo): readonly ToolSpec[] {
    return offeredTools([...this.tools.values()], model).map((tool) => ({
      name: tool.name,
      description: tool.description,
      inputSchema: () => this.parts.toolSchema(tool),
    }));
  }

  /** The number of the last thing that happened. */
  get seq(): number {
    return this.journal.state.seq;
  }

  get isWorking(): boolean {
    return this.live !== undefined;
  }

  /** The model that the next call goes to. */
  async model(): Promise<ModelInfo> {
    return (await this.parts.models.resolve(chosenModel(this.settings).id)).info;
  }

  history(): readonly Message[] {
    return this.journal.state.messages;
  }

  /** Accepted prompts that no turn has taken up yet. */
  waiting(): readonly { readonly messageId: string; readonly content: readonly PromptBlock[] }[] {
    return [...this.journal.state.waiting].map(([messageId, { content }]) => ({ messageId, content }));
  }

  attach(abilities: Abilities): Attachment {
    const queue = new EventQueue();
    if (this.closed) queue.close();
    else this.clients.set(queue, abilities);
    return {
      abilities,
      events: ({ after, signal } = {}) =>
        after === undefined ? queue.read(signal) : this.readEvents(queue, after, signal),
      answer: (requestId, answer) => this.interactions.settle(requestId, answer),
      detach: () => {
        queue.close();
        if (!this.clients.delete(queue)) return;
        if (abilities.onDetach === "cancel") this.interactions.cancelUnanswerable();
      },
    };
  }

  /** Takes a prompt in. Turns run one after the other, in the order of the prompts. */
  prompt(content: readonly PromptBlock[], options: PromptOptions = {}): PromptHandle {
    const messageId = options.messageId ?? this.parts.ids.next();
    let settle: (outcome: TurnOutcome) => void = () => undefined;
    const ended = new Promise<TurnOutcome>((resolve) => {
      settle = resolve;
    });
    const entry = { messageId, limits: options.limits ?? {}, leftover: false, settle };
    const accepted = this.accept(entry, content).then(() => ({ messageId }));
    const outcome = accepted.then(() => ended);
    // Whoever only waits for one of the two must not be punished with an unhandled rejection of the other.
    accepted.catch(() => undefined);
    outcome.catch(() => undefined);
    return { accepted, outcome };
  }

  /**
   * Stops the live turn and drops the prompts that wait behind it. Resolves when all of it has ended. `cause` may say more
   * than "interrupted". Prompts left over from an earlier process go on waiting: nobody meant them.
   */
  async interrupt(cause?: AgentError): Promise<void> {
    const dropped = this.queue.splice(this.queue.findLastIndex((entry) => entry.leftover) + 1);
    const { live } = this;
    live?.abort.abort(cause);
    for (const entry of dropped) {
      await this.journal.emit({ type: "prompt.discarded", messageId: entry.messageId });
      entry.settle(notRun(cause));
    }
    await live?.done;
  }

  /** Changes settings that are kept with the session; `null` removes one. Takes effect with the next model call or decision. */
  async update(changes: SettingsChanges): Promise<void> {
    const current: Readonly<Record<string, unknown>> = { ...this.settings };
    const changed = Object.entries(changes).filter(([key, value]) => (value ?? undefined) !== current[key]);
    if (changed.length === 0) return;
    await this.journal.emit({ type: "session.updated", changes: Object.fromEntries(changed) });
  }

  /** Ends what runs, gives the log back and ends every event stream. */
  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    const leftovers = this.queue.splice(0).filter((entry) => !entry.leftover);
    for (const entry of leftovers) entry.settle(notRun());
    this.live?.abort.abort();
    await this.live?.done;
    await this.journal.emit({ type: "session.closed" });
    for (const queue of this.clients.keys()) queue.close();
    this.clients.clear();
    await this.log.release();
  }

  private async accept(entry: QueuedPrompt, content: readonly PromptBlock[]): Promise<void> {
    if (this.closed) throw new AgentError("session_closed", "The session is closed.");
    if (this.queue.length >= maxQueued) {
      throw new AgentError("queue_full", `${maxQueued} prompts are waiting already; wait for one to end.`);
    }
    const size = content.reduce((sum, block) => sum + ("text" in block ? block.text.length : block.data.length), 0);
    if (size > maxPromptCharacters) {
      const limit = Math.floor(maxPromptCharacters / 1_000_000);
      throw new AgentError("input_too_large", `The prompt has ${size} characters; at most ${limit} million are taken.`);
    }
    const isFirst = this.title === "" && this.history().length === 0 && this.queue.length === 0;
    // In the queue before it is in the log, so that an interrupt that comes meanwhile finds it.
    this.queue.push(entry);
    try {
      const stored = [this.journal.emit({ type: "prompt.accepted", messageId: entry.messageId, content })];
      if (isFirst) stored.push(this.journal.emit({ type: "session.titled", title: titleFrom(content) }));
      await Promise.all(stored);
    } catch (error) {
      const index = this.queue.indexOf(entry);
      if (index >= 0) this.queue.splice(index, 1);
      throw error;
    }
    this.startNext();
    const position = this.queue.indexOf(entry) + 1;
    if (position > 0) await this.journal.emit({ type: "prompt.queued", messageId: entry.messageId, position });
  }

  private startNext(): void {
    if (this.closed || this.live !== undefined) return;
    const own = this.queue.findIndex((entry) => !entry.leftover);
    if (own < 0) return;
    const taken = this.queue.splice(0, own + 1);
    const abort = new AbortController();
    const done = this.runNext(taken, abort.signal).finally(() => {
      this.live = undefined;
      this.startNext();
    });
    this.live = { abort, done };
  }

  private async runNext(taken: readonly QueuedPrompt[], signal: AbortSignal): Promise<void> {
    const { parts, journal } = this;
    const { outputs, ...places } = parts.places;
    const turnId = parts.ids.next();
    const outcome = await runTurn({
      turnId,
      state: journal.state,
      promptIds: taken.map((entry) => entry.messageId),
      limits: taken.at(-1)?.limits ?? {},
      models: parts.models,
      clock: parts.clock,
      ids: parts.ids,
      signal,
      toolSpecs: (model) => this.toolSpecs(model),
      runCalls: async (calls, model, isCut) => {
        const rules = await this.rules();
        const own = [this.id, journal.state.forkOf ?? this.id].map(outputs);
        const seen = await seenPlaces(parts, { ...places, cwd: this.cwd }, own);
        return runCalls(calls, {
          sessionId: this.id,
          cwd: this.cwd,
          messageId: parts.ids.next(),
          tools: new Map(offeredTools([...this.tools.values()], model).map((tool) => [tool.name, tool])),
          isCut,
          host: parts.host,
          clock: parts.clock,
          policy: parts.policy,
          interactions: this.interactions,
          seenFiles: this.seenFiles,
          signal,
          onDenied: this.run.onDenied ?? "stop",
          decisionContext: (tool) => ({
            tool,
            autonomy: this.settings.autonomy,
            mode: this.settings.mode,
            cwd: this.cwd,
            ...places,
            ...seen,
            approver: this.interactions.canAsk("permission"),
            unsafe: this.run.unsafe ?? false,
            rules,
            enabledTools: this.run.enabledTools ?? [],
          }),
          emit: (body) => journal.emit(body),
        });
      },
      reminders: () => this.reminders(),
      emit: (body: EventBody) => (body.type === "notice" ? this.notice(body) : journal.emit(body)),
      room: () => this.room(),
    });
    for (const entry of taken) entry.settle(outcome);
  }

  /** Read anew for every reply, because the file may have changed; what is to be told of them is told once. */
  private async rules(): Promise<CommandRules> {
    const { rules, notices } = await this.parts.rules(this.cwd);
    for (const text of notices) await this.notice({ type: "notice", level: "warning", text });
    return rules;
  }

  private async notice(body: EventBody & { type: "notice" }): Promise<void> {
    if (this.noticed.has(body.text)) return;
    this.noticed.add(body.text);
    await this.journal.emit(body);
  }

  /** Where the model works, once per process; texts that stand in the conversation already are not repeated. */
  private async reminders(): Promise<readonly string[]> {
    const { state } = this.journal;
    const news: string[] = [];
    // A broken rule is told before anything else is done.
    await this.rules();
    if (!this.oriented) {
      this.oriented = true;
      const told = new Set(state.messages.flatMap(remindersOf));
      news.push(...(await this.parts.context.reminders(this.cwd)).filter((text) => !told.has(text)));
    }
    if (state.lastEnd === "failed" && state.messages.at(-1)?.role === "assistant") {
      news.push("Your last answer broke off because the connection to you failed.");
    }
    if (state.lastEnd === "interrupted") news.push("The previous turn was interrupted before it was finished.");
    return news;
  }

  private publish(event: EngineEvent): void {
    for (const queue of this.clients.keys()) queue.push(event);
  }

  private room(): Promise<void> | undefined {
    const waits: Promise<void>[] = [];
    for (const queue of this.clients.keys()) {
      const wait = queue.room();
      if (wait !== undefined) waits.push(wait);
    }
    return waits.length === 0 ? undefined : Promise.all(waits).then(() => undefined);
  }

  /** First what is stored behind `after`, then what is in the queue and not among it. */
  private async *readEvents(queue: EventQueue, after: number, signal?: AbortSignal): AsyncGenerator<EngineEvent> {
    let last = after;
    for (const event of (await this.parts.store.read(this.id)).events) {
      if (event.seq <= last) continue;
      last = event.seq;
      yield event;
    }
    for await (const event of queue.read(signal)) {
      if (event.seq === undefined || event.seq > last) yield event;
    }
  }
}

/** How a prompt ends that no turn took up. */
function notRun(cause?: AgentError): TurnOutcome {
  const nothing = { turnId: "", finalText: "", usage: noUsage, modelCalls: 0, denials: [], durationMs: 0 };
  if (cause?.code === "timeout") return { ...nothing, reason: "limit", failure: cause.failure };
  const message = "The prompt was dropped before it was run.";
  return { ...nothing, reason: "interrupted", failure: { code: "interrupted", message } };
}

function remindersOf(message: Message): readonly string[] {
  if (message.role !== "user") return [];
  return message.content.flatMap((block) => (block.type === "reminder" ? [block.text] : []));
}

function titleFrom(content: readonly PromptBlock[]): string {
  const line = textOf(content).replace(/\s+/g, " ").trim();
  if (line.length <= maxTitleCharacters) return line === "" ? "(no text)" : line;
  return `${line.slice(0, maxTitleCharacters).toWellFormed()}...`;
}
