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

/**
 * Whether a client can be asked with `sandbox_violation`. SDKs of protocol versions 1.16 to 1.62 don't know its kind `tool`
 * and answer `cancel`.
 */
export function knowsViolations(dialect: Dialect, protocolVersion: string | undefined): boolean {
  if (dialect === "early") return false;
  const minor = Number(/^1\.(\d+)\./.exec(protocolVersion ?? "")?.[1] ?? 0);
  return minor < 16 || minor > 62;
}
