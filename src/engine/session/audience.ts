import type { DurableEvent, EngineEvent } from "../event.ts";
import type { Clock } from "../ports.ts";
import type { Abilities, Attachment } from "./attachment.ts";
import { EventQueue, roomInAll } from "./attachment.ts";
import type { Interactions } from "./interactions.ts";
import { LiveReply } from "./live-reply.ts";

/** The stored events after a seq. */
type Past = (after: number) => Promise<readonly DurableEvent[]>;

/** The clients attached to one session, and the part of the current reply that they have received. */
export class Audience {
  readonly reply = new LiveReply();
  private readonly clients = new Map<EventQueue, Abilities>();
  private readonly clock: Clock;
  private readonly observe: ((event: EngineEvent) => void) | undefined;
  /** Abilities of recently lost clients, which may come back. */
  private missed: { readonly abilities: Abilities; readonly forget: () => void } | undefined;
  private isOver = false;
  private readonly onRequest: (() => void)[] = [];

  constructor(clock: Clock, observe: ((event: EngineEvent) => void) | undefined) {
    this.clock = clock;
    this.observe = observe;
  }

  attach(abilities: Abilities, interactions: Interactions, past: Past): Attachment {
    const queue = new EventQueue();
    if (this.isOver) queue.close();
    else this.clients.set(queue, abilities);
    this.isBack(abilities);
    return {
      abilities,
      events: ({ after, signal } = {}) =>
        after === undefined ? queue.read(signal) : eventsAfter(after, past, queue, signal),
      answer: (requestId, answer) => interactions.settle(requestId, answer),
      change: (changes) => {
        const before = this.clients.get(queue);
        if (before === undefined) return;
        this.clients.set(queue, { ...before, ...changes });
        if (abilities.onDetach === "cancel") interactions.cancelUnanswerable();
      },
      detach: (missedForMs = 0) => {
        queue.close();
        const left = this.clients.get(queue);
        this.clients.delete(queue);
        if (left === undefined) return;
        if (abilities.onDetach === "cancel") interactions.cancelUnanswerable();
        else if (missedForMs > 0) this.miss(left, missedForMs, interactions);
      },
    };
  }

  present(): readonly Abilities[] {
    return [...this.clients.values(), ...(this.missed === undefined ? [] : [this.missed.abilities])];
  }

  publish(event: EngineEvent): void {
    this.reply.note(event);
    this.tellObserver(event);
    for (const queue of this.clients.keys()) queue.push(event);
    if (event.type === "request.opened") for (const go of this.onRequest.splice(0)) go();
  }

  /** An observer that throws must not stop the session. */
  private tellObserver(event: EngineEvent): void {
    try {
      this.observe?.(event);
    } catch {
      // There is nowhere to report an observer's error.
    }
  }

  /** Resolves at the next request to a client. */
  nextRequest(): Promise<void> {
    return new Promise((resolve) => this.onRequest.push(resolve));
  }

  /** `undefined` while all clients keep up. */
  room(): Promise<void> | undefined {
    return roomInAll(this.clients.keys());
  }

  /** Ends all event streams, even those of later clients. */
  close(): void {
    this.isOver = true;
    for (const queue of this.clients.keys()) queue.close();
    this.clients.clear();
    this.missed?.forget();
    this.missed = undefined;
  }

  /** Forgets the lost clients once a new one has all their abilities. */
  private isBack({ approve, answer }: Abilities): void {
    if (this.missed === undefined) return;
    const { abilities, forget } = this.missed;
    if ((abilities.approve && !approve) || (abilities.answer && !answer)) return;
    forget();
    this.missed = undefined;
  }

  private miss({ approve, answer }: Abilities, ms: number, interactions: Interactions): void {
    if (!approve && !answer) return;
    const before = this.missed?.abilities;
    this.missed?.forget();
    const giveUp = (): void => {
      this.missed = undefined;
      interactions.cancelUnanswerable();
    };
    this.missed = {
      abilities: {
        approve: approve || before?.approve === true,
        answer: answer || before?.answer === true,
        onDetach: "keep",
      },
      forget: this.clock.after(ms, giveUp, { background: true }),
    };
  }
}

/** First the stored events after `after`, then new ones from the queue. */
async function* eventsAfter(
  after: number,
  past: Past,
  queue: EventQueue,
  signal: AbortSignal | undefined,
): AsyncGenerator<EngineEvent> {
  let last = after;
  for (const event of await past(after)) {
    if (event.seq <= last) continue;
    last = event.seq;
    yield event;
  }
  for await (const event of queue.read(signal)) {
    if (event.seq === undefined || event.seq > last) yield event;
  }
}
