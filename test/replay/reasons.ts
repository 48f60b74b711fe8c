import { additions } from "./additions.ts";
import type { Found } from "./compare.ts";
import { dialects } from "./dialects.ts";
import { documented } from "./documented.ts";
import type { Reason } from "./predicates.ts";
import { surprises } from "./surprises.ts";

/**
 * The list is closed: a difference without a reason is a fault, a difference with two is, too, and so is a reason without a
 * difference. They are told to clients as well, in docs/stream-jsonrpc.md.
 */
export const reasons: readonly Reason[] = [...surprises, ...dialects, ...additions, ...documented];

/** The names of all reasons that fit; it should be one. */
export function explain(found: Found): readonly string[] {
  return reasons.filter(({ explains }) => explains(found)).map(({ name }) => name);
}
