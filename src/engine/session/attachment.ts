import type { EngineEvent } from "../event.ts";
import type { Answer } from "../interaction.ts";

/** What a client that is attached to a session can do. */
export interface Abilities {
  /** It can say yes or no to tool calls and plans. */
  readonly approve: boolean;
  /** It can answer questions. */
  readonly answer: boolean;
  /** It runs the calls of client tools. */
  readonly runTools?: boolean;
  /** `cancel`: when it leaves and nobody else can answer, open requests are cancelled. `keep`: they wait for it to come back. */
  readonly onDetach: "cancel" | "keep";
}

export interface Attachment {
  readonly abilities: Abilities;
  /**
   * Everything from the moment of attaching on; with `after`, first what is stored behind that number. One reader; ends when
   * the session closes, the client detaches or `signal` is aborted.
   */
  events(options?: { readonly after?: number; readonly signal?: AbortSignal }): AsyncIterable<EngineEvent>;
  /** Answers an open request. False when it was not open any more: somebody else was first, or it was cancelled. */
  answer(requestId: string, answer: Answer): boolean;
  /** From now on it can answer other things; what nobody can answer any more is then cancelled, if it leaves nothing open. */
  change(abilities: Partial<Pick<Abilities, "approve" | "answer">>): void;
  /** With `missedForMs`, one that leaves things open still counts as somebody to be asked for so long: it was lost, and may come back. */
  detach(missedForMs?: number): void;
}

/** How far a client may fall behind before the session waits for it. */
const roomForEvents = 1_024;

/** Events between one session and one reader. */
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

  /** Resolves at once while the reader keeps up. */
  room(): Promise<void> | undefined {
    if (this.closed || this.events.length < roomForEvents) return undefined;
    return new Promise((resolve) => this.waitingForRoom.push(resolve));
  }

  /** By hand and not as a generator: with every piece of an answer this is gone through. */
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

/** Resolves at once while all readers keep up. */
export function roomInAll(queues: Iterable<EventQueue>): Promise<void> | undefined {
  const waits: Promise<void>[] = [];
  for (const queue of queues) {
    const wait = queue.room();
    if (wait !== undefined) waits.push(wait);
  }
  return waits.length === 0 ? undefined : Promise.all(waits).then(() => undefined);
}
