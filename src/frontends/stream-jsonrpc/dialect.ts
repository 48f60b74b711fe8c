import { laterLevels } from "../../protocol/droid/words.ts";
import { recordOf } from "../../text/values.ts";

/** A client's vocabulary: `early` has one word for mode and level, `later` has two. */
export type Dialect = "early" | "later";

const laterWords: ReadonlySet<unknown> = new Set(laterLevels);

/**
 * Decided by a connection's first `initialize_session` or `load_session`, and by whether the client sends its protocol
 * version.
 */
export function dialectOf(first: { readonly hasProtocolVersion: boolean; readonly params: unknown }): Dialect {
  if (first.hasProtocolVersion) return "later";
  const { interactionMode, autonomyMode, autonomyLevel } = recordOf(first.params) ?? {};
  const hasNewWord = interactionMode !== undefined || autonomyMode !== undefined || laterWords.has(autonomyLevel);
  return hasNewWord ? "later" : "early";
}
