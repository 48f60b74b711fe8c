/** Lets any number of callers wait for the same event. */
export interface Gate {
  /** Resolves with the next `open()`. */
  wait(): Promise<void>;
  open(): void;
}

export function createGate(): Gate {
  let waiting: Promise<void> | undefined;
  let release: (() => void) | undefined;
  return {
    wait() {
      waiting ??= new Promise((resolve) => {
        release = resolve;
      });
      return waiting;
    },
    open() {
      release?.();
      waiting = undefined;
      release = undefined;
    },
  };
}
