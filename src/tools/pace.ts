import { stopped } from "./outcome.ts";

/** Await it often during long work: it yields at first and then regularly. Rejects if the work is to stop. */
export type Breathe = () => Promise<void>;

const longestStretchMs = 10;

export function createPace(signal?: AbortSignal): Breathe {
  let last = Number.NEGATIVE_INFINITY;
  return async () => {
    if (performance.now() - last < longestStretchMs) return;
    await new Promise((done) => setImmediate(done));
    last = performance.now();
    if (signal?.aborted === true) throw stopped();
  };
}
