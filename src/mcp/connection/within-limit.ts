import type { Clock } from "../../engine/ports.ts";
import { ServerProblem } from "../server-problem.ts";

/** Rejects with a `ServerProblem` if the work takes too long. */
export async function withinLimit<T>(clock: Clock, ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const limit = new AbortController();
  const stop = clock.after(ms, () => limit.abort(), { background: true });
  try {
    return await work(limit.signal);
  } catch (error) {
    throw limit.signal.aborted ? new ServerProblem(`It took more than ${Math.round(ms / 1000)} s.`) : error;
  } finally {
    stop();
  }
}
