import type { DurableEvent, EngineEvent } from "../event.ts";
import type { Journal } from "../log/journal.ts";
import { damageNotices, isWhole, readRepairedAfter } from "../log/repair-log.ts";
import type { Clock, LogDamage, SessionStore } from "../ports.ts";

/** A session's past events, read from its log. */
export class SessionPast {
  private readonly parts: { readonly store: SessionStore; readonly clock: Clock };
  private readonly journal: Journal;
  /** The log's damage when it was opened. */
  private readonly damage: LogDamage;

  constructor(parts: SessionPast["parts"], journal: Journal, damage: LogDamage) {
    this.parts = parts;
    this.journal = journal;
    this.damage = damage;
  }

  async after(seq: number): Promise<readonly DurableEvent[]> {
    const { state, owed } = this.journal;
    if (seq >= state.seq) return [];
    // Read `owed` first: anything written meanwhile is then among the stored events.
    const events = await readRepairedAfter(this.parts.store, { id: state.id, after: seq, before: this.damage });
    const last = events.at(-1)?.seq ?? seq;
    return [...events, ...owed.filter((event) => event.seq > last)];
  }

  /** See `Session.readFrom`. A damaged log is read from its beginning. */
  from(seq: number): number {
    if (!isWhole(this.damage)) return 0;
    const turn = this.journal.state.turns.findLast(({ from }) => from <= seq);
    return turn === undefined || (turn.to ?? seq + 1) <= seq ? seq : turn.from - 1;
  }

  notices(): readonly EngineEvent[] {
    return damageNotices(this.damage, { at: this.parts.clock.now(), sessionId: this.journal.state.id });
  }
}
