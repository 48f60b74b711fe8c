import { stopped } from "./outcome.ts";

/** To be awaited often in long work: lets everything else run at first and now and then. Rejects when the work is to stop. */
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
