import { laterLevels } from "../../protocol/droid/words.ts";
import { recordOf } from "../../text/values.ts";

/** Which of two vocabularies a client speaks: `early` has one level word for everything, `later` tells mode and level apart. */
export type Dialect = "early" | "later";

const laterWords: ReadonlySet<unknown> = new Set(laterLevels);

/** Decided by the first `initialize_session` or `load_session` of a connection, and by whether the client names its protocol. */
export function dialectOf(first: { readonly hasProtocolVersion: boolean; readonly params: unknown }): Dialect {
  if (first.hasProtocolVersion) return "later";
  const { interactionMode, autonomyMode, autonomyLevel } = recordOf(first.params) ?? {};
  const hasNewWord = interactionMode !== undefined || autonomyMode !== undefined || laterWords.has(autonomyLevel);
  return hasNewWord ? "later" : "early";
}
