import type { Attachment } from "../../core/attachment.ts";
import type { EngineEvent } from "../../core/event.ts";
import type { SessionState } from "../../core/history.ts";
import { applyEvent } from "../../core/history.ts";
import type { Session } from "../../core/session.ts";
import type { ClientResponse } from "../../protocol/droid/envelope.ts";
import type { McpServerParams } from "../../protocol/droid/params.ts";
import type { Transport } from "../../rpc/transport.ts";
import { answerOf } from "./answers.ts";
import type { Dialect } from "./dialect.ts";
import type { Lines } from "./lines.ts";
import type { ToolFilters } from "./tool-filters.ts";
import type { Translator } from "./translate.ts";
import { createTranslator } from "./translate.ts";

/** Where a prompt came from. */
export interface Origin {
  readonly requestId: string;
  /** The client's own name for the turn. */
  readonly clientMessageId?: string;
  readonly traceparent?: unknown;
}

interface Parts {
  readonly session: Session;
  readonly dialect: Dialect;
  readonly transport: Transport;
  readonly lines: Lines;
  readonly filters: ToolFilters;
  readonly mcpServers: readonly McpServerParams[];
  /** Whether this client can be asked for permissions. */
  readonly approve: boolean;
  /** What happens, for people who read along. */
  onEvent(event: EngineEvent): void;
}

/** The session that a connection works with: what happens in it goes out as lines, in the order in which it happens. */
export class LiveSession {
  readonly session: Session;
  readonly mcpServers: readonly McpServerParams[];
  /** The session as the client knows it by the lines so far: a slow reader is behind. */
  readonly told: SessionState;
  filters: ToolFilters;
  private readonly parts: Parts;
  private readonly attachment: Attachment;
  private readonly translator: Translator;
  private readonly origins = new Map<string, Origin>();
  private readonly turns = new Set<Promise<unknown>>();
  private readonly pumped: Promise<void>;
  /** The message that the model is writing, or wrote last. */
  private replyId: string | undefined;
  private waiters: { readonly seq: number; readonly go: () => void }[] = [];

  constructor(parts: Parts) {
    this.parts = parts;
    this.session = parts.session;
    this.filters = parts.filters;
    this.mcpServers = parts.mcpServers;
    this.told = parts.session.snapshot();
    const { session, dialect } = parts;
    this.translator = createTranslator({
      dialect,
      sessionId: session.id,
      settings: session.settings,
      filters: () => this.filters,
      lastMessageId: session.history().at(-1)?.id,
      usage: session.usage,
      waiting: session.waiting(),
      origin: (messageId) => this.origins.get(messageId),
    });
    this.attachment = parts.session.attach({ approve: parts.approve, answer: true, onDetach: "cancel" });
    this.pumped = this.pump();
  }

  /** Takes a prompt in. It is answered in the moment in which everybody is told that it is accepted. */
  async prompt(content: Parameters<Session["prompt"]>[0], origin: Origin): Promise<void> {
    const { session } = this;
    const { clientMessageId } = origin;
    const isFree = clientMessageId !== undefined && !this.isTaken(clientMessageId);
    const handle = session.prompt(content, {
      // Who names a turn waits for its end, so it gets one of its own.
      joins: clientMessageId === undefined,
      ...(isFree ? { messageId: clientMessageId } : {}),
    });
    this.origins.set(handle.messageId, origin);
    const turn = handle.outcome
      .catch(() => undefined)
      .then(() => this.caughtUp())
      .finally(() => {
        this.turns.delete(turn);
        this.forget(handle.messageId, origin);
      });
    this.turns.add(turn);
    try {
      await handle.accepted;
    } catch (error) {
      this.forget(handle.messageId, origin);
      throw error;
    }
  }

  answer(response: ClientResponse): void {
    const interaction = this.session.openRequests().get(response.id);
    // Late, second and unknown answers change nothing.
    if (interaction !== undefined && interaction.kind !== "tool")
      this.attachment.answer(response.id, answerOf(interaction, response));
  }

  /** Resolves when everything that has happened so far has been sent. */
  caughtUp(): Promise<void> {
    const { seq } = this.session;
    if (this.told.seq >= seq) return Promise.resolve();
    return Promise.race([new Promise<void>((go) => this.waiters.push({ seq, go })), this.pumped]);
  }

  /** Whether this client can be asked for permissions. */
  setApprover(approve: boolean): void {
    this.attachment.change({ approve });
  }

  /** Filters change without an event. */
  tellSettings(): void {
    const { transport, lines } = this.parts;
    for (const message of this.translator.settingsChanged()) transport.send(lines.outgoing(message));
  }

  /** Nobody will answer any more. Resolves when every prompt that was taken in has had its turn. */
  async finish(): Promise<void> {
    this.attachment.change({ approve: false, answer: false });
    while (this.turns.size > 0) await Promise.all(this.turns);
  }

  /** Ends the turn, and drops what waits. Resolves when all of it was sent, `idle` last. */
  async interrupt(): Promise<void> {
    const { transport, lines } = this.parts;
    this.translator.holdEnd();
    try {
      await this.session.interrupt();
    } finally {
      await this.caughtUp();
      for (const message of this.translator.releaseEnd()) transport.send(lines.outgoing(message));
    }
  }

  /** Ends what runs. Resolves when the last of it was sent. */
  async close(): Promise<void> {
    // A log that takes nothing more keeps nobody from leaving; the turn's end says what is wrong.
    await this.interrupt().catch(() => undefined);
    await this.session.close();
    await this.pumped;
  }

  /** The name of a prompt that was discarded may be another one's by now. */
  private forget(messageId: string, origin: Origin): void {
    if (this.origins.get(messageId) === origin) this.origins.delete(messageId);
  }

  private isTaken(messageId: string): boolean {
    const { session, origins } = this;
    if (messageId === "root" || messageId === this.replyId) return true;
    const isWaiting = session.waiting().some((prompt) => prompt.messageId === messageId);
    return origins.has(messageId) || isWaiting || session.history().some(({ id }) => id === messageId);
  }

  private async pump(): Promise<void> {
    const { transport, lines } = this.parts;
    for await (const event of this.attachment.events()) {
      this.parts.onEvent(event);
      const origin = event.type === "prompt.accepted" ? this.origins.get(event.messageId) : undefined;
      if (origin !== undefined) transport.send(lines.result(origin.requestId, {}));
      if (event.type === "model.called") this.replyId = event.messageId;
      // The prompt that has waited longest is the one that gets this turn.
      if (event.type === "turn.started") lines.beginTrace(this.origins.values().next().value?.traceparent);
      for (const message of this.translator.translate(event)) transport.send(lines.outgoing(message));
      if (event.type === "prompt.discarded" || event.type === "prompt.taken") this.origins.delete(event.messageId);
      if (event.seq !== undefined) {
        applyEvent(this.told, event);
        this.letGoUntil(event.seq);
      }
      const room = transport.room();
      if (room !== undefined) await room;
    }
  }

  private letGoUntil(seq: number): void {
    if (this.waiters.length === 0) return;
    const due = this.waiters.filter((waiter) => waiter.seq <= seq);
    this.waiters = this.waiters.filter((waiter) => waiter.seq > seq);
    for (const { go } of due) go();
  }
}
