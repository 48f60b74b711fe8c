import type { EngineEvent } from "../event.ts";
import type { Answer } from "../interaction.ts";

/** An attached client's abilities. */
export interface Abilities {
  /** It can approve tool calls and plans. */
  readonly approve: boolean;
  /** It can answer questions. */
  readonly answer: boolean;
  /** It runs the calls of client tools. */
  readonly runTools?: boolean;
  /** It needs the session's servers before the first turn. Clients that can answer start them anyway. */
  readonly startsServers?: boolean;
  /** When it leaves as the last client that can answer: `cancel` cancels open requests, `keep` lets them wait for it. */
  readonly onDetach: "cancel" | "keep";
}

export interface Attachment {
  readonly abilities: Abilities;
  /**
   * All events from attaching on; with `after`, first the stored ones after that seq. One reader. Ends when the session closes,
   * the client detaches or `signal` aborts.
   */
  events(options?: { readonly after?: number; readonly signal?: AbortSignal }): AsyncIterable<EngineEvent>;
  /** Answers an open request. False if it was already answered or cancelled. */
  answer(requestId: string, answer: Answer): boolean;
  /** Changes what it can answer. With `onDetach: "cancel"`, cancels requests that have become unanswerable. */
  change(abilities: Partial<Pick<Abilities, "approve" | "answer">>): void;
  /** `missedForMs`: how long a lost client with `onDetach: "keep"` still counts as able to answer. */
  detach(missedForMs?: number): void;
}

/** Back-pressure limit: beyond it, the session waits for the client. */
const roomForEvents = 1_024;

/** The event queue between a session and one reader. */
export class EventQueue {
  private events: EngineEvent[] = [];
  private closed = false;
  private wakeReader: (() => void) | undefined;
  private readonly waitingForRoom: (() => void)[] = [];

  push(event: EngineEvent): void {
    if (this.closed) return;
    this.events.push(event);
    this.wakeReader?.();
  }

  close(): void {
    this.closed = true;
    this.wakeReader?.();
    this.letWritersGo();
  }

  /** `undefined` while the reader keeps up. */
  room(): Promise<void> | undefined {
    if (this.closed || this.events.length < roomForEvents) return undefined;
    return new Promise((resolve) => this.waitingForRoom.push(resolve));
  }

  /** Not a generator, because this runs for every piece of an answer. */
  read(signal?: AbortSignal): AsyncIterableIterator<EngineEvent> {
    const stop = (): void => this.close();
    signal?.addEventListener("abort", stop, { once: true });
    let batch: readonly EngineEvent[] = [];
    let taken = 0;
    const end = (): IteratorResult<EngineEvent> => {
      signal?.removeEventListener("abort", stop);
      this.close();
      return { done: true, value: undefined };
    };
    const next = async (): Promise<IteratorResult<EngineEvent>> => {
      for (;;) {
        const value = batch[taken];
        if (value !== undefined) {
          taken += 1;
          return { done: false, value };
        }
        if (signal?.aborted === true) return end();
        batch = this.events;
        taken = 0;
        this.events = [];
        this.letWritersGo();
        if (batch.length > 0) continue;
        if (this.closed) return end();
        await new Promise<void>((resolve) => {
          this.wakeReader = resolve;
        });
        this.wakeReader = undefined;
      }
    };
    const reading: AsyncIterableIterator<EngineEvent> = {
      next,
      return: async () => {
        [batch, this.events] = [[], []];
        return end();
      },
      [Symbol.asyncIterator]: () => reading,
    };
    return reading;
  }

  private letWritersGo(): void {
    if (this.waitingForRoom.length === 0) return;
    for (const go of this.waitingForRoom.splice(0)) go();
  }
}

/** `undefined` while all readers keep up. */
export function roomInAll(queues: Iterable<EventQueue>): Promise<void> | undefined {
  const waits: Promise<void>[] = [];
  for (const queue of queues) {
    const wait = queue.room();
    if (wait !== undefined) waits.push(wait);
  }
  return waits.length === 0 ? undefined : Promise.all(waits).then(() => undefined);
}
