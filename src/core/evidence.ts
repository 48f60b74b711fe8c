import type { Access, AccessClass, Decision, DecisionContext, Found, Lookup, PermissionPolicy } from "./permission.ts";
import { accessClasses, lookupKey } from "./permission.ts";
import type { Host } from "./ports.ts";

/** Takes the commands among the accesses apart, and looks up what their decision depends on. */
export function withEvidence(
  accesses: readonly Access[],
  policy: PermissionPolicy,
  host: Host,
  places: Pick<DecisionContext, "cwd" | "home">,
): Promise<readonly Access[]> {
  return Promise.all(
    accesses.map(async (access) => {
      if (access.type !== "command") return access;
      const reading = await policy.read(access.command, places);
      return { ...access, evidence: { reading, found: await lookUp(reading.lookups, host) } };
    }),
  );
}

/** What is no longer as it was when it was decided on (a link in the way of a path, another program), and the accesses now. */
export async function changedSince(
  accesses: readonly Access[],
  host: Host,
): Promise<{ readonly path: string; readonly accesses: readonly Access[] } | undefined> {
  let changed: Lookup | undefined;
  const now = await Promise.all(
    accesses.map(async (access) => {
      if (access.type !== "command" || access.evidence === undefined) return access;
      const { reading, found: before } = access.evidence;
      const found = await lookUp(reading.lookups, host);
      changed ??= reading.lookups.find((lookup) => {
        const key = lookupKey(lookup);
        return JSON.stringify(before.get(key)) !== JSON.stringify(found.get(key));
      });
      return { ...access, evidence: { reading, found } };
    }),
  );
  return changed === undefined ? undefined : { path: changed.path, accesses: now };
}

/** Whether what was allowed, by a level or by somebody's yes, is still no more than that. */
export function isNoWorse(before: Decision, now: Decision): boolean {
  if (now.verdict === "allow") return true;
  const isSameKind = now.rule === before.rule || now.rule !== "protected-place";
  return before.verdict === "ask" && now.verdict === "ask" && isSameKind && rank(now.class) <= rank(before.class);
}

function rank(accessClass: AccessClass): number {
  return accessClasses.indexOf(accessClass);
}

async function lookUp(lookups: readonly Lookup[], host: Host): Promise<Found> {
  const found = new Map<string, readonly string[]>();
  await Promise.all(
    lookups.map(async (lookup) => {
      const answer = await host.lookUp(lookup).catch(() => undefined);
      if (answer !== undefined) found.set(lookupKey(lookup), answer);
    }),
  );
  return found;
}
