import { deferred } from "../../async/promises.ts";
import { headAndTail, recordTextLimit } from "../../text/output.ts";
import type { EventBody, SettingsChanges } from "../event.ts";
import type { Answer, Interaction } from "../interaction.ts";
import { levelToAlwaysAllow, type ServerCall } from "../permission.ts";
import type { Clock, Ids } from "../ports.ts";
import { type Autonomy, isAbove, lowerLevel, type SessionSettings } from "../settings.ts";
import type { Abilities } from "./attachment.ts";

interface Open {
  readonly interaction: Interaction;
  /** It is stored and sent. Before that there is nothing to cancel. */
  isTold: boolean;
  /** `told` resolves once all clients have been informed. */
  settle(answer: Answer, told: Promise<void>): void;
}

interface Parts {
  present(): readonly Abilities[];
  emit(body: EventBody): Promise<void>;
  settings(): SessionSettings;
  /** No answer raises the level above it. */
  highestAutonomy(): Autonomy;
  /** The user always allows this server's tool, or all of its tools, from now on. */
  approve(call: ServerCall, scope: "tools" | "server"): void;
  readonly ids: Ids;
  readonly clock: Clock;
}

/** Open requests to the attached clients. Each is settled exactly once: the first answer wins. */
export class Interactions {
  private readonly open = new Map<string, Open>();
  private readonly parts: Parts;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  /** Whether an attached client can answer such a request. */
  canAsk(kind: Interaction["kind"]): boolean {
    return this.parts.present().some((client) => canAnswer(client, kind));
  }

  /** Asks and waits for the answer. `undefined` if no client can answer. An abort or the end of `withinMs` counts as `cancel`. */
  async ask(interaction: Interaction, signal: AbortSignal, withinMs?: number): Promise<Answer | undefined> {
    if (!this.canAsk(interaction.kind)) return undefined;
    const requestId = this.parts.ids.next();
    const answered = deferred<{ answer: Answer; told: Promise<void> }>();
    const opened: Open = {
      interaction,
      isTold: false,
      settle: (answer, told) => answered.resolve({ answer, told }),
    };
    this.open.set(requestId, opened);
    const abort = (): void => void this.settle(requestId, { kind: "cancel", why: "interrupted" });
    try {
      await this.parts.emit({ type: "request.opened", requestId, interaction });
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
    const stopWaiting = withinMs === undefined ? undefined : this.parts.clock.after(withinMs, give);
    const { answer, told } = await answered.promise;
    stopWaiting?.();
    signal.removeEventListener("abort", abort);
    await told;
    return answer;
  }

  /** True if this answer won. Takes effect synchronously. */
  settle(requestId: string, given: Answer): boolean {
    const open = this.open.get(requestId);
    if (open === undefined) return false;
    const answer = withinRecord(given);
    this.open.delete(requestId);
    this.approve(open.interaction, answer);
    const changes = changesWith(open.interaction, answer, this.parts.settings(), this.parts.highestAutonomy());
    const changed = changes === undefined ? {} : { changes };
    const told = this.parts.emit({ type: "request.closed", requestId, answer, ...changed });
    // The asker gets the error; no one else can react.
    told.catch(() => undefined);
    open.settle(answer, told);
    return true;
  }

  private approve(interaction: Interaction, answer: Answer): void {
    if (answer.kind !== "allow" || answer.always === undefined || answer.always === false) return;
    if (interaction.kind !== "permission") return;
    const scope = answer.always === "server" ? "server" : "tools";
    for (const { decision } of interaction.calls) {
      if (decision.server !== undefined) this.parts.approve(decision.server, scope);
    }
  }

  /** Cancels requests that no client can answer any more. */
  cancelUnanswerable(): void {
    for (const [requestId, { interaction, isTold }] of this.open) {
      if (isTold && !this.canAsk(interaction.kind))
        this.settle(requestId, { kind: "cancel", why: "no client is connected that can answer" });
    }
  }
}

const cut = (skipped: number): string => `[... ${skipped} characters of the answer were omitted ...]`;

/** An answer too large to store would leave its request open, so the middle of a huge one is cut. */
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
