import type { EngineEvent, EventOf, EventType } from "../../engine/event.ts";
import type { SessionState } from "../../engine/log/history.ts";
import { applyEvent } from "../../engine/log/history.ts";
import type { Attachment } from "../../engine/session/attachment.ts";
import type { Session } from "../../engine/session/session.ts";
import type { ClientResponse } from "../../protocol/droid/envelope.ts";
import type { McpServerParams } from "../../protocol/droid/params.ts";
import type { Transport } from "../../rpc/transport.ts";
import type { Dialect } from "./dialect.ts";
import type { Lines } from "./lines.ts";
import { filtersOf, type SessionFilters, type ToolFilters } from "./methods/tool-filters.ts";
import type { Translator } from "./notifications/droid-notifications.ts";
import { createTranslator } from "./notifications/droid-notifications.ts";
import { type Origin, Origins } from "./origins.ts";
import type { Outgoing } from "./outbox.ts";
import { answerOf } from "./requests/answers.ts";
import type { Held } from "./sessions.ts";

/** What the connection does about an event before its lines are sent, and after. */
interface Steps<Type extends EventType> {
  before?(event: EventOf<Type>): void;
  after?(event: EventOf<Type>): void;
}

const ignored: Steps<EventType> = {};

interface Parts {
  readonly held: Held;
  readonly dialect: Dialect;
  readonly transport: Transport;
  readonly lines: Lines;
  readonly mcpServers: readonly McpServerParams[];
  /** Whether this client wants to be asked for permissions. */
  readonly approve: boolean;
  /** What happens, for people who read along. */
  onEvent(event: EngineEvent): void;
  /** A fault of ours: from here on the client would miss lines. */
  onFault(error: unknown): void;
}

/** The session that a connection works with: what happens in it goes out as lines, in the order in which it happens. */
export class LiveSession {
  readonly session: Session;
  readonly mcpServers: readonly McpServerParams[];
  /** The session as the client knows it by the lines so far: a slow reader is behind. */
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
  /** The message that the model is writing, or wrote last. */
  private replyId: string | undefined;
  private readonly steps: { readonly [Type in EventType]: Steps<Type> } = {
    "session.opened": ignored,
    "session.updated": ignored,
    "session.titled": ignored,
    "prompt.accepted": { before: ({ messageId }) => this.acknowledge(messageId) },
    "prompt.discarded": { after: ({ messageId }) => this.origins.settle(messageId) },
    "prompt.queued": ignored,
    "prompt.taken": { after: ({ messageId }) => this.origins.settle(messageId) },
    // The prompt that has waited longest is the one that gets this turn.
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
    const { held, dialect } = parts;
    const { session, canAnswer, goesOn } = held;
    this.session = session;
    this.shownFilters = filtersOf(session);
    this.mcpServers = parts.mcpServers;
    this.told = session.snapshot();
    const { turn, partial, openCalls, openRequests } = this.told;
    this.translator = createTranslator({
      dialect,
      sessionId: session.id,
      settings: session.settings,
      filters: () => this.filters,
      lastMessageId: session.history().at(-1)?.id,
      usage: session.usage,
      waiting: session.waiting(),
      ...(turn === undefined ? {} : { turn, partial, isCalling: openCalls.size > 0, openRequests }),
      ...(turn?.promptId === undefined ? {} : { turnId: turn.promptId }),
      origin: (messageId) => this.origins.of(messageId),
    });
    this.canApprove = canAnswer && parts.approve;
    const onDetach = goesOn ? "keep" : "cancel";
    this.attachment = session.attach({ approve: this.canApprove, answer: canAnswer, onDetach });
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

  get filters(): ToolFilters {
    return this.shownFilters.current;
  }

  /** To a client that came in the middle of a turn, right after what it was told of the session: what is under way. */
  tellUnderWay(): void {
    this.send(this.translator.underWay());
  }

  /** What a client that opens the session should know about it. */
  tellNotices(): void {
    for (const event of this.session.notices()) {
      this.parts.onEvent(event);
      this.send(this.translator.translate(event));
    }
  }

  /** Takes a prompt in. It is answered with its event. `ended` is called once its turn is over; not when this rejects. */
  async prompt(content: Parameters<Session["prompt"]>[0], origin: Origin, ended: () => void): Promise<void> {
    const { session } = this;
    const { clientMessageId } = origin;
    const isOurs = clientMessageId === "root" || clientMessageId === this.replyId;
    const handle = session.prompt(content, {
      // Who names a turn waits for its end, so it gets one of its own.
      joins: clientMessageId === undefined,
      ...(clientMessageId === undefined || isOurs ? {} : { messageId: clientMessageId }),
    });
    // Sent once more, it gets the same answer, and no second turn.
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
    // Late, second and unknown answers change nothing.
    if (interaction === undefined || interaction.kind === "tool") return;
    // Nor do those of a client that is not asked, and only sees what others are.
    const isAsked = interaction.kind === "question" ? this.parts.held.canAnswer : this.canApprove;
    if (isAsked) this.attachment.answer(response.id, answerOf(interaction, response));
  }

  /** Resolves when everything that has happened so far has been sent. */
  caughtUp(): Promise<void> {
    const { seq } = this.session;
    if (this.told.seq >= seq || this.isPumped) return Promise.resolve();
    return new Promise((go) => this.waiters.push({ seq, go }));
  }

  /** Whether this client can be asked for permissions. */
  setApprover(approve: boolean): void {
    this.canApprove = approve && this.parts.held.canAnswer;
    this.attachment.change({ approve: this.canApprove });
  }

  /** Filters change without an event. */
  tellFilters(): void {
    this.send(this.translator.settingsChanged());
  }

  /** To this client, and to whoever else works with the session. */
  tellSettings(): void {
    for (const client of this.shownFilters.clients) client.tellFilters();
  }

  /**
   * Nobody will answer any more. Resolves when every prompt that was taken in has had its turn; in a session that goes on
   * without this client they have it all the same.
   */
  async finish(): Promise<void> {
    if (this.parts.held.goesOn) return;
    this.attachment.change({ approve: false, answer: false });
    while (this.turns.size > 0) await Promise.all(this.turns);
  }

  /** Ends the turn, and drops what waits. Resolves when all of it was sent, `idle` last. */
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
   * The client goes, or was lost and may come back: what runs ends, unless the session goes on. Resolves when the last of
   * it was sent.
   */
  async leave({ isLost = false } = {}): Promise<void> {
    const { held } = this.parts;
    // A log that takes nothing more keeps nobody from leaving; the turn's end says what is wrong.
    if (!held.goesOn) await this.interrupt().catch(() => undefined);
    // Let go of first: when the time of both is over, it is closed, and nothing in it is answered for nobody.
    await held.release();
    if (held.goesOn) this.attachment.detach(isLost ? held.missedForMs : 0);
    await this.pumped;
    this.hasLeft = true;
  }

  /** The client wants the session closed: that ends it, when nobody else works with it. */
  async close(): Promise<void> {
    const { held } = this.parts;
    if (!held.goesOn || !held.isLast()) return this.leave();
    // Both begin at once, so that nobody comes in between.
    await Promise.all([this.interrupt().catch(() => undefined), held.end()]);
    return this.leave();
  }

  /** What goes on in the session after the client left, as an interrupt does, is nothing to it. */
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
