import { isDeepStrictEqual } from "node:util";
import type { Received } from "../fakes/rpc/wire.ts";
import type { Difference, Line } from "./align.ts";
import { differencesOf, kindOf } from "./align.ts";
import { ourLines, theirLines } from "./lines.ts";
import { createNormaliser } from "./normalise.ts";
import type { Played } from "./player.ts";
import type { Trace } from "./trace.ts";
import { clientMessages } from "./trace.ts";

/** A difference, and what a reason may want to know of the place where it was found. */
export type Found = Difference & {
  readonly trace: string;
  /** Which one we speak in this process. */
  readonly dialect: "early" | "later";
  /** The request to which a response, or settings that come with it, belong. */
  readonly request?: Received;
  /** In what words we refused that request, if we did. */
  readonly refusal?: string;
  /** Whether permission for a call was asked for in this turn, by each side. */
  readonly asked: { readonly byThem: boolean; readonly byUs: boolean };
  /** We say it all the same, though not here: the very same message, or other settings that come with the same request. */
  readonly isSaid: boolean;
};

/** Everything in which our side of a trace is not theirs. */
export function compare(trace: Trace, played: Played): readonly Found[] {
  const steps = trace.runs.flatMap((run) => run.steps);
  const theirs = createNormaliser({}, steps);
  const ours = createNormaliser(played.places, steps);
  return trace.runs.flatMap((run, index) => {
    const { received = [], end = run.end } = played.runs[index] ?? {};
    const requests = new Map(clientMessages(run.steps).map((message) => [String(message.id), message]));
    const place = { trace: trace.name, dialect: dialectOf(received) } as const;
    const [their, our] = [theirLines(run, theirs.run), ourLines(received, end, ours.run)];
    return differencesOf(their, our).map((difference) => {
      const { answers, turn } = difference;
      const request = answers === undefined ? undefined : requests.get(answers);
      const refusal = our.find((line) => line.answers === answers && line.message.error !== undefined)?.message.error;
      return {
        ...difference,
        ...place,
        asked: { byThem: hasAsked(their, turn), byUs: hasAsked(our, turn) },
        isSaid: isSaid(difference, our),
        ...(request === undefined ? {} : { request }),
        ...(answers === undefined || refusal === undefined ? {} : { refusal: refusal.message }),
      };
    });
  });
}

function isSaid(difference: Difference, our: readonly Line[]): boolean {
  if (difference.what !== "missing") return false;
  const { kind, answers, theirs } = difference;
  return our.some(({ message, answers: one }) => {
    return isDeepStrictEqual(message, theirs) || (answers !== undefined && one === answers && kindOf(message) === kind);
  });
}

function hasAsked(lines: readonly Line[], turn: string | undefined): boolean {
  return lines.some(({ message, turn: one }) => message.type === "request" && one === turn);
}

/** By the settings of the first session that was opened; later ones cannot change it. */
function dialectOf(received: readonly Received[]): "early" | "later" {
  const settings = received.find(({ result }) => result?.settings !== undefined)?.result?.settings as
    | object
    | undefined;
  return settings === undefined || "interactionMode" in settings ? "later" : "early";
}
