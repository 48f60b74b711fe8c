import type { Composition } from "../../compose.ts";
import { withEvidence } from "../../engine/calls/evidence.ts";

/**
 * Loads in steps what the first tool call needs, so that the call does not block other clients. The first user gets any
 * errors.
 */
export async function warmUp(composition: Composition, cwd: string): Promise<void> {
  const { engine, policy, host, decisionContext, surroundings } = composition;
  // Looks up the versions of the machine's tools, which all sessions share.
  await surroundings(cwd);
  for (const tool of engine.tools) {
    await tool.load();
    await othersTurn();
  }
  const { context } = await decisionContext(cwd);
  await othersTurn();
  const accesses = [{ type: "command", command: "true", background: false }] as const;
  policy.decide(await withEvidence(accesses, policy, host, context), context);
}

function othersTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
