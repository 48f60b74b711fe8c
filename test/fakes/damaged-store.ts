import type { DurableEvent } from "../../src/engine/event.ts";
import type { SessionStore } from "../../src/engine/ports.ts";

/** A store that loses some records on reading, as if their lines were damaged. */
export function damagedStore(store: SessionStore, isLost: (event: DurableEvent) => boolean): SessionStore {
  return {
    ...store,
    async read(id, after) {
      const { events, ...log } = await store.read(id, after);
      const kept = events.filter((event) => !isLost(event));
      return { ...log, events: kept, damagedLines: events.filter(isLost).map(({ seq }) => seq) };
    },
  };
}
