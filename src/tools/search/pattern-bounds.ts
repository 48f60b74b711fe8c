import { shownWritten } from "../../text/shown-name.ts";

/** Each name is compared with each pattern, so all patterns together are limited. */
const mostPatterns = 200;
const mostCharacters = 20_000;

/** Why a call's patterns are not used, as a sentence; `undefined` if they are. */
export function whyTooMany(patterns: readonly string[]): string | undefined {
  if (patterns.length > mostPatterns) return `There are more than ${mostPatterns} patterns. Use fewer.`;
  const characters = patterns.reduce((sum, pattern) => sum + pattern.length, 0);
  if (characters <= mostCharacters) return undefined;
  return `The patterns have more than ${mostCharacters} characters together. Use fewer.`;
}

/** The same for patterns that match only below the folder which `parameter` names. */
export function whyNotSearchable(patterns: readonly string[], parameter: string): string | undefined {
  const inHome = patterns.find((pattern) => /^!?~\//.test(pattern));
  if (inHome === undefined) return whyTooMany(patterns);
  return `${shownWritten(inHome)} begins with "~/". Set "${parameter}" to the home folder.`;
}
