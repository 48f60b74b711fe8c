import { headAndTail, recordTextLimit } from "../../text/output.ts";
import type { EventBody, SettingsChanges } from "../event.ts";
import type { Answer, Interaction } from "../interaction.ts";
import { levelToAlwaysAllow } from "../permission.ts";
import type { Clock, Ids } from "../ports.ts";
import { type Autonomy, isAbove, lowerLevel, type SessionSettings } from "../settings.ts";
import type { Abilities } from "./attachment.ts";

interface Open {
  readonly interaction: Interaction;
  /** It is stored and was told: before that there is nothing to cancel. */
  isTold: boolean;
  /** `told`: everybody has been told. */
  settle(answer: Answer, told: Promise<void>): void;
}

/** Open requests to whoever is attached. Each is settled exactly once: the first answer wins. */
export class Interactions {
  private readonly open = new Map<string, Open>();
  private readonly present: () => readonly Abilities[];
  private readonly emit: (body: EventBody) => Promise<void>;
  private readonly settings: () => SessionSettings;
  private readonly highestAutonomy: () => Autonomy;
  private readonly ids: Ids;
  private readonly clock: Clock;

  constructor(parts: {
    present: () => readonly Abilities[];
    emit: (body: EventBody) => Promise<void>;
    settings: () => SessionSettings;
    /** No answer raises the level above it. */
    highestAutonomy: () => Autonomy;
    ids: Ids;
    clock: Clock;
  }) {
    this.present = parts.present;
    this.emit = parts.emit;
    this.settings = parts.settings;
    this.highestAutonomy = parts.highestAutonomy;
    this.ids = parts.ids;
    this.clock = parts.clock;
  }

  /** Whether anybody attached can answer such a request. */
  canAsk(kind: Interaction["kind"]): boolean {
    return this.present().some((client) => canAnswer(client, kind));
  }

  /** Asks, and waits for the answer. `undefined` when nobody can be asked. An abort is a `cancel`, and so is the end of `withinMs`. */
  async ask(interaction: Interaction, signal: AbortSignal, withinMs?: number): Promise<Answer | undefined> {
    if (!this.canAsk(interaction.kind)) return undefined;
    const requestId = this.ids.next();
    let settle: Open["settle"] = () => undefined;
    const answered = new Promise<{ answer: Answer; told: Promise<void> }>((resolve) => {
      settle = (answer, told) => resolve({ answer, told });
    });
    const opened: Open = { interaction, isTold: false, settle };
    this.open.set(requestId, opened);
    const abort = (): void => void this.settle(requestId, { kind: "cancel", why: "interrupted" });
    try {
      await this.emit({ type: "request.opened", requestId, interaction });
    } catch (error) {
      this.open.delete(requestId);
      throw error;
    }
    opened.isTold = true;
    this.cancelUnanswerable();
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    const give = (): void =>
      void this.settle(requestId, { kind: "cancel", why: `no answer came within ${Number(withinMs) / 1_000} s` });
    const stopWaiting = withinMs === undefined ? undefined : this.clock.after(withinMs, give);
    const { answer, told } = await answered;
    stopWaiting?.();
    signal.removeEventListener("abort", abort);
    await told;
    return answer;
  }

  /** True when this answer won. It happens here and now: whatever is changed afterwards comes after it. */
  settle(requestId: string, given: Answer): boolean {
    const open = this.open.get(requestId);
    if (open === undefined) return false;
    const answer = withinRecord(given);
    this.open.delete(requestId);
    const changes = changesWith(open.interaction, answer, this.settings(), this.highestAutonomy());
    const told = this.emit({
      type: "request.closed",
      requestId,
      answer,
      ...(changes === undefined ? {} : { changes }),
    });
    // Whoever asked hears of it; nobody else can do anything about it.
    told.catch(() => undefined);
    open.settle(answer, told);
    return true;
  }

  /** Somebody left: what nobody can answer any more is cancelled. */
  cancelUnanswerable(): void {
    for (const [requestId, { interaction, isTold }] of this.open) {
      if (isTold && !this.canAsk(interaction.kind))
        this.settle(requestId, { kind: "cancel", why: "nobody is there to answer" });
    }
  }
}

const cut = (skipped: number): string => `[... ${skipped} characters of the answer were left out ...]`;

/** An answer that could not be stored would leave its request open for ever, so the middle of a huge one is left out. */
function withinRecord(answer: Answer): Answer {
  const short = (text: string, parts = 1): string => headAndTail(text, Math.floor(recordTextLimit / parts), cut);
  if (answer.kind === "result") return { ...answer, text: short(answer.text) };
  if (answer.kind === "cancel" && answer.why !== undefined) return { ...answer, why: short(answer.why) };
  if (answer.kind !== "answers") return answer;
  const { answers } = answer;
  return { ...answer, answers: answers.map((one) => ({ ...one, answer: short(one.answer, answers.length) })) };
}

function canAnswer(client: Abilities, kind: Interaction["kind"]): boolean {
  if (kind === "tool") return client.runTools === true;
  return kind === "question" ? client.answer : client.approve;
}

/** The settings that change with an answer. */
function changesWith(
  interaction: Interaction,
  answer: Answer,
  { autonomy }: SessionSettings,
  most: Autonomy,
): SettingsChanges | undefined {
  if (answer.kind === "approve") return { mode: "auto", autonomy: lowerLevel(answer.autonomy, most) };
  if (answer.kind !== "allow" || answer.always !== true || interaction.kind !== "permission") return undefined;
  const wanted = levelToAlwaysAllow(interaction.calls.map(({ decision }) => decision)) ?? autonomy;
  const level = lowerLevel(wanted, most);
  return isAbove(level, autonomy) ? { autonomy: level } : undefined;
}
