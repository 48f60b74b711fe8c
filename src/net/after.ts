/** Beyond this Node's timers fire at once, with a warning on stderr. */
const longest = 2 ** 31 - 1;

/** A timer that may be given any time, `Infinity` too. */
export function after(milliseconds: number, act: () => void): NodeJS.Timeout {
  return setTimeout(act, Math.min(milliseconds, longest));
}
