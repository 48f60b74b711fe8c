import { seenPlaces } from "../calls/evidence.ts";
import { containedFor } from "../calls/session-sandbox.ts";
import type { Contained } from "../containment.ts";
import type { EngineParts } from "../engine-parts.ts";

/** A program that no rule knows: its walls are those of any command. */
const unknownProgram = "mcp-server";

type Parts = Pick<EngineParts, "policy" | "host" | "sandbox" | "places">;

/**
 * The walls around a session's server that must run in the sandbox: as for a command in the background. Rejects with a
 * sentence if the sandbox does not work.
 */
export async function containedServer(parts: Parts, sessionId: string, cwd: string): Promise<Contained> {
  const { policy, host, places: all } = parts;
  const { outputs: _, ...places } = all;
  const options = parts.sandbox ?? { mode: "auto", network: "proven", writable: [] };
  const status = await host.sandbox.status();
  if (!status.works) throw new Error(`It must run in the sandbox, which does not work here. ${status.why}`);
  const [reading, seen] = await Promise.all([
    policy.read(unknownProgram, { cwd, home: places.home }),
    seenPlaces(parts, { ...places, cwd }, []),
  ]);
  const { walls } = policy.explain(
    { reading, found: new Map() },
    {
      ...{ tool: "Execute", autonomy: "low", mode: "auto", approver: false, unsafe: false, enabledTools: [] },
      ...{ ...places, ...seen, cwd, rules: { allow: [], deny: [], alwaysDeny: [] } },
      sandbox: containedFor({ host, sandbox: options }, sessionId),
    },
  );
  if (walls === undefined) throw new Error("It must run in the sandbox, which is impossible in this folder.");
  return { sessionId, walls };
}
