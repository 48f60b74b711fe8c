import type { SessionState } from "../log/history.ts";
import type { PromptBlock } from "../message.ts";
import { noUsage } from "../message.ts";
import type { Ids } from "../ports.ts";
import type { TurnLimits } from "../settings.ts";
import type { TurnOutcome } from "../turn/turn-outcome.ts";

export interface PromptOptions {
  /**
   * The sender's own id for the prompt. If a prompt of that id is known and is the same, it was sent twice: it runs once, and
   * both hear of it. If the id is anything else's, the prompt gets another one.
   */
  readonly messageId?: string;
  /** While calls of the live turn run: the prompt becomes part of that turn after their results, if the turn goes on. */
  readonly joins?: boolean;
  readonly limits?: TurnLimits;
}

export interface PromptHandle {
  /** Of the message that the prompt becomes. */
  readonly messageId: string;
  /** It had been sent before. */
  readonly isRepeated?: true;
  /** Resolves when the prompt is in the log: from then on it is not lost. Rejects when it was not taken. */
  readonly accepted: Promise<{ readonly messageId: string }>;
  /** The end of the turn that took the prompt up. Rejects only when `accepted` does. */
  readonly outcome: Promise<TurnOutcome>;
}

interface Sent {
  readonly content: readonly PromptBlock[];
  readonly handle: PromptHandle;
}

/** Prompts by their ids, from the moment in which they are sent: nothing can come between the question and the answer. */
export class SentPrompts {
  private readonly sent = new Map<string, Sent>();
  private readonly beingStored = new Set<Promise<unknown>>();
  private readonly state: SessionState;
  private readonly ids: Ids;

  constructor(state: SessionState, ids: Ids) {
    this.state = state;
    this.ids = ids;
  }

  /** The same prompt, if it was sent before under this id. */
  repeated(messageId: string | undefined, content: readonly PromptBlock[]): PromptHandle | undefined {
    if (messageId === undefined) return undefined;
    const sent = this.sent.get(messageId);
    if (sent !== undefined) return isSame(sent.content, content) ? { ...sent.handle, isRepeated: true } : undefined;
    const stored = this.state.waiting.get(messageId)?.content ?? this.said(messageId);
    if (stored === undefined || !isSame(stored, content)) return undefined;
    const accepted = Promise.resolve({ messageId });
    return { messageId, isRepeated: true, accepted, outcome: Promise.resolve(endedBefore) };
  }

  /** An id for a new prompt: the wanted one, if nothing else has it. */
  idFor(wanted: string | undefined): string {
    const isTaken = (id: string): boolean =>
      this.sent.has(id) || this.state.waiting.has(id) || this.state.messages.some((message) => message.id === id);
    return wanted === undefined || isTaken(wanted) ? this.ids.next() : wanted;
  }

  /** Keeps a prompt until its turn has ended; from then on the history has it. */
  add(content: readonly PromptBlock[], handle: PromptHandle): void {
    const { messageId } = handle;
    this.sent.set(messageId, { content, handle });
    const forget = (): void => void this.sent.delete(messageId);
    handle.outcome.then(forget, forget);
    const stored = handle.accepted.catch(() => undefined).finally(() => this.beingStored.delete(stored));
    this.beingStored.add(stored);
  }

  /** Resolves when the prompts that are being stored are, or were refused; `undefined` when there are none. */
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

/** Of a prompt whose turn is no longer known in detail. */
const endedBefore: TurnOutcome = {
  turnId: "",
  reason: "completed",
  finalText: "",
  usage: noUsage,
  modelCalls: 0,
  denials: [],
  durationMs: 0,
};
