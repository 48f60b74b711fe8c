import type { Received } from "../fakes/rpc/wire.ts";
import type { Step } from "./trace.ts";

/** Matches our requests to a trace's by the calls they ask about. */
export interface Pairing {
  /** Ids of the trace's requests -> ours. */
  readonly requests: ReadonlyMap<string, string>;
  /** False if the trace's client was not asked this. */
  take(request: Received): boolean;
}

export function createPairing(steps: readonly Step[], localise: (text: string) => string): Pairing {
  const open = steps.flatMap((step) => (step.by === "server" && step.message.type === "request" ? [step.message] : []));
  const requests = new Map<string, string>();
  return {
    requests,
    take: (request) => {
      const subjects = subjectsOf(request);
      const index = open.findIndex((one) => {
        return one.method === request.method && subjectsOf(one).some((subject) => subjects.includes(localise(subject)));
      });
      const [found] = index === -1 ? [] : open.splice(index, 1);
      if (found === undefined) return false;
      requests.set(String(found.id), String(request.id));
      return true;
    },
  };
}

/** A request's subject: the inputs of its calls, or its questions. */
function subjectsOf({ params }: Received): readonly string[] {
  const { toolUses, questions } = (params ?? {}) as { toolUses?: readonly Asked[]; questions?: readonly unknown[] };
  const subjects = toolUses?.map(({ toolUse }) => toolUse.input) ?? questions ?? [];
  return subjects.map((subject) => JSON.stringify(subject));
}

interface Asked {
  readonly toolUse: { readonly input: unknown };
}
