import type { Session } from "../../sdk/api.ts";

/** What it answers with nobody needs so much that a prompt should wait for it. */
const patienceMs = 2_000;

/** What not every backend can tell: nothing is in it then, nor when it takes too long. Never rejects. */
export async function askBackend(session: Session | undefined, method: string): Promise<Record<string, unknown>> {
  try {
    return Object(await session?.call(method, {}, { signal: AbortSignal.timeout(patienceMs) }));
  } catch {
    return {};
  }
}
