import type { SessionState } from "../log/history.ts";
import type { PromptBlock } from "../message.ts";
import { noUsage } from "../message.ts";
import type { Ids } from "../ports.ts";
import type { TurnLimits } from "../settings.ts";
import type { TurnOutcome } from "../turn/turn-outcome.ts";

export interface PromptOptions {
  /**
   * The sender's id for the prompt. The same prompt sent twice with the same id runs once, and both callers get its outcome.
   * If the id is taken by something else, the prompt gets a new one.
   */
  readonly messageId?: string;
  /** If calls of the live turn are running: the prompt joins that turn after their results. */
  readonly joins?: boolean;
  readonly limits?: TurnLimits;
}

export interface PromptHandle {
  /** The id of the prompt's message. */
  readonly messageId: string;
  /** It was sent before. */
  readonly isRepeated?: true;
  /** Resolves once the prompt is stored. Rejects if it was refused. */
  readonly accepted: Promise<{ readonly messageId: string }>;
  /** The outcome of the prompt's turn. Rejects only if `accepted` does. */
  readonly outcome: Promise<TurnOutcome>;
}

interface Sent {
  readonly content: readonly PromptBlock[];
  readonly handle: PromptHandle;
}

/** Sent prompts by id, known synchronously from the moment of sending. */
export class SentPrompts {
  private readonly sent = new Map<string, Sent>();
  private readonly beingStored = new Set<Promise<unknown>>();
  private readonly state: SessionState;
  private readonly ids: Ids;

  constructor(state: SessionState, ids: Ids) {
    this.state = state;
    this.ids = ids;
  }

  /** The handle of the same prompt, if sent before under this id. */
  repeated(messageId: string | undefined, content: readonly PromptBlock[]): PromptHandle | undefined {
    if (messageId === undefined) return undefined;
    const sent = this.sent.get(messageId);
    if (sent !== undefined) return isSame(sent.content, content) ? { ...sent.handle, isRepeated: true } : undefined;
    const stored = this.state.waiting.get(messageId)?.content ?? this.said(messageId);
    if (stored === undefined || !isSame(stored, content)) return undefined;
    const accepted = Promise.resolve({ messageId });
    return { messageId, isRepeated: true, accepted, outcome: Promise.resolve(endedBefore) };
  }

  /** The wanted id for a new prompt, or a fresh one if it is taken. */
  idFor(wanted: string | undefined): string {
    const isTaken = (id: string): boolean =>
      this.sent.has(id) || this.state.waiting.has(id) || this.state.messages.some((message) => message.id === id);
    return wanted === undefined || isTaken(wanted) ? this.ids.next() : wanted;
  }

  /** Keeps a prompt until its turn ends. After that it is in the history. */
  add(content: readonly PromptBlock[], handle: PromptHandle): void {
    const { messageId } = handle;
    this.sent.set(messageId, { content, handle });
    const forget = (): void => void this.sent.delete(messageId);
    handle.outcome.then(forget, forget);
    const stored = handle.accepted.catch(() => undefined).finally(() => this.beingStored.delete(stored));
    this.beingStored.add(stored);
  }

  /** Resolves once all prompts being stored are stored or refused; `undefined` if there are none. */
  storing(): Promise<unknown> | undefined {
    return this.beingStored.size === 0 ? undefined : Promise.all(this.beingStored);
  }

  private said(messageId: string): readonly PromptBlock[] | undefined {
    const message = this.state.messages.find(({ id, role }) => id === messageId && role === "user");
    return message?.role === "user" ? message.content.filter((block) => block.type !== "reminder") : undefined;
  }
}

function isSame(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

/** The outcome of a turn that is no longer known in detail. */
const endedBefore: TurnOutcome = {
  turnId: "",
  reason: "completed",
  finalText: "",
  usage: noUsage,
  modelCalls: 0,
  denials: [],
  durationMs: 0,
};
