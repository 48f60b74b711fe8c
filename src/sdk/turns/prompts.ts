import { onAbort } from "../../async/on-abort.ts";
import { createGate, type Gate } from "../../rpc/gate.ts";
import type { Fields } from "../../text/values.ts";
import type { PromptOptions, Turn } from "../api.ts";
import type { Limits } from "../connection/limits.ts";
import type { RequestOptions, RpcFailure } from "../connection/peer.ts";
import { createTimers } from "../connection/timers.ts";
import { BackendGoneError, BusyError, ClosedError, TimeoutError } from "../errors.ts";
import type { TurnEvent } from "../types.ts";
import { createInterrupt, type Interrupt } from "./interrupt.ts";
import { createLeftovers } from "./leftovers.ts";
import { createOtherTurns, type SentPrompt } from "./other-turns.ts";
import { newId, notRun, promptParams } from "./prompt-params.ts";
import { createTurn, type RunningTurn } from "./turn.ts";
import { createTurnWatch, type TurnWatch } from "./turn-end.ts";

interface Parts {
  readonly limits: Limits;
  readonly whenBusy: "queue" | "refuse";
  request(method: string, params: object, options: RequestOptions): Promise<Fields>;
  takeUnfinishedText(): string | undefined;
  /** The backend waits for our answer, so its silence is expected. */
  isAnswerDue(): boolean;
  /** A turn has ended, for listeners to all events. */
  ended(event: TurnEvent): void;
  /** A prompt is sent: earlier text does not belong to its turn. */
  begins(): void;
  /** No turn is running, or an unwanted one: its questions can be closed. */
  over(): void;
}

interface Entry extends SentPrompt {
  readonly params: object;
  readonly running: RunningTurn;
  watch: TurnWatch;
  /** Set when the prompt is sent. */
  requestId: string | undefined;
  /** Opens when the backend has accepted or refused the prompt. */
  readonly answered: Gate;
  /** Aborted when the backend's answer is no longer awaited. */
  readonly leftBehind: AbortController;
  readonly interrupt: Interrupt;
  isAnswered: boolean;
  isStopped: boolean;
  ignoreSignal(): void;
}

/** Timers paused while the caller holds the backend up. The whole turn's timer keeps running. */
type TimerName = "others" | "begin" | "silence" | "grace" | "drain";

/** How long to wait for the end of an unwanted turn. */
const drainMs = 10_000;

/** The prompts of a session: one turn at a time, each with one end. */
export class Prompts {
  private readonly parts: Parts;
  private readonly limits: Limits;
  private readonly queue: Entry[] = [];
  private readonly timers = createTimers<TimerName>();
  private readonly wholeTurn = createTimers<"turn">();
  private readonly leftovers = createLeftovers();
  private readonly others = createOtherTurns();
  private current: Entry | undefined;
  private isHeldUp = false;
  private failure: { readonly error: unknown } | undefined;

  constructor(parts: Parts) {
    this.parts = parts;
    this.limits = parts.limits;
  }

  stream(text: string, options: PromptOptions): Turn {
    if (typeof text !== "string") throw new TypeError("A prompt must be a string.");
    const { current, failure } = this;
    const entry = this.entryOf(text, options);
    // After a stopped or abandoned turn a prompt always waits.
    const isOver = current?.isStopped === true || current?.running.isSettled === true;
    const isBusy = (current !== undefined && !isOver) || this.others.atWork === "foreign" || this.queue.length > 0;
    const refusal = failure ?? (options.signal?.aborted === true ? { error: options.signal.reason } : undefined);
    if (refusal !== undefined || (isBusy && this.parts.whenBusy === "refuse")) {
      entry.ignoreSignal();
      entry.running.fail(refusal === undefined ? new BusyError("A turn is already running.") : refusal.error);
      return entry.running.turn;
    }
    this.queue.push(entry);
    current?.running.runOn();
    this.startNext();
    return entry.running.turn;
  }

  /** `characters`: the length of the line that the events came in. */
  see(notification: Fields, events: readonly TurnEvent[], characters: number) {
    const entry = this.sent();
    if (this.others.see(notification, entry)) return this.startNext();
    if (entry === undefined) return;
    const own = this.leftovers.without(events);
    // The turn continues, although the backend reported its end.
    if (own.some(({ type }) => type === "text" || type === "thinking")) this.timers.disarm("grace");
    entry.interrupt.see(own);
    entry.watch.see(notification, own);
    if (entry.watch.isAlive) entry.answered.open();
    for (const event of own) if (!entry.running.isSettled) entry.running.push(event, characters);
    if (entry.watch.isAlive) this.timers.disarm("begin");
    if (this.timers.has("silence")) this.watchSilence(entry);
    this.check(entry);
  }

  /** An error that no request waits for. True if it belongs to the running prompt. */
  strayError(error: RpcFailure, requestId: string | undefined): boolean {
    const entry = this.sent();
    if (entry === undefined || entry.watch.isAlive) return false;
    if (requestId !== undefined && requestId !== entry.requestId) return false;
    entry.watch.noteFailure({ message: error.message });
    this.check(entry);
    return true;
  }

  /** A permission was refused in the running turn. */
  noteRefusal(): void {
    this.atWork()?.watch.noteRefusal();
  }

  /** A question proves that the turn is running, despite any reported end. */
  noteQuestion() {
    const entry = this.atWork();
    if (entry === undefined) return this.startNext();
    entry.watch.noteQuestion();
    this.timers.disarm("grace", "begin");
  }

  /** The current or last turn was stopped or abandoned. */
  get isUnwanted(): boolean {
    return this.atWork()?.isStopped ?? this.others.isLastUnwanted;
  }

  /** The backend got the answer that it waited for. */
  noteAnswer(): void {
    if (this.current === undefined) this.startNext();
    else if (this.timers.has("silence")) this.watchSilence(this.current);
  }

  /** A turn that none of these prompts began is running; `idle` ends it. */
  noteForeignTurn(): void {
    this.others.begin("foreign");
  }

  forgetForeignTurn(): void {
    this.others.forget("foreign");
    this.startNext();
  }

  /** A prompt sent by other means, by the id of its message or request. */
  noteOther(name: string | undefined): void {
    this.others.note(name, "foreign");
  }

  async interrupt({ signal }: { readonly signal?: AbortSignal | undefined }): Promise<void> {
    for (const entry of this.queue.splice(0)) this.end(entry);
    if (this.current !== undefined) await this.stop(this.current, signal);
    else if (this.others.atWork === "foreign") await this.interruptBackend(signal, false);
  }

  fail(error: unknown): void {
    const { current } = this;
    this.failure ??= { error };
    current?.answered.open();
    for (const entry of [...(current === undefined ? [] : [current]), ...this.queue.splice(0)]) {
      entry.ignoreSignal();
      entry.running.fail(error);
    }
    this.current = undefined;
    this.disarmAll();
  }

  hold(): Promise<void> | undefined {
    const hold = this.current?.running.hold();
    if (hold !== undefined && !this.isHeldUp) void this.standStill();
    return hold;
  }

  get isBusy(): boolean {
    return this.current !== undefined || this.others.atWork === "foreign" || this.queue.length > 0;
  }

  /** While the caller holds the backend up, its messages are unread and cannot be late. */
  private async standStill(): Promise<void> {
    this.isHeldUp = true;
    this.timers.stop();
    const held = () => this.current?.running.hold();
    for (let hold = held(); hold !== undefined; hold = held()) await hold;
    this.isHeldUp = false;
    this.timers.goOn();
  }

  private sent(): Entry | undefined {
    return this.current?.requestId === undefined ? undefined : this.current;
  }

  /** The prompt whose turn is running, as far as can be known. */
  private atWork(): Entry | undefined {
    return this.others.atWork === undefined ? this.sent() : undefined;
  }

  private disarmAll(): void {
    this.timers.disarmAll();
    this.wholeTurn.disarmAll();
  }

  private startNext() {
    if (this.current !== undefined) return;
    if (this.others.atWork === "foreign") return this.waitForOthers();
    this.timers.disarm("others");
    const entry = this.queue.shift();
    if (entry !== undefined) this.start(entry);
  }

  private start(entry: Entry): void {
    this.current = entry;
    this.parts.begins();
    this.wholeTurn.arm("turn", this.limits.turn, () => this.giveUp(entry, "did not come to an end", this.limits.turn));
    const how: RequestOptions = {
      timeoutMs: this.limits.request,
      signal: entry.leftBehind.signal,
      onSent: (id) => {
        entry.requestId = id;
      },
      isPatient: () => entry.watch.isAlive,
    };
    this.parts
      .request("droid.add_user_message", entry.params, how)
      .then(
        () => this.accepted(entry),
        (error: unknown) => this.refused(entry, error),
      )
      .finally(() => entry.answered.open());
  }

  private accepted(entry: Entry): void {
    if (this.current !== entry) return;
    entry.isAnswered = true;
    entry.answered.open();
    if (entry.isStopped) return;
    if (!entry.watch.isAlive) this.waitForBegin(entry);
    this.watchSilence(entry);
  }

  private refused(entry: Entry, error: unknown) {
    if (this.current !== entry) return;
    // Some backends answer late or never, but still run the turn.
    if (error instanceof TimeoutError && entry.watch.isAlive) return this.accepted(entry);
    if (error instanceof TimeoutError || entry.watch.isAlive) this.leaveBehind(entry);
    this.finishWith(entry, () => entry.running.fail(error));
  }

  /** As long as a foreign turn sends events or waits for an answer. */
  private waitForOthers(): void {
    if (this.queue.length === 0) return;
    const { begin } = this.limits;
    this.timers.arm("others", begin, () => {
      const [first] = this.parts.isAnswerDue() ? [] : this.queue;
      if (first !== undefined) {
        this.abandon(first, new TimeoutError(`The turn that ran before did not end within ${begin} ms.`));
      }
      this.startNext();
    });
  }

  private waitForBegin(entry: Entry): void {
    this.timers.arm("begin", this.limits.begin, () => this.giveUp(entry, "began nothing", this.limits.begin));
  }

  private watchSilence(entry: Entry): void {
    this.timers.arm("silence", this.limits.silence, () => {
      if (this.parts.isAnswerDue()) this.watchSilence(entry);
      else this.giveUp(entry, "said nothing", this.limits.silence);
    });
  }

  /** The backend may still run it later: that turn is unwanted. */
  private leaveBehind(entry: Entry): void {
    entry.leftBehind.abort();
    this.interruptBackend(undefined, true).catch(() => {});
  }

  private giveUp(entry: Entry, what: string, ms: number): void {
    this.abandon(entry, new TimeoutError(`The backend ${what} within ${ms} ms.`));
  }

  /** Rejects at once; the next prompt waits until the backend has ended the turn. */
  private abandon(entry: Entry, error: unknown): void {
    entry.running.fail(error);
    void this.stop(entry).catch(() => {});
  }

  private async stop(entry: Entry, signal?: AbortSignal): Promise<void> {
    const at = this.queue.indexOf(entry);
    if (at !== -1) {
      this.queue.splice(at, 1);
      this.end(entry);
      return;
    }
    if (this.current !== entry) return;
    entry.isStopped = true;
    if (entry.requestId === undefined) {
      entry.leftBehind.abort();
      this.finishWith(entry, () => this.end(entry));
      return;
    }
    entry.watch.noteInterrupt();
    this.parts.over();
    this.check(entry);
    if (this.current !== entry) return;
    this.timers.disarm("begin", "silence");
    this.wholeTurn.disarm("turn");
    // A second stop does not restart the wait.
    if (!this.timers.has("drain")) {
      this.timers.arm("drain", drainMs, () => {
        this.leaveBehind(entry);
        this.finish(entry);
      });
    }
    // A prompt that was not accepted yet cannot be interrupted.
    if (!entry.isAnswered && !entry.watch.isAlive) await entry.answered.wait();
    if (this.current !== entry) return;
    await entry.interrupt.send(signal);
  }

  /** Also resolves if the backend is gone, because then nothing runs. */
  private async interruptBackend(signal: AbortSignal | undefined, isUrgent: boolean): Promise<void> {
    const how = { timeoutMs: this.limits.request, signal, isUrgent };
    await this.parts.request("droid.interrupt_session", {}, how).catch((error: unknown) => {
      if (!(error instanceof BackendGoneError || error instanceof ClosedError)) throw error;
    });
  }

  private check(entry: Entry): void {
    const { phase } = entry.watch;
    if (phase === "over") this.finish(entry);
    else if (phase === "running") this.timers.disarm("grace");
    else if (!this.timers.has("grace")) {
      this.timers.arm("grace", Math.max(1, this.limits.grace), () => this.finish(entry));
    }
  }

  private finish(entry: Entry): void {
    const unfinished = this.parts.takeUnfinishedText();
    this.finishWith(entry, () => this.end(entry, entry.watch.result(unfinished)));
  }

  private end(entry: Entry, result = notRun(entry.id)): void {
    entry.ignoreSignal();
    const event: TurnEvent = { type: "end", result };
    if (!entry.running.isSettled) entry.running.push(event, 0);
    entry.running.end(result);
    this.parts.ended(event);
  }

  private finishWith(entry: Entry, how: () => void): void {
    if (this.current !== entry) return;
    this.disarmAll();
    entry.ignoreSignal();
    this.current = undefined;
    entry.answered.open();
    this.leftovers.note(entry.watch);
    if (!entry.isStopped && !entry.leftBehind.signal.aborted) this.others.noteWanted();
    else if (entry.requestId !== undefined) {
      this.others.leave(entry, entry.watch.isAlive && entry.watch.phase === "running");
    }
    this.parts.over();
    how();
    this.startNext();
  }

  private entryOf(text: string, options: PromptOptions): Entry {
    const { id = newId(), signal } = options;
    const stop = (): Promise<void> => this.stop(entry);
    const entry: Entry = {
      id,
      params: promptParams(text, id, options),
      running: createTurn(id, stop, () => void stop().catch(() => {})),
      watch: createTurnWatch(id),
      requestId: undefined,
      answered: createGate(),
      leftBehind: new AbortController(),
      interrupt: createInterrupt((given) => this.interruptBackend(given, true), this.limits.grace),
      isAnswered: false,
      isPromptSeen: false,
      isStopped: false,
      ignoreSignal: onAbort(signal, () => this.abandon(entry, signal?.reason)),
      begin: () => {
        this.leftovers.note(entry.watch);
        entry.watch = createTurnWatch(id);
        if (entry.isStopped) entry.watch.noteInterrupt();
        else if (entry.isAnswered) this.waitForBegin(entry);
      },
    };
    return entry;
  }
}
