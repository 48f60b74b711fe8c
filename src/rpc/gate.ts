/** Where any number of callers wait for the same thing. */
export interface Gate {
  /** Resolves with the next `open()`. */
  wait(): Promise<void>;
  open(): void;
}

export function createGate(): Gate {
  let waiting: Promise<void> | undefined;
  let letGo: (() => void) | undefined;
  return {
    wait() {
      waiting ??= new Promise((resolve) => {
        letGo = resolve;
      });
      return waiting;
    },
    open() {
      letGo?.();
      waiting = undefined;
      letGo = undefined;
    },
  };
}
