import { isDeepStrictEqual } from "node:util";
import type { Received } from "../fakes/rpc/wire.ts";
import type { Difference, Line } from "./align.ts";
import { differencesOf, kindOf } from "./align.ts";
import { ourLines, theirLines } from "./lines.ts";
import { createNormaliser } from "./normalise.ts";
import type { Played } from "./player.ts";
import type { Trace } from "./trace.ts";
import { clientMessages } from "./trace.ts";

/** A difference with its context, for the reasons. */
export type Found = Difference & {
  readonly trace: string;
  /** The dialect that we speak in this process. */
  readonly dialect: "early" | "later";
  /** The request that a response, or settings with it, belong to. */
  readonly request?: Received;
  /** Our error message for that request, if any. */
  readonly refusal?: string;
  /** Whether each side asked for permission for a call in this turn. */
  readonly asked: { readonly byThem: boolean; readonly byUs: boolean };
  /** We do send it elsewhere: the same message, or other settings for the same request. */
  readonly isSaid: boolean;
};

/** All differences between our side of a trace and theirs. */
export function compare(trace: Trace, played: Played): readonly Found[] {
  const steps = trace.runs.flatMap((run) => run.steps);
  const theirs = createNormaliser({}, steps);
  const ours = createNormaliser(played.places, steps);
  return trace.runs.flatMap((run, index) => {
    const { received = [], end = run.end } = played.runs[index] ?? {};
    const requests = new Map(clientMessages(run.steps).map((message) => [String(message.id), message]));
    const place = { trace: trace.name, dialect: dialectOf(received) } as const;
    const their = withoutStates(theirLines(run, theirs.run));
    const our = withoutStates(ourLines(received, end, ours.run));
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

/** The states of servers come when they change, so their number and places vary. The lists that clients ask for don't. */
function withoutStates(lines: readonly Line[]): readonly Line[] {
  return lines.filter(({ message }) => {
    const notice = message.params?.notification;
    return notice?.type !== "mcp_status_changed" || !Array.isArray(notice.servers) || notice.servers.length === 0;
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

/** By the settings of the first session; later ones cannot change it. */
function dialectOf(received: readonly Received[]): "early" | "later" {
  const settings = received.find(({ result }) => result?.settings !== undefined)?.result?.settings as
    | object
    | undefined;
  return settings === undefined || "interactionMode" in settings ? "later" : "early";
}
