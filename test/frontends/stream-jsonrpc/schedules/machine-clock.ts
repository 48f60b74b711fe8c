import { vi } from "vitest";

/** Replaces `performance.now`, by which long work decides when to yield, so that machine load changes no schedule. */
export interface MachineClock {
  /** On a busy machine, long work yields to the event loop at every chance; otherwise it never does. */
  setBusy(isBusy: boolean): void;
  /** Until everything waits for an answer, a timer or a fault. Work that yields checks the clock when it continues. */
  untilStill(): Promise<void>;
  release(): void;
}

export function holdMachineClock(): MachineClock {
  let [looks, now, step] = [0, 0, 0];
  const replaced = vi.spyOn(performance, "now").mockImplementation(() => {
    looks += 1;
    now += step;
    return now;
  });
  return {
    setBusy(isBusy) {
      step = isBusy ? 60_000 : 0;
    },
    async untilStill() {
      for (let before = -1; before !== looks; ) {
        before = looks;
        await new Promise((resolve) => setImmediate(resolve));
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    release: () => replaced.mockRestore(),
  };
}
