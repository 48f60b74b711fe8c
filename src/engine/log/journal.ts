import type { Failure } from "../errors.ts";
import { AgentError } from "../errors.ts";
import type { DurableBody, DurableEvent, EngineEvent, EventBody, LiveBody } from "../event.ts";
import { isDurable } from "../event.ts";
import type { Clock, SessionLog } from "../ports.ts";
import type { SessionState } from "./history.ts";
import { applyEvent } from "./history.ts";

interface Pending {
  readonly body: EventBody;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * The one way by which anything happens in a session: stored if it is durable, then applied to the state, then published;
 * in the order of the calls. Durable events that wait together are written together.
 */
export class Journal {
  readonly state: SessionState;
  private readonly log: SessionLog;
  private readonly clock: Clock;
  private readonly publish: (event: EngineEvent) => void;
  /** What a dead process or a full disk kept from the log. It counts already, and is written before anything else is. */
  private unwritten: readonly DurableEvent[] = [];
  /** Some of it could not be written, and it was no dead process that kept it. */
  private isBehind = false;
  private pending: Pending[] = [];
  private flushing = false;

  constructor(parts: { state: SessionState; log: SessionLog; clock: Clock; publish: (event: EngineEvent) => void }) {
    this.state = parts.state;
    this.log = parts.log;
    this.clock = parts.clock;
    this.publish = parts.publish;
  }

  /** Makes events part of the state now, without writing: loading a session never writes. */
  owe(bodies: readonly DurableBody[]): void {
    this.unwritten = this.stamp(bodies) as DurableEvent[];
    for (const event of this.unwritten) applyEvent(this.state, event);
  }

  /** What counts already and is not written yet. */
  get owed(): readonly DurableEvent[] {
    return this.unwritten;
  }

  /**
   * Resolves when the event is stored and told. Rejects with `storage_failed`, and then it did not happen; but the end of a
   * turn, and that of a prompt which waits, have happened all the same, and are owed.
   */
  emit(body: EventBody): Promise<void> {
    if (!this.flushing && !isDurable(body)) {
      this.publish(this.stampLive(body));
      return told;
    }
    return new Promise((resolve, reject) => {
      this.pending.push({ body, resolve, reject });
      if (!this.flushing) void this.flush();
    });
  }

  /** Something is being stored, or waits to be: the state is not yet what it will be. */
  get isBusy(): boolean {
    return this.flushing;
  }

  /** Tries once more to write what could not be written, before the log is given back. */
  async catchUp(): Promise<void> {
    if (!this.isBehind || this.flushing) return;
    this.flushing = true;
    await this.append([], true);
    await this.flush();
  }

  private async flush(): Promise<void> {
    this.flushing = true;
    while (this.pending.length > 0) {
      await this.log.gather?.();
      const batch = this.pending;
      this.pending = [];
      if (await this.write(batch)) continue;
      // One that is too large must not take the others with it.
      for (const entry of batch) await this.write([entry]);
    }
    this.flushing = false;
  }

  /** False when nothing happened, because one of several is too large for the log. */
  private async write(emitted: readonly Pending[]): Promise<boolean> {
    const batch = this.withoutLateDiscards(emitted);
    const events = this.stamp(batch.map((entry) => entry.body));
    const failure = await this.store(events.filter(hasNumber));
    if (failure?.code === "input_too_large" && batch.length > 1) return false;
    for (const [index, event] of events.entries()) {
      const entry = batch[index];
      if (failure === undefined || !hasNumber(event)) {
        if (hasNumber(event)) applyEvent(this.state, event);
        this.publish(event);
        entry?.resolve();
      } else {
        this.endUnwritten(event, failure.failure);
        entry?.reject(failure);
      }
    }
    return true;
  }

  /** A prompt that an interrupt drops while it is being accepted has nothing to end if that fails. */
  private withoutLateDiscards(batch: readonly Pending[]): readonly Pending[] {
    const accepted = new Set<string>();
    return batch.filter(({ body, resolve }) => {
      if (body.type === "prompt.accepted") accepted.add(body.messageId);
      if (body.type !== "prompt.discarded") return true;
      const isWaiting = accepted.has(body.messageId) || this.state.waiting.has(body.messageId);
      if (!isWaiting) resolve();
      return isWaiting;
    });
  }

  /** What began ends for everybody who listens, even when its end cannot be written now. */
  private endUnwritten(event: DurableEvent, failure: Failure): void {
    const seq = this.state.seq + 1;
    let ended: DurableEvent;
    if (event.type === "turn.ended") ended = { ...event, reason: "failed", failure, seq };
    // One that could not be accepted either has not begun.
    else if (event.type === "prompt.discarded" && this.state.waiting.has(event.messageId)) ended = { ...event, seq };
    else return;
    this.unwritten = [...this.unwritten, ended];
    this.isBehind = true;
    applyEvent(this.state, ended);
    this.publish(ended);
  }

  private async store(events: readonly DurableEvent[]): Promise<AgentError | undefined> {
    if (events.length === 0) return undefined;
    return this.append(
      events,
      events.some((event) => event.type === "turn.ended"),
    );
  }

  private async append(events: readonly DurableEvent[], sync: boolean): Promise<AgentError | undefined> {
    try {
      await this.log.append([...this.unwritten, ...events], { sync });
      this.unwritten = [];
      this.isBehind = false;
      return undefined;
    } catch (error) {
      if (error instanceof AgentError) return error;
      return new AgentError("storage_failed", `The session log could not be written: ${String(error)}`, {
        cause: error,
      });
    }
  }

  private stampLive(body: LiveBody): EngineEvent {
    const { id: sessionId, turn } = this.state;
    const at = this.clock.now();
    if (turn === undefined) return { at, sessionId, ...body };
    if (body.type !== "message.delta") return { at, sessionId, turnId: turn.id, ...body };
    // There is one for every piece of an answer, and a spread costs more than all the rest of its way.
    const { type, messageId, block, kind, offset, text } = body;
    return { at, sessionId, turnId: turn.id, type, messageId, block, kind, offset, text };
  }

  private stamp(bodies: readonly EventBody[]): EngineEvent[] {
    const at = this.clock.now();
    const sessionId = this.state.id;
    let turnId = this.state.turn?.id;
    let seq = this.state.seq;
    return bodies.map((body) => {
      if (body.type === "turn.started") turnId = body.turnId;
      const of = turnId;
      if (body.type === "turn.ended") turnId = undefined;
      // The body first: an object that begins as a copy of another is made much sooner.
      if (!isDurable(body))
        return of === undefined ? { ...body, at, sessionId } : { ...body, at, sessionId, turnId: of };
      seq += 1;
      return of === undefined ? { ...body, at, sessionId, seq } : { ...body, at, sessionId, turnId: of, seq };
    });
  }
}

const told = Promise.resolve();

function hasNumber(event: EngineEvent): event is DurableEvent {
  return event.seq !== undefined;
}
