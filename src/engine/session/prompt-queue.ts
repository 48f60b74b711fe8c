import { textStart } from "../../text/text-cut.ts";
import { AgentError } from "../errors.ts";
import type { PromptBlock } from "../message.ts";
import { noUsage, textOf } from "../message.ts";
import type { TurnLimits } from "../settings.ts";
import type { TurnOutcome } from "../turn/turn-outcome.ts";

export interface QueuedPrompt {
  readonly messageId: string;
  readonly limits: TurnLimits;
  /** In characters. */
  readonly size: number;
  /** Left by an earlier process. It joins the next turn instead of getting its own. */
  leftover: boolean;
  /** It came while the live turn's calls ran, and can join that turn. */
  readonly joins: boolean;
  /** Stored in the log. */
  stored: boolean;
  settle(outcome: TurnOutcome): void;
}

const most = { waiting: 100, characters: 10_000_000, waitingCharacters: 50_000_000 };

/** Accepted prompts that no turn has taken yet, in order. */
export class PromptQueue {
  private entries: QueuedPrompt[] = [];
  private readonly maxWaiting: number;

  constructor(maxWaiting = most.waiting) {
    this.maxWaiting = maxWaiting;
  }

  /** The number of waiting prompts, without those of an earlier process. */
  get length(): number {
    return this.entries.filter((entry) => !entry.leftover).length;
  }

  /** Throws if a prompt is too large, or too much is waiting. */
  checkRoomFor({ size }: QueuedPrompt): void {
    const waiting = this.entries.reduce((sum, entry) => sum + entry.size, 0);
    const isCrowded = this.length >= this.maxWaiting;
    if (!isCrowded && size > most.characters) {
      const words = `The prompt has ${size} characters; the limit is ${most.characters / 1_000_000} million.`;
      throw new AgentError("input_too_large", words);
    }
    if (!isCrowded && waiting + size <= most.waitingCharacters) return;
    const words = isCrowded ? `${this.maxWaiting} prompts are` : `${waiting} characters are`;
    throw new AgentError("queue_full", `${words} already waiting. Wait for one to end.`);
  }

  add(entry: QueuedPrompt): void {
    this.entries.push(entry);
  }

  remove(entry: QueuedPrompt): void {
    this.entries = this.entries.filter((other) => other !== entry);
  }

  /** 1-based; 0 if it no longer waits. */
  position(entry: QueuedPrompt): number {
    return this.entries.indexOf(entry) + 1;
  }

  /** The next prompt for a turn, after the leftovers before it. Empty if there is none. */
  takeForTurn(): readonly QueuedPrompt[] {
    const own = this.entries.findIndex((entry) => !entry.leftover);
    // A prompt that is not stored yet may turn out to be too large.
    return this.entries[own]?.stored === true ? this.entries.splice(0, own + 1) : [];
  }

  /** Treats prompts of an earlier process as new. */
  adopt(): void {
    for (const entry of this.entries) entry.leftover = false;
  }

  /** Those that can join the live turn, up to the first that does not fit: it gets its own turn, and keeps its place. */
  takeJoining(fits: (messageId: string) => boolean): readonly QueuedPrompt[] {
    let isPast = false;
    return this.takeWhere((entry) => {
      if (isPast || !entry.joins || !entry.stored) return false;
      isPast = !fits(entry.messageId);
      return !isPast;
    });
  }

  /** Removes all except leftovers. */
  drop(): readonly QueuedPrompt[] {
    return this.takeWhere((entry) => !entry.leftover);
  }

  private takeWhere(isTaken: (entry: QueuedPrompt) => boolean): readonly QueuedPrompt[] {
    const taken = new Set(this.entries.filter(isTaken));
    this.entries = this.entries.filter((entry) => !taken.has(entry));
    return [...taken];
  }
}

/** A prompt that an earlier process accepted. No caller in this process waits for its outcome. */
export function leftoverPrompt(messageId: string): QueuedPrompt {
  const settle = (): void => undefined;
  return { messageId, limits: {}, size: 0, leftover: true, joins: false, stored: true, settle };
}

export function sizeOf(content: readonly PromptBlock[]): number {
  return content.reduce((sum, block) => sum + ("text" in block ? block.text.length : block.data.length), 0);
}

/** The outcome of a prompt that no turn took. */
export function notRun(cause?: AgentError): TurnOutcome {
  const nothing = { turnId: "", finalText: "", usage: noUsage, modelCalls: 0, denials: [], durationMs: 0 };
  if (cause?.code === "timeout") return { ...nothing, reason: "limit", failure: cause.failure };
  const message = "The prompt was dropped before it ran.";
  return { ...nothing, reason: "interrupted", failure: { code: "interrupted", message } };
}

const maxTitleCharacters = 150;

/** The session's title from its first prompt. */
export function titleFrom(content: readonly PromptBlock[]): string {
  const line = textOf(content).replace(/\s+/g, " ").trim();
  return line === "" ? "(no text)" : shortTitle(line);
}

export function shortTitle(line: string): string {
  if (line.length <= maxTitleCharacters) return line;
  return `${textStart(line, maxTitleCharacters)}...`;
}
