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
 * The only path for a session's events: store if durable, apply to the state, publish, in the order of the calls. Durable
 * events that wait at the same time are written together.
 */
export class Journal {
  readonly state: SessionState;
  private readonly log: SessionLog;
  private readonly clock: Clock;
  private readonly publish: (event: EngineEvent) => void;
  /** Events that a dead process or a full disk kept from the log. Already applied, and written before anything else. */
  private unwritten: readonly DurableEvent[] = [];
  /** Writing some of them failed in this process. */
  private isBehind = false;
  private pending: Pending[] = [];
  private flushing = false;

  constructor(parts: { state: SessionState; log: SessionLog; clock: Clock; publish: (event: EngineEvent) => void }) {
    this.state = parts.state;
    this.log = parts.log;
    this.clock = parts.clock;
    this.publish = parts.publish;
  }

  /** Applies events without writing them, because loading a session never writes. */
  owe(bodies: readonly DurableBody[]): void {
    this.unwritten = this.stamp(bodies) as DurableEvent[];
    for (const event of this.unwritten) applyEvent(this.state, event);
  }

  /** Applied but not yet written. */
  get owed(): readonly DurableEvent[] {
    return this.unwritten;
  }

  /**
   * Resolves once the event is stored and published. Rejects with `storage_failed` if it could not be stored. The end of a turn or
   * of a waiting prompt takes effect even then, and is written later.
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

  /** Events are being stored or waiting, so the state may still change. */
  get isBusy(): boolean {
    return this.flushing;
  }

  /** Retries unwritten events before the log is released. */
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
      // One oversized event must not fail the others.
      for (const entry of batch) await this.write([entry]);
    }
    this.flushing = false;
  }

  /** False if nothing happened because one of several events is too large. */
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

  /** Drops the discard of a prompt that was never accepted. */
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

  /** Publishes an end that cannot be stored now. */
  private endUnwritten(event: DurableEvent, failure: Failure): void {
    // A new owner gives the next number to another event, so this one can never be stored, and repeats the last number.
    const isTaken = failure.code === "session_in_use";
    const seq = this.state.seq + (isTaken ? 0 : 1);
    let ended: DurableEvent;
    if (event.type === "turn.ended") ended = { ...event, reason: "failed", failure, seq };
    // A prompt that was never accepted has no end.
    else if (event.type === "prompt.discarded" && this.state.waiting.has(event.messageId)) ended = { ...event, seq };
    else return;
    if (!isTaken) {
      this.unwritten = [...this.unwritten, ended];
      this.isBehind = true;
    }
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
    // Hot path: a spread would cost more than everything else per piece.
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
      // Spread the body first: copying an object's shape is much faster.
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
