import { onAbort } from "../../async/on-abort.ts";
import { createGate, type Gate } from "../../rpc/gate.ts";
import type { Fields } from "../../text/values.ts";
import type { PromptOptions, Turn } from "../api.ts";
import type { Limits } from "../connection/limits.ts";
import type { RequestOptions, RpcFailure } from "../connection/peer.ts";
import { createTimers } from "../connection/timers.ts";
import { BackendGoneError, BusyError, ClosedError, TimeoutError } from "../errors.ts";
import type { TurnEvent, TurnResult } from "../types.ts";
import { createInterrupt, type Interrupt } from "./interrupt.ts";
import { createLeftovers } from "./leftovers.ts";
import { newId } from "./new-id.ts";
import { createOtherTurns, type SentPrompt } from "./other-turns.ts";
import { promptParams } from "./prompt-params.ts";
import { createTurn, type RunningTurn } from "./turn.ts";
import { createTurnWatch, type TurnWatch } from "./turn-end.ts";

/** The prompts of a session: one turn at a time, each with one end. */
export interface Prompts {
  stream(text: string, options: PromptOptions): Turn;
  /** What was said in a line of so many characters. */
  see(notification: Fields, events: readonly TurnEvent[], characters: number): void;
  /** An error for nobody that waits; whether it is the running prompt's. */
  strayError(error: RpcFailure, requestId: string | undefined): boolean;
  /** A no was given to the running turn. */
  noteRefusal(): void;
  /** The backend asks something: whatever it said, the turn runs. */
  noteQuestion(): void;
  /** Whether nobody wants the turn any more that is at work, or was last. */
  readonly isUnwanted: boolean;
  /** The backend got what it waited for. */
  noteAnswer(): void;
  /** A turn that none of these prompts began is running; `idle` ends it. */
  noteForeignTurn(): void;
  /** There was none, after all. */
  forgetForeignTurn(): void;
  /** A prompt that is none of these, by the id of its message or of its request: its turn is not one of theirs. */
  noteOther(name: string | undefined): void;
  interrupt(options: { readonly signal?: AbortSignal | undefined }): Promise<void>;
  fail(error: unknown): void;
  hold(): Promise<void> | undefined;
  readonly isBusy: boolean;
}

interface Parts {
  readonly limits: Limits;
  readonly whenBusy: "queue" | "refuse";
  request(method: string, params: object, options: RequestOptions): Promise<Fields>;
  takeUnfinishedText(): string | undefined;
  /** The backend waits for an answer of this side: it need not say anything. */
  isAnswerDue(): boolean;
  /** The end of a turn, for those who listen to all events. */
  ended(event: TurnEvent): void;
  /** A prompt goes out: what was told before is not of its turn. */
  begins(): void;
  /** No turn runs any more, or nobody wants it: nobody waits for what it asked. */
  over(): void;
}

interface Entry extends SentPrompt {
  readonly params: object;
  readonly running: RunningTurn;
  watch: TurnWatch;
  /** What was not sent has none, and cannot be alive. */
  requestId: string | undefined;
  /** Ends whatever was set up for it. */
  readonly release: (() => void)[];
  /** Whether the backend has taken the prompt, or refused it. */
  readonly answered: Gate;
  /** Aborted when its answer is not waited for any more. */
  readonly leftBehind: AbortController;
  isAnswered: boolean;
  isStopped: boolean;
  readonly interrupt: Interrupt;
}

/** These wait for the backend, and the turn's own time does not care for what. */
type TimerName = "others" | "begin" | "silence" | "grace" | "drain";

/** How long the end of a turn is waited for that nobody wants any more. */
const drainMs = 10_000;

export function createPrompts(parts: Parts): Prompts {
  const { limits } = parts;
  const queue: Entry[] = [];
  const timers = createTimers<TimerName>();
  const wholeTurn = createTimers<"turn">();
  const leftovers = createLeftovers();
  const others = createOtherTurns();
  let current: Entry | undefined;
  let isHeldUp = false;
  let failure: { readonly error: unknown } | undefined;

  /** While the caller takes his time, what the backend says lies unread: it cannot be late. */
  async function standStill(): Promise<void> {
    isHeldUp = true;
    timers.stop();
    for (let hold = current?.running.hold(); hold !== undefined; hold = current?.running.hold()) await hold;
    isHeldUp = false;
    timers.goOn();
  }

  const sent = (): Entry | undefined => (current?.requestId === undefined ? undefined : current);
  /** The prompt whose turn is at work, as far as can be known. */
  const atWork = (): Entry | undefined => (others.atWork === undefined ? sent() : undefined);

  function disarmAll(): void {
    timers.disarmAll();
    wholeTurn.disarmAll();
  }

  function startNext(): void {
    if (current !== undefined) return;
    if (others.atWork === "foreign") {
      waitForOthers();
      return;
    }
    timers.disarm("others");
    const entry = queue.shift();
    if (entry !== undefined) start(entry);
  }

  function start(entry: Entry): void {
    current = entry;
    parts.begins();
    const begun = (): void => {
      if (current !== entry) return;
      entry.isAnswered = true;
      entry.answered.open();
      if (entry.isStopped) return;
      if (!entry.watch.isAlive) waitForBegin(entry);
      listen(entry);
    };
    const onSent = (id: string): void => {
      entry.requestId = id;
    };
    const isPatient = (): boolean => entry.watch.isAlive;
    const { signal } = entry.leftBehind;
    wholeTurn.arm("turn", limits.turn, () => giveUp(entry, "did not come to an end", limits.turn));
    parts
      .request("droid.add_user_message", entry.params, { timeoutMs: limits.request, signal, onSent, isPatient })
      .then(begun, (error: unknown) => {
        if (current !== entry) return;
        // Some answer late or never, and work all the same.
        if (error instanceof TimeoutError && entry.watch.isAlive) return begun();
        if (error instanceof TimeoutError || entry.watch.isAlive) leaveBehind(entry);
        finishWith(entry, () => entry.running.fail(error));
      })
      .finally(() => entry.answered.open());
  }

  /** As long as the backend says anything of the turn that is not one of ours, or waits for an answer to it. */
  function waitForOthers(): void {
    if (queue.length === 0) return;
    timers.arm("others", limits.begin, () => {
      const [first] = parts.isAnswerDue() ? [] : queue;
      if (first !== undefined) {
        abandon(first, new TimeoutError(`The turn that ran before did not end within ${limits.begin} ms.`));
      }
      startNext();
    });
  }

  function waitForBegin(entry: Entry): void {
    timers.arm("begin", limits.begin, () => giveUp(entry, "began nothing", limits.begin));
  }

  /** It may be run yet, when the backend comes to it: nobody wants that, and its turn is nobody's. */
  function leaveBehind(entry: Entry): void {
    entry.leftBehind.abort();
    const how = { timeoutMs: limits.request, isUrgent: true };
    parts.request("droid.interrupt_session", {}, how).catch(() => {});
  }

  function listen(entry: Entry): void {
    timers.arm("silence", limits.silence, () => {
      if (parts.isAnswerDue()) listen(entry);
      else giveUp(entry, "said nothing", limits.silence);
    });
  }

  function giveUp(entry: Entry, what: string, ms: number): void {
    abandon(entry, new TimeoutError(`The backend ${what} within ${ms} ms.`));
  }

  /** Its caller hears at once; the next prompt waits until the backend has ended it, too. */
  function abandon(entry: Entry, error: unknown): void {
    entry.running.fail(error);
    void stop(entry).catch(() => {});
  }

  async function stop(entry: Entry, signal?: AbortSignal): Promise<void> {
    const at = queue.indexOf(entry);
    if (at !== -1) {
      queue.splice(at, 1);
      end(entry);
      return;
    }
    if (current !== entry) return;
    entry.isStopped = true;
    if (entry.requestId === undefined) {
      entry.leftBehind.abort();
      finishWith(entry, () => end(entry));
      return;
    }
    entry.watch.noteInterrupt();
    parts.over();
    check(entry);
    if (current !== entry) return;
    timers.disarm("begin", "silence");
    wholeTurn.disarm("turn");
    // However often it is stopped, its end has been waited for since the first time.
    if (!timers.has("drain")) {
      timers.arm("drain", drainMs, () => {
        leaveBehind(entry);
        finish(entry);
      });
    }
    // What has not been taken cannot be interrupted.
    if (!entry.isAnswered && !entry.watch.isAlive) await entry.answered.wait();
    if (current !== entry) return;
    await entry.interrupt.send(signal);
  }

  async function interruptBackend(signal?: AbortSignal): Promise<void> {
    const how = { timeoutMs: limits.request, signal, isUrgent: true };
    await parts.request("droid.interrupt_session", {}, how).catch(unlessGone);
  }

  function check(entry: Entry): void {
    const { phase } = entry.watch;
    if (phase === "over") finish(entry);
    else if (phase === "running") timers.disarm("grace");
    else if (!timers.has("grace")) timers.arm("grace", Math.max(1, limits.grace), () => finish(entry));
  }

  function finish(entry: Entry): void {
    const unfinished = parts.takeUnfinishedText();
    finishWith(entry, () => end(entry, entry.watch.result(unfinished)));
  }

  function end(entry: Entry, result: TurnResult = notRun(entry.id)): void {
    for (const each of entry.release.splice(0)) each();
    const event: TurnEvent = { type: "end", result };
    if (!entry.running.isSettled) entry.running.push(event, 0);
    entry.running.end(result);
    parts.ended(event);
  }

  function finishWith(entry: Entry, how: () => void): void {
    if (current !== entry) return;
    disarmAll();
    for (const each of entry.release.splice(0)) each();
    current = undefined;
    entry.answered.open();
    leftovers.note(entry.watch);
    if (!entry.isStopped && !entry.leftBehind.signal.aborted) others.noteWanted();
    else if (entry.requestId !== undefined) {
      others.leave(entry, entry.watch.isAlive && entry.watch.phase === "running");
    }
    parts.over();
    how();
    startNext();
  }

  function entryOf(text: string, options: PromptOptions): Entry {
    const { id = newId(), signal } = options;
    const params = promptParams(text, id, options);
    const running = createTurn(
      id,
      () => stop(entry),
      () => void stop(entry).catch(() => {}),
    );
    const watch = createTurnWatch(id);
    const answered = createGate();
    const entry: Entry = {
      id,
      params,
      running,
      watch,
      requestId: undefined,
      release: [],
      answered,
      leftBehind: new AbortController(),
      isAnswered: false,
      isPromptSeen: false,
      begin: () => {
        leftovers.note(entry.watch);
        entry.watch = createTurnWatch(id);
        if (entry.isStopped) entry.watch.noteInterrupt();
        else if (entry.isAnswered) waitForBegin(entry);
      },
      isStopped: false,
      interrupt: createInterrupt(interruptBackend, limits.grace),
    };
    entry.release.push(onAbort(signal, () => abandon(entry, signal?.reason)));
    return entry;
  }

  return {
    stream(text, options) {
      if (typeof text !== "string") throw new TypeError("A prompt must be a string.");
      const entry = entryOf(text, options);
      const { running } = entry;
      // Behind a turn that its caller has stopped, or given up, a prompt waits in any case.
      const isOver = current?.isStopped === true || current?.running.isSettled === true;
      const isBusy = (current !== undefined && !isOver) || others.atWork === "foreign" || queue.length > 0;
      const refusal = failure ?? (options.signal?.aborted === true ? { error: options.signal.reason } : undefined);
      if (refusal !== undefined || (isBusy && parts.whenBusy === "refuse")) {
        for (const each of entry.release.splice(0)) each();
        running.fail(refusal === undefined ? new BusyError("A turn is running already.") : refusal.error);
        return running.turn;
      }
      queue.push(entry);
      current?.running.runOn();
      startNext();
      return running.turn;
    },
    see(notification, events, characters) {
      const entry = sent();
      if (others.see(notification, entry)) return startNext();
      if (entry === undefined) return;
      const own = leftovers.without(events);
      // It goes on with what it had said to be done with.
      if (own.some(({ type }) => type === "text" || type === "thinking")) timers.disarm("grace");
      entry.interrupt.see(own);
      entry.watch.see(notification, own);
      if (entry.watch.isAlive) entry.answered.open();
      for (const event of own) if (!entry.running.isSettled) entry.running.push(event, characters);
      if (entry.watch.isAlive) timers.disarm("begin");
      if (timers.has("silence")) listen(entry);
      check(entry);
    },
    strayError(error, requestId) {
      const entry = sent();
      if (entry === undefined || entry.watch.isAlive) return false;
      if (requestId !== undefined && requestId !== entry.requestId) return false;
      entry.watch.noteFailure({ message: error.message });
      check(entry);
      return true;
    },
    noteRefusal: () => atWork()?.watch.noteRefusal(),
    noteQuestion() {
      const entry = atWork();
      if (entry === undefined) return startNext();
      entry.watch.noteQuestion();
      timers.disarm("grace", "begin");
    },
    get isUnwanted() {
      return atWork()?.isStopped ?? others.isLastUnwanted;
    },
    noteAnswer() {
      if (current === undefined) startNext();
      else if (timers.has("silence")) listen(current);
    },
    noteForeignTurn: () => others.begin("foreign"),
    forgetForeignTurn() {
      others.forget("foreign");
      startNext();
    },
    noteOther: (name) => others.note(name, "foreign"),
    async interrupt({ signal }) {
      for (const entry of queue.splice(0)) end(entry);
      if (current !== undefined) await stop(current, signal);
      else if (others.atWork === "foreign")
        await parts.request("droid.interrupt_session", {}, { timeoutMs: limits.request, signal }).catch(unlessGone);
    },
    fail(error) {
      failure ??= { error };
      current?.answered.open();
      for (const entry of [...(current === undefined ? [] : [current]), ...queue.splice(0)]) {
        for (const each of entry.release.splice(0)) each();
        entry.running.fail(error);
      }
      current = undefined;
      disarmAll();
    },
    hold() {
      const hold = current?.running.hold();
      if (hold !== undefined && !isHeldUp) void standStill();
      return hold;
    },
    get isBusy() {
      return current !== undefined || others.atWork === "foreign" || queue.length > 0;
    },
  };
}

/** With a backend that is gone, nothing runs any more, and that was the wish. */
function unlessGone(error: unknown): void {
  if (!(error instanceof BackendGoneError || error instanceof ClosedError)) throw error;
}

function notRun(turnId: string): TurnResult {
  return { status: "interrupted", reason: "interrupted", text: "", turnId };
}
