import type { Composition } from "../../compose.ts";
import { withEvidence } from "../../engine/calls/evidence.ts";

/**
 * Loads what the first tool call needs, piece by piece, while nobody waits for it: with many clients in one process, all of
 * them would. What is wrong with a piece is told to whoever uses it.
 */
export async function warmUp(composition: Composition, cwd: string): Promise<void> {
  const { engine, policy, host, decisionContext, surroundings } = composition;
  // Asks the machine's tools for their versions, which are then known to all sessions.
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
