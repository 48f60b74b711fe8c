import type { EngineEvent, EventOf, EventType } from "../../engine/event.ts";
import type { SessionState } from "../../engine/log/history.ts";
import { applyEvent } from "../../engine/log/history.ts";
import type { Attachment } from "../../engine/session/attachment.ts";
import type { Session } from "../../engine/session/session.ts";
import type { SessionSettings } from "../../engine/settings.ts";
import type { ClientResponse } from "../../protocol/droid/envelope.ts";
import type { WireSettings } from "../../protocol/droid/settings.ts";
import type { Transport } from "../../rpc/transport.ts";
import type { Dialect, Vocabulary } from "./dialect.ts";
import type { Lines } from "./lines.ts";
import { wireSettings } from "./methods/droid-settings.ts";
import { filtersOf, type SessionFilters, type ToolFilters } from "./methods/tool-filters.ts";
import type { Translator } from "./notifications/droid-notifications.ts";
import { createTranslator } from "./notifications/droid-notifications.ts";
import { type Origin, Origins } from "./origins.ts";
import type { Outgoing } from "./outbox.ts";
import { answerOf } from "./requests/answers.ts";
import type { Held } from "./sessions.ts";

/** Hooks of the connection before and after an event's lines are sent. */
interface Steps<Type extends EventType> {
  before?(event: EventOf<Type>): void;
  after?(event: EventOf<Type>): void;
}

const ignored: Steps<EventType> = {};

interface Parts {
  readonly held: Held;
  readonly dialect: Dialect;
  readonly vocabulary: Vocabulary;
  readonly transport: Transport;
  readonly lines: Lines;
  /** Whether this client can be asked for permissions. */
  readonly approve: boolean;
  /** Called with every event, for logging. */
  onEvent(event: EngineEvent): void;
  /** Called with an internal error: the client would miss lines from here on. */
  onFault(error: unknown): void;
}

/** The session of a connection: sends everything that happens in it, in order. */
export class LiveSession {
  readonly session: Session;
  /** The session as of the lines sent so far. A slow reader is behind. */
  readonly told: SessionState;
  private readonly parts: Parts;
  private readonly shownFilters: SessionFilters;
  private readonly attachment: Attachment;
  private readonly translator: Translator;
  private readonly origins = new Origins();
  private readonly turns = new Set<Promise<unknown>>();
  private readonly pumped: Promise<void>;
  private isPumped = false;
  private canApprove: boolean;
  private hasLeft = false;
  /** The message that the model is writing, or has written last. */
  private replyId: string | undefined;
  private readonly steps: { readonly [Type in EventType]: Steps<Type> } = {
    "session.opened": ignored,
    "session.updated": ignored,
    "session.titled": ignored,
    "prompt.accepted": { before: ({ messageId }) => this.acknowledge(messageId) },
    "prompt.discarded": { after: ({ messageId }) => this.origins.settle(messageId) },
    "prompt.queued": ignored,
    "prompt.taken": { after: ({ messageId }) => this.origins.settle(messageId) },
    // The oldest waiting prompt gets this turn.
    "turn.started": { before: () => this.parts.lines.beginTrace(this.origins.oldest?.traceparent) },
    "turn.ended": {
      after: ({ untaken = [] }) => {
        for (const messageId of untaken) this.origins.settle(messageId);
      },
    },
    "model.called": {
      before: ({ messageId }) => {
        this.replyId = messageId;
      },
    },
    "message.started": ignored,
    "message.delta": ignored,
    "message.checkpoint": ignored,
    "message.ended": ignored,
    "usage.updated": ignored,
    "retry.scheduled": ignored,
    "compaction.started": ignored,
    "context.compacted": ignored,
    "servers.changed": ignored,
    "sign-in.required": ignored,
    "sign-in.ended": ignored,
    "compaction.ended": ignored,
    notice: ignored,
    "tool.input": ignored,
    "tool.started": ignored,
    "tool.progress": ignored,
    "tool.heartbeat": ignored,
    "tool.ended": ignored,
    "request.opened": ignored,
    "request.closed": ignored,
    "session.closed": ignored,
  };
  private waiters: { readonly seq: number; readonly go: () => void }[] = [];

  constructor(parts: Parts) {
    this.parts = parts;
    const { held, dialect, vocabulary } = parts;
    const { session, canAnswer, canSignIn, goesOn } = held;
    this.session = session;
    this.shownFilters = filtersOf(session);
    this.canApprove = canAnswer && parts.approve;
    const onDetach = goesOn ? "keep" : "cancel";
    // Its servers begin with the first client.
    this.attachment = session.attach({ approve: this.canApprove, answer: canAnswer, onDetach });
    this.told = session.snapshot();
    const { turn, partial, openCalls, openRequests } = this.told;
    this.translator = createTranslator({
      dialect,
      vocabulary,
      contains: (settings) => session.sandbox.contains(settings),
      sessionId: session.id,
      settings: session.settings,
      filters: () => this.filters,
      lastMessageId: session.history().at(-1)?.id,
      usage: session.usage,
      waiting: session.waiting(),
      ...(turn === undefined ? {} : { turn, partial, isCalling: openCalls.size > 0, openRequests }),
      isCompacting: session.isCompacting,
      ...(turn?.promptId === undefined ? {} : { turnId: turn.promptId }),
      servers: session.serverStates(),
      canSignIn,
      origin: (messageId) => this.origins.of(messageId),
    });
    this.shownFilters.clients.add(this);
    this.pumped = this.pump()
      .catch((error: unknown) => parts.onFault(error))
      .finally(() => {
        this.shownFilters.clients.delete(this);
        this.isPumped = true;
        this.letGoUntil(Number.POSITIVE_INFINITY);
      });
  }

  get dialect(): Dialect {
    return this.parts.dialect;
  }

  get vocabulary(): Vocabulary {
    return this.parts.vocabulary;
  }

  get canSignIn(): boolean {
    return this.parts.held.canSignIn;
  }

  /** Settings as this client sees them. */
  shown(settings: SessionSettings): WireSettings {
    return wireSettings(settings, this.dialect, this.filters, this.session.sandbox.contains(settings));
  }

  get filters(): ToolFilters {
    return this.shownFilters.current;
  }

  /** Sends the turn in progress to a client that joins during it, right after its response. */
  tellUnderWay(): void {
    this.send(this.translator.underWay());
  }

  /** Starts to report the state of servers. */
  tellServers(): void {
    this.send(this.translator.openServers());
  }

  /** A warning for this client alone. */
  warn(message: string): void {
    const timestamp = new Date().toISOString();
    this.send([{ kind: "notification", notification: { type: "notice", level: "warning", message, timestamp } }]);
  }

  tellNotices(): void {
    for (const event of this.session.notices()) {
      this.parts.onEvent(event);
      this.send(this.translator.translate(event));
    }
  }

  /** Accepts a prompt, which is answered with its event. `ended` is called after its turn, unless this rejects. */
  async prompt(content: Parameters<Session["prompt"]>[0], origin: Origin, ended: () => void): Promise<void> {
    const { session } = this;
    const { clientMessageId } = origin;
    const isOurs = clientMessageId === "root" || clientMessageId === this.replyId;
    const handle = session.prompt(content, {
      // A client that names a turn waits for that turn's end, so the prompt must not join another one.
      joins: clientMessageId === undefined,
      ...(clientMessageId === undefined || isOurs ? {} : { messageId: clientMessageId }),
    });
    // A repeated prompt gets the same response, and no second turn.
    if (handle.isRepeated === true) {
      await handle.accepted;
      await this.caughtUp();
      ended();
      return this.parts.transport.send(this.parts.lines.result(origin.requestId, {}));
    }
    this.origins.add(handle.messageId, origin);
    const turn = handle.outcome
      .catch(() => undefined)
      .then(() => this.caughtUp())
      .finally(() => {
        this.turns.delete(turn);
        this.origins.forget(origin);
        ended();
      });
    this.turns.add(turn);
    try {
      await handle.accepted;
    } catch (error) {
      this.origins.forget(origin);
      throw error;
    }
  }

  answer(response: ClientResponse): void {
    const interaction = this.session.openRequests().get(response.id);
    // Late, second and unknown answers have no effect.
    if (interaction === undefined || interaction.kind === "tool") return;
    // Ignore answers of clients that only observe.
    const isAsked = interaction.kind === "question" ? this.parts.held.canAnswer : this.canApprove;
    if (isAsked) this.attachment.answer(response.id, answerOf(interaction, response));
  }

  /** Resolves when everything that has happened so far was sent. */
  caughtUp(): Promise<void> {
    const { seq } = this.session;
    if (this.told.seq >= seq || this.isPumped) return Promise.resolve();
    return new Promise((go) => this.waiters.push({ seq, go }));
  }

  setApprover(approve: boolean): void {
    this.canApprove = approve && this.parts.held.canAnswer;
    this.attachment.change({ approve: this.canApprove });
  }

  /** Filters change without an event. */
  tellFilters(): void {
    this.send(this.translator.settingsChanged());
  }

  /** Sends the settings to all clients of the session. */
  tellSettings(): void {
    for (const client of this.shownFilters.clients) client.tellFilters();
  }

  /**
   * The client's input has ended, so questions can no longer be answered. Resolves when all accepted prompts have had
   * their turn, and a requested compaction is done, or at once if the session continues without this client.
   */
  async finish(compacting: Promise<void>): Promise<void> {
    if (this.parts.held.goesOn) return;
    this.attachment.change({ approve: false, answer: false });
    await compacting;
    while (this.turns.size > 0) await Promise.all(this.turns);
  }

  /** Ends the turn and drops queued prompts. Resolves when all of that was sent, `idle` last. */
  async interrupt(): Promise<void> {
    this.translator.holdEnd();
    try {
      await this.session.interrupt();
    } finally {
      await this.caughtUp();
      this.send(this.translator.releaseEnd());
    }
  }

  /**
   * The client leaves, or was lost and may come back. Ends running work, unless the session continues. Resolves when everything
   * was sent.
   */
  async leave({ isLost = false } = {}): Promise<void> {
    const { held } = this.parts;
    // A log that cannot be written must not keep the client; the turn's end has the reason.
    if (!held.goesOn) await this.interrupt().catch(() => undefined);
    // Released first: when both time limits pass, the session closes without answering its questions.
    await held.release();
    if (held.goesOn) this.attachment.detach(isLost ? held.missedForMs : 0);
    await this.pumped;
    this.hasLeft = true;
  }

  /** Closes the session if this client is the last one, otherwise only leaves it. */
  async close(): Promise<void> {
    const { held } = this.parts;
    if (!held.goesOn || !held.isLast()) return this.leave();
    // Both start at once, so that no other client gets in between.
    await Promise.all([this.interrupt().catch(() => undefined), held.end()]);
    return this.leave();
  }

  /** After the client has left, nothing is sent. */
  private send(messages: readonly Outgoing[]): void {
    if (this.hasLeft) return;
    const { transport, lines } = this.parts;
    for (const message of messages) transport.send(lines.outgoing(message));
  }

  private async pump(): Promise<void> {
    const { transport } = this.parts;
    for await (const event of this.attachment.events()) {
      this.parts.onEvent(event);
      const { before, after } = this.steps[event.type] as Steps<EventType>;
      before?.(event);
      this.send(this.translator.translate(event));
      after?.(event);
      if (event.seq !== undefined) {
        applyEvent(this.told, event);
        this.letGoUntil(event.seq);
      }
      const room = transport.room();
      if (room !== undefined) await room;
    }
  }

  private acknowledge(messageId: string): void {
    const { transport, lines } = this.parts;
    const origin = this.origins.of(messageId);
    if (origin !== undefined) transport.send(lines.result(origin.requestId, {}));
  }

  private letGoUntil(seq: number): void {
    if (this.waiters.length === 0) return;
    const due = this.waiters.filter((waiter) => waiter.seq <= seq);
    this.waiters = this.waiters.filter((waiter) => waiter.seq > seq);
    for (const { go } of due) go();
  }
}
