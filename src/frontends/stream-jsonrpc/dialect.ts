import { laterLevels } from "../../protocol/droid/words.ts";
import { recordOf } from "../../text/values.ts";

/** A client's vocabulary: `early` has one word for mode and level, `later` has two. */
export type Dialect = "early" | "later";

const laterWords: ReadonlySet<unknown> = new Set(laterLevels);

/**
 * Decided by a connection's first `initialize_session` or `load_session`, and by whether the client sends its protocol
 * version.
 */
export function dialectOf(client: { readonly protocolVersion?: string | undefined }, params: unknown): Dialect {
  if (client.protocolVersion !== undefined) return "later";
  const { interactionMode, autonomyMode, autonomyLevel } = recordOf(params) ?? {};
  const hasNewWord = interactionMode !== undefined || autonomyMode !== undefined || laterWords.has(autonomyLevel);
  return hasNewWord ? "later" : "early";
}

/** Words of the protocol that only some clients know. */
export interface Vocabulary {
  /** It can be asked with `sandbox_violation`. */
  readonly violations: boolean;
  /** It can be offered `proceed_always_tools` and `proceed_always_server`. */
  readonly serverChoices: boolean;
}

/**
 * SDKs of protocol versions 1.16 to 1.62 don't know the kind `tool` of violations, and those below 1.62 not the choices for
 * servers. They answer `cancel` to what they don't know.
 */
export function vocabularyOf(dialect: Dialect, protocolVersion: string | undefined): Vocabulary {
  if (dialect === "early") return { violations: false, serverChoices: false };
  const minor = Number(/^1\.(\d+)\./.exec(protocolVersion ?? "")?.[1] ?? 0);
  return { violations: minor < 16 || minor > 62, serverChoices: minor < 16 || minor > 61 };
}
