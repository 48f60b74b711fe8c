import type { Session } from "../../sdk/api.ts";

/** Limits how long a prompt can wait for an answer from the backend. */
const patienceMs = 2_000;

/**
 * Asks for something that not every backend supports. Resolves with an empty object on failure or timeout, never rejects.
 */
export async function askBackend(session: Session | undefined, method: string): Promise<Record<string, unknown>> {
  try {
    return Object(await session?.call(method, {}, { signal: AbortSignal.timeout(patienceMs) }));
  } catch {
    return {};
  }
}
