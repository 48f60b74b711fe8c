import { AgentError } from "../../src/engine/errors.ts";
import type { DurableEvent } from "../../src/engine/event.ts";
import type { SessionLog, SessionStore } from "../../src/engine/ports.ts";
import { createMemoryStore } from "./memory-store.ts";

export interface FullStore {
  readonly store: SessionStore;
  full(now: boolean | DurableEvent["type"]): void;
  /** Another process has taken the sessions over, so nothing more can be stored. */
  lose(): void;
}

/** A store whose logs accept nothing while it is full, or nothing of some type. */
export function fullStore(): FullStore {
  const store = createMemoryStore();
  let isFull: boolean | DurableEvent["type"] = false;
  let isLost = false;
  const guarded = (log: SessionLog): SessionLog => ({
    ...log,
    append: async (...given) => {
      if (isLost) throw new AgentError("session_in_use", "Another process has taken over the session.");
      if (isFull === true || given[0].some(({ type }) => type === isFull))
        throw new AgentError("storage_failed", "The disk is full.");
      return log.append(...given);
    },
  });
  return {
    store: {
      ...store,
      create: async (...given) => guarded(await store.create(...given)),
      acquire: async (...given) => guarded(await store.acquire(...given)),
    },
    full: (now) => {
      isFull = now;
    },
    lose: () => {
      isLost = true;
    },
  };
}
