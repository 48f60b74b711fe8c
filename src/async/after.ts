/** Node's limit. Longer timers fire at once, with a warning on stderr. */
export const longestTimerMs = 2 ** 31 - 1;

/** `setTimeout` for any duration, including `Infinity`. */
export function after(milliseconds: number, act: () => void): NodeJS.Timeout {
  return setTimeout(act, Math.min(milliseconds, longestTimerMs));
}
