import { additions } from "./additions.ts";
import type { Found } from "./compare.ts";
import { dialects } from "./dialects.ts";
import { documented } from "./documented.ts";
import type { Reason } from "./predicates.ts";
import { surprises } from "./surprises.ts";

/**
 * A closed list: a difference with no reason or two is a fault, and so is an unused reason. Clients find the reasons in
 * docs/stream-jsonrpc.md.
 */
export const reasons: readonly Reason[] = [...surprises, ...dialects, ...additions, ...documented];

/** The names of all matching reasons; it should be one. */
export function explain(found: Found): readonly string[] {
  return reasons.filter(({ explains }) => explains(found)).map(({ name }) => name);
}
