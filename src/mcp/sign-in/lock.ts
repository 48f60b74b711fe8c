import { AgentError } from "../../engine/errors.ts";
import type { Clock } from "../../engine/ports.ts";
import { acquireLease, type Lease } from "../../store/lease.ts";

/**
 * Runs `task` while holding a lock of this name against all processes. The folder must exist. Rejects with `storage_failed`
 * if the lock stays taken.
 */
export type WithLock = <Result>(folder: string, name: string, task: () => Promise<Result>) => Promise<Result>;

/** Longer than a refresh can take. */
const patienceMs = 45_000;
const pauseMs = 20;

export function createWithLock(clock: Clock): WithLock {
  /** Within this process, tasks queue instead of polling. */
  const queues = new Map<string, Promise<unknown>>();
  return (folder, name, task) => {
    const locked = async () => {
      const lock = await patiently(folder, name, clock);
      try {
        return await task();
      } finally {
        await lock.release();
      }
    };
    const result = (queues.get(name) ?? Promise.resolve()).then(locked, locked);
    queues.set(name, result);
    const leave = (): void => void (queues.get(name) === result && queues.delete(name));
    result.then(leave, leave);
    return result;
  };
}

async function patiently(folder: string, name: string, clock: Clock): Promise<Lease> {
  const start = clock.monotonic();
  for (;;) {
    try {
      return await acquireLease(folder, name);
    } catch (error) {
      if (!(error instanceof AgentError) || error.code !== "session_in_use") throw error;
      if (clock.monotonic() - start > patienceMs) {
        throw new AgentError("storage_failed", `Another process has been using ${folder} for too long. Try again.`);
      }
    }
    await new Promise<void>((resolve) => void clock.after(pauseMs, resolve));
  }
}
