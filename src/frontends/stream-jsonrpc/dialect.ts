/** Which of two vocabularies a client speaks: `early` has one level word for everything, `later` tells mode and level apart. */
export type Dialect = "early" | "later";

const laterLevels: ReadonlySet<unknown> = new Set(["off", "low", "medium", "high"]);

/** Decided by the first `initialize_session` or `load_session` of a connection, and by whether the client names its protocol. */
export function dialectOf(first: { readonly hasProtocolVersion: boolean; readonly params: unknown }): Dialect {
  if (first.hasProtocolVersion) return "later";
  if (typeof first.params !== "object" || first.params === null) return "early";
  const { interactionMode, autonomyMode, autonomyLevel } = first.params as Readonly<Record<string, unknown>>;
  const hasNewWord = interactionMode !== undefined || autonomyMode !== undefined || laterLevels.has(autonomyLevel);
  return hasNewWord ? "later" : "early";
}
