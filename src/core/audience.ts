import type { Abilities, Attachment } from "./attachment.ts";
import { EventQueue, roomInAll } from "./attachment.ts";
import type { DurableEvent, EngineEvent } from "./event.ts";
import type { Interactions } from "./interactions.ts";
import { LiveReply } from "./live-reply.ts";

/** Everybody who is attached to one session, and what they have been told of the reply that is being written. */
export class Audience {
  readonly reply = new LiveReply();
  private readonly clients = new Map<EventQueue, Abilities>();
  private readonly observe: ((event: EngineEvent) => void) | undefined;
  private isOver = false;

  constructor(observe: ((event: EngineEvent) => void) | undefined) {
    this.observe = observe;
  }

  attach(abilities: Abilities, interactions: Interactions, past: () => Promise<readonly DurableEvent[]>): Attachment {
    const queue = new EventQueue();
    if (this.isOver) queue.close();
    else this.clients.set(queue, abilities);
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
      detach: () => {
        queue.close();
        if (!this.clients.delete(queue)) return;
        if (abilities.onDetach === "cancel") interactions.cancelUnanswerable();
      },
    };
  }

  present(): readonly Abilities[] {
    return [...this.clients.values()];
  }

  publish(event: EngineEvent): void {
    this.reply.note(event);
    this.observe?.(event);
    for (const queue of this.clients.keys()) queue.push(event);
  }

  /** Resolves at once while all of them keep up. */
  room(): Promise<void> | undefined {
    return roomInAll(this.clients.keys());
  }

  /** Ends every event stream, also of those that come later. */
  close(): void {
    this.isOver = true;
    for (const queue of this.clients.keys()) queue.close();
    this.clients.clear();
  }
}

/** First what is stored behind `after`, then what is in the queue and not among it. */
async function* eventsAfter(
  after: number,
  past: () => Promise<readonly DurableEvent[]>,
  queue: EventQueue,
  signal: AbortSignal | undefined,
): AsyncGenerator<EngineEvent> {
  let last = after;
  for (const event of await past()) {
    if (event.seq <= last) continue;
    last = event.seq;
    yield event;
  }
  for await (const event of queue.read(signal)) {
    if (event.seq === undefined || event.seq > last) yield event;
  }
}
