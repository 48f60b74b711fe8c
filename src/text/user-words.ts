import { shownWritten } from "./shown-name.ts";

/* Values that people write in options and files. */

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** Node's longest timer. A longer one would fire at once. */
const maxTimerMs = 2_147_483_647;

/** Follows the option's name. */
export const durationRule = "It must be a time such as 90, 90s, 10m or 1h, of at most 24 days.";

/** A written duration in milliseconds. A bare number is seconds. `undefined` if malformed. */
export function durationMs(value: unknown): number | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(String(value));
  const ms = Number(match?.[1]) * unitMs[(match?.[2] ?? "s") as keyof typeof unitMs];
  return match !== null && ms > 0 && ms <= maxTimerMs ? ms : undefined;
}

/**
 * A path as users write it, with `~` and `~/…` for their home. Throws with a message for `~name`: other users' homes are not
 * looked up, and such a folder must not be created by accident.
 */
export function expandHome(path: string, home: string): string {
  if (path === "~" || path.startsWith("~/")) return `${home}${path.slice(1)}`;
  if (!path.startsWith("~")) return path;
  const shown = shownWritten(path);
  const remedy = `Give the whole path, or "./${shown}" for a file of that name.`;
  throw new Error(`${shown} begins with "~". Only "~/", your home, is supported. ${remedy}`);
}
