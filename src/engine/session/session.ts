import { deferred } from "../../async/promises.ts";
import { SessionSandbox } from "../calls/session-sandbox.ts";
import { Briefing } from "../context/briefing.ts";
import type { ContextUse } from "../context/budget.ts";
import { chosenModel } from "../context/request.ts";
import type { EngineParts } from "../engine-parts.ts";
import { AgentError } from "../errors.ts";
import type { DurableBody, DurableEvent, EngineEvent, EventBody, SettingsChanges } from "../event.ts";
import type { Interaction } from "../interaction.ts";
import { copyState, type SessionState } from "../log/history.ts";
import { Journal } from "../log/journal.ts";
import type { Message, PromptBlock, Usage } from "../message.ts";
import type { LogDamage, ModelInfo, SessionLog, ToolSpec } from "../ports.ts";
import { PromptCommands } from "../servers/prompt-commands.ts";
import type { ServerState } from "../servers/server-state.ts";
import { SessionServers } from "../servers/session-servers.ts";
import type { ToolServers } from "../servers/tool-servers.ts";
import { type Autonomy, type RunOptions, type SessionSettings, unaskedModel } from "../settings.ts";
import { runTurn } from "../turn/turn.ts";
import type { TurnOutcome } from "../turn/turn-outcome.ts";
import type { Abilities, Attachment } from "./attachment.ts";
import { Audience } from "./audience.ts";
import { Interactions } from "./interactions.ts";
import { ModelView } from "./model-view.ts";
import type { QueuedPrompt } from "./prompt-queue.ts";
import { leftoverPrompt, notRun, PromptQueue, shortTitle, sizeOf, titleFrom } from "./prompt-queue.ts";
import { ReplyCalls } from "./reply-calls.ts";
import { type PromptHandle, type PromptOptions, SentPrompts } from "./sent-prompts.ts";
import { SessionPast } from "./session-past.ts";
import { SessionTools } from "./session-tools.ts";

/** One session: its prompt queue, its live turn, and its attached clients. */
export class Session {
  private readonly parts: EngineParts;
  private readonly log: SessionLog;
  private readonly run: RunOptions;
  private readonly pastEvents: SessionPast;
  private readonly journal: Journal;
  private readonly briefing: Briefing;
  private readonly interactions: Interactions;
  private readonly audience: Audience;
  private readonly tools: SessionTools;
  private readonly ownServers: SessionServers;
  private readonly commands: PromptCommands;
  private readonly modelView: ModelView;
  private readonly queue: PromptQueue;
  private readonly sent: SentPrompts;
  readonly sandbox: SessionSandbox;
  private readonly replyCalls: ReplyCalls;
  private isNamed: boolean;
  private live: { readonly abort: AbortController; readonly done: Promise<void> } | undefined;
  private closed = false;
  highestAutonomy: Autonomy = "high";
  /** Models that can stand in for the chosen one. Absent: all. */
  allowedModels: readonly string[] | undefined;
  private readonly end = deferred();
  /** Resolves once the session is closed and its log released. */
  readonly ended = this.end.promise;

  constructor(
    parts: EngineParts,
    log: SessionLog,
    state: SessionState,
    run: RunOptions,
    { owed, damage }: { readonly owed: readonly DurableBody[]; readonly damage: LogDamage },
  ) {
    this.parts = parts;
    this.log = log;
    this.run = run;
    this.queue = new PromptQueue(run.maxWaiting);
    this.sent = new SentPrompts(state, parts.ids);
    this.sandbox = new SessionSandbox(parts, state, run);
    this.audience = new Audience(parts.clock, parts.observe);
    this.journal = new Journal({ state, log, clock: parts.clock, publish: (event) => this.audience.publish(event) });
    this.journal.owe(owed);
    this.pastEvents = new SessionPast(parts, this.journal, damage);
    this.briefing = new Briefing(parts, this.journal, run, () => this.interactions.canAsk("permission"));
    this.interactions = new Interactions({
      present: () => this.audience.present(),
      emit: (body) => this.journal.emit(body),
      settings: () => state.settings,
      highestAutonomy: () => this.highestAutonomy,
      approve: (call, scope) => this.ownServers.approvals.add(call, scope),
      ids: parts.ids,
      clock: parts.clock,
    });
    this.isNamed = state.title !== "" || state.messages.length > 0;
    this.ownServers = new SessionServers(parts, {
      state,
      run,
      interactions: this.interactions,
      tell: (event) => void this.journal.emit(event).catch(() => undefined),
    });
    this.commands = new PromptCommands(() => this.ownServers.open());
    this.tools = new SessionTools(this.ownServers.tools(), state.settings, run, (tool) => parts.toolSchema(tool));
    this.modelView = new ModelView(parts, { journal: this.journal, briefing: this.briefing, tools: this.tools, run });
    const { journal, briefing, interactions, tools, sandbox } = this;
    const { approvals } = this.ownServers;
    this.replyCalls = new ReplyCalls({ parts, journal, run, briefing, interactions, tools, sandbox, approvals });
    for (const messageId of state.waiting.keys()) this.queue.add(leftoverPrompt(messageId));
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

  /** Tokens of all model calls. */
  get usage(): Usage {
    return this.journal.state.usage;
  }

  /** Its servers. Absent if it has none, or before the session is used. */
  get servers(): ToolServers | undefined {
    return this.ownServers.opened;
  }

  /** All its servers, with those that the client named in a way that cannot be used. */
  serverStates(): readonly ServerState[] {
    return this.ownServers.states();
  }

  /** Unanswered requests by id. */
  openRequests(): ReadonlyMap<string, Interaction> {
    return this.journal.state.openRequests;
  }

  /** Limits the offered tools from the next model call on. Tools that the client brought stay. */
  limitTools(isWanted: (name: string) => boolean): void {
    this.tools.limit(isWanted);
  }

  /** The tools offered to a model. */
  toolSpecs(model: ModelInfo): readonly ToolSpec[] {
    return this.tools.offer(model, this.settings.mode).specs;
  }

  /** The seq of the last event. */
  get seq(): number {
    return this.journal.state.seq;
  }

  get isClosed(): boolean {
    return this.closed;
  }

  get isWorking(): boolean {
    return this.live !== undefined;
  }

  /** `undefined` if no turn runs or is about to; otherwise resolves when that may have changed. */
  busy(): Promise<unknown> | undefined {
    return this.live?.done ?? this.sent.storing();
  }

  /** Resolves at the next request to a client. */
  nextRequest(): Promise<void> {
    return this.audience.nextRequest();
  }

  /** The model of the next call. */
  async model(): Promise<ModelInfo> {
    return (await this.parts.models.resolve(chosenModel(this.settings).id)).info;
  }

  /** How much of the model's window the next call would use, by part. Rejects with `model_unknown`. */
  async contextUse(): Promise<ContextUse> {
    return this.modelView.use();
  }

  /**
   * Replaces the model's view of the conversation by notes. Rejects with `usage` if there is nothing to compact, or a
   * turn is running. Resolves with the number of messages that left the view.
   */
  async compact(wish?: string): Promise<{ readonly removed: number }> {
    if (this.closed) throw new AgentError("session_closed", "The session is closed.");
    if (this.live !== undefined)
      throw new AgentError("usage", "A turn or another compaction is running. Compact when it has ended.");
    this.modelView.checkCompactable();
    const abort = new AbortController();
    const work = this.modelView.compact(abort.signal, wish);
    // Prompts wait meanwhile, and an interrupt reaches it.
    this.live = { abort, done: work.then(this.turnEnded, this.turnEnded) };
    return work;
  }

  history(): readonly Message[] {
    return this.journal.state.messages;
  }

  /** The current state. A client that attaches now and applies all events stays up to date. */
  snapshot(): SessionState {
    const state = copyState(this.journal.state);
    return { ...state, partial: this.audience.reply.partial() ?? state.partial };
  }

  /** The conversation is being compacted, in a turn or between two. */
  get isCompacting(): boolean {
    return this.audience.reply.isCompacting;
  }

  /** The events after a seq: the stored ones, and those that a dead process owes. */
  past(after = 0): Promise<readonly DurableEvent[]> {
    return this.pastEvents.after(after);
  }

  /** The seq to read after, to know what was under way at `seq`: the one before its turn, or `seq` between turns. */
  readFrom(seq: number): number {
    return this.pastEvents.from(seq);
  }

  /** For every client that opens the session: whether its log was damaged. */
  notices(): readonly EngineEvent[] {
    return this.pastEvents.notices();
  }

  /** Accepted prompts that no turn has taken yet. */
  waiting(): readonly { readonly messageId: string; readonly content: readonly PromptBlock[]; readonly at: number }[] {
    return [...this.journal.state.waiting].map(([messageId, { content, at }]) => ({ messageId, content, at }));
  }

  attach(abilities: Abilities): Attachment {
    if (abilities.approve || abilities.answer || abilities.startsServers === true) this.ownServers.open();
    return this.audience.attach(abilities, this.interactions, (after) => this.past(after));
  }

  /** Adds a prompt. Turns run one at a time, in the order of their prompts. */
  prompt(content: readonly PromptBlock[], options: PromptOptions = {}): PromptHandle {
    const repeated = this.sent.repeated(options.messageId, content);
    if (repeated !== undefined) return repeated;
    const messageId = this.sent.idFor(options.messageId);
    const { promise: ended, resolve: settle } = deferred<TurnOutcome>();
    const joins = options.joins === true && this.replyCalls.areRunning;
    const own = { messageId, limits: options.limits ?? {}, size: sizeOf(content) };
    const entry = { ...own, leftover: false, joins, stored: false, settle };
    const accepted = this.accept(entry, content).then(() => ({ messageId }));
    const handle = { messageId, accepted, outcome: accepted.then(() => ended) };
    this.sent.add(content, handle);
    return handle;
  }

  /** Gives prompts left by an earlier process their own turns now, instead of joining the next one. */
  takeUpWaiting(): void {
    this.queue.adopt();
    this.startNext();
  }

  /**
   * Stops the live turn and drops the waiting prompts. Resolves when all have ended. `cause` has the code `timeout` for a
   * deadline, and `interrupted` when the process ends. Prompts left by an earlier process keep waiting.
   */
  async interrupt(cause?: AgentError): Promise<void> {
    const { live } = this;
    const failures: unknown[] = [];
    this.commands.interrupt();
    // Emitted before the turn is aborted, so that the turn's end comes last.
    const discarded = this.queue.drop().map(async (entry) => {
      const told = this.journal.emit({ type: "prompt.discarded", messageId: entry.messageId });
      // The prompt settles even if its end cannot be stored.
      await told.catch((error: unknown) => failures.push(error));
      entry.settle(notRun(cause));
    });
    live?.abort.abort(cause);
    await Promise.all(discarded);
    await live?.done;
    if (failures.length > 0) throw failures[0];
  }

  /** Changes stored settings; `null` removes one. Takes effect with the next model call or decision. */
  async update(changes: SettingsChanges): Promise<void> {
    const current: Readonly<Record<string, unknown>> = { ...this.settings };
    // Pending events may still change them.
    const isSure = !this.journal.isBusy;
    const changed = Object.entries(changes).filter(([key, value]) => !isSure || (value ?? undefined) !== current[key]);
    if (changed.length === 0) return;
    await this.journal.emit({ type: "session.updated", changes: Object.fromEntries(changed) });
  }

  /** Sets the title. */
  async rename(title: string): Promise<void> {
    const line = shortTitle(title.replace(/\s+/g, " ").trim());
    if (line === "") throw new AgentError("usage", "The title is empty.");
    this.isNamed = true;
    if (line !== this.title) await this.journal.emit({ type: "session.titled", title: line });
  }

  /** Ends the turn, releases the log and ends all event streams. `cause`: see `interrupt`. Idempotent. */
  async close(cause?: AgentError): Promise<void> {
    if (this.closed) return this.ended;
    this.closed = true;
    this.commands.interrupt();
    for (const entry of this.queue.drop()) entry.settle(notRun());
    this.live?.abort.abort(cause);
    await this.live?.done;
    await Promise.all([this.replyCalls.close(), this.ownServers.close()]);
    await this.journal.catchUp();
    await this.journal.emit({ type: "session.closed" });
    this.audience.close();
    await this.log.release().finally(() => this.end.resolve());
  }

  private async accept(entry: QueuedPrompt, given: readonly PromptBlock[]): Promise<void> {
    if (this.closed) throw new AgentError("session_closed", "The session is closed.");
    this.queue.checkRoomFor(entry);
    // Queued before it is stored, so that an interrupt in between finds it.
    this.queue.add(entry);
    try {
      const expanding = this.commands.expand(given);
      // Without a command nothing is awaited: an interrupt must find the prompt stored, or being stored.
      const content = expanding === undefined ? given : await expanding;
      if (this.queue.position(entry) === 0) throw new AgentError("interrupted", "The prompt was dropped.");
      await this.journal.emit({ type: "prompt.accepted", messageId: entry.messageId, content });
      entry.stored = true;
    } catch (error) {
      this.queue.remove(entry);
      // The prompts behind it no longer wait for it.
      this.startNext();
      throw error;
    }
    this.startNext();
    const position = this.queue.position(entry);
    if (position > 0) await this.journal.emit({ type: "prompt.queued", messageId: entry.messageId, position });
  }

  private startNext(): void {
    if (this.closed || this.live !== undefined) return;
    const taken = this.queue.takeForTurn();
    if (taken.length === 0) return;
    const abort = new AbortController();
    const done = this.runNext(taken, abort.signal).finally(this.turnEnded);
    this.live = { abort, done };
  }

  private readonly turnEnded = (): void => {
    this.live = undefined;
    this.startNext();
  };

  private async runNext(first: readonly QueuedPrompt[], signal: AbortSignal): Promise<void> {
    const taken = [...first];
    const { parts, journal } = this;
    const servers = this.ownServers.open();
    const outcome = await runTurn({
      turnId: parts.ids.next(),
      state: journal.state,
      promptIds: first.map((entry) => entry.messageId),
      limits: first.at(-1)?.limits ?? {},
      models: { ...parts.models, resolve: (id) => parts.models.resolve(id, this.allowedModels) },
      clock: parts.clock,
      ids: parts.ids,
      modelByDefault: unaskedModel(this.settings, this.run),
      ...(this.run.modelSilence === undefined ? {} : { silence: this.run.modelSilence }),
      signal,
      offer: (model) => this.tools.offer(model, this.settings.mode),
      compaction: this.modelView.compaction,
      toolsSettled: async () => servers?.settled(signal),
      takeJoining: (fits) => {
        const joining = this.queue.takeJoining(fits);
        taken.push(...joining);
        return joining.map((entry) => entry.messageId);
      },
      runCalls: (calls, offered, isCut) => this.replyCalls.run(calls, offered.tools, isCut, signal),
      reminders: async () => {
        await this.briefing.tellUnaskedModel(() => this.model());
        return this.briefing.reminders();
      },
      emit: (body: EventBody) => {
        if (body.type === "notice") return this.briefing.notice(body);
        return body.type === "prompt.taken" ? this.take(body) : journal.emit(body);
      },
      room: () => this.audience.room(),
    });
    for (const entry of taken) entry.settle(outcome);
  }

  /** The first prompt of the conversation names the session. */
  private async take(body: EventBody & { type: "prompt.taken" }): Promise<void> {
    const { content = [] } = this.journal.state.waiting.get(body.messageId) ?? {};
    const taken = this.journal.emit(body);
    if (!this.isNamed && content.length > 0) {
      this.isNamed = true;
      // Failing to store a title must not lose the prompt.
      this.journal.emit({ type: "session.titled", title: titleFrom(content) }).catch(() => undefined);
    }
    await Promise.all([taken, this.briefing.heard(content)]);
  }
}
