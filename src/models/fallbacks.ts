import { budgetOf, fitsWindow } from "../engine/context/budget.ts";
import { failureOf } from "../engine/errors.ts";
import type { Clock, ModelPort } from "../engine/ports.ts";
import type { Candidate, Fallbacks } from "./chain.ts";
import { type ModelChoices, unaliased } from "./providers/model-entry.ts";
import { withRetries } from "./retry.ts";

/** The retry limit while another model is left. */
const patienceBeforeFallbackMs = 20_000;
/** How long an unavailable model is skipped while its fallback works. */
const restMs = 5 * 60_000;

/** Ids of the models that a session can use. Absent: all. */
type Allowed = readonly string[] | undefined;

/** A model with its fallbacks. */
export interface ModelWithFallbacks {
  /** The model in use: this one, or a fallback that recently replaced it. */
  port(allowed: Allowed): ModelPort;
}

export function withFallbacks(
  own: Candidate,
  id: string,
  choices: ModelChoices,
  clock: Clock,
  open: (id: string) => Promise<Candidate | undefined>,
): ModelWithFallbacks {
  const others = (choices.fallbacks ?? []).map((name) => unaliased(name, choices));
  const order = [...new Set([id, ...others])];
  let standIn: { readonly id: string; readonly candidate: Candidate; readonly until: number } | undefined;

  const portOf = (place: number, { model, options }: Candidate, allowed: Allowed): ModelPort => {
    const after = [...order.slice(place + 1), ...(place > 0 ? [id] : [])];
    const usable = after.filter((other) => other === id || allowed === undefined || allowed.includes(other));
    return withRetries(model, clock, options, usable.length === 0 ? undefined : fallbacks(usable));
  };

  const fallbacks = (ids: readonly string[]): Fallbacks => {
    const opened = new Map<number, Candidate>();
    return {
      afterMs: patienceBeforeFallbackMs,
      async open(index, request) {
        const other = ids[index];
        if (other === undefined) return undefined;
        const found = await open(other).catch((error: unknown) => failureOf(error).message);
        if (found === undefined) return `Unknown fallback model ${other}.`;
        if (typeof found === "string") return `The fallback ${other} cannot be used. ${found}`;
        const { info } = found.model;
        if (!fitsWindow(request, budgetOf(info))) {
          return `Skipped the fallback ${other}: the conversation does not fit its window of ${info.contextWindow} tokens.`;
        }
        opened.set(index, found);
        return found;
      },
      answered(index) {
        const [other, candidate] = [ids[index], opened.get(index)];
        if (other === undefined || candidate === undefined) return;
        standIn = other === id ? undefined : { id: other, candidate, until: clock.monotonic() + restMs };
      },
    };
  };

  const always = portOf(0, own, undefined);
  return {
    port(allowed) {
      if (standIn !== undefined && clock.monotonic() >= standIn.until) standIn = undefined;
      if (standIn !== undefined && (allowed === undefined || allowed.includes(standIn.id))) {
        return portOf(order.indexOf(standIn.id), standIn.candidate, allowed);
      }
      return allowed === undefined ? always : portOf(0, own, allowed);
    },
  };
}
