import type { Received } from "../fakes/rpc/wire.ts";
import type { Step } from "./trace.ts";
import { clientMessages } from "./trace.ts";

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export interface Normaliser {
  /** The messages of the next process, in order. */
  run(messages: readonly Received[]): readonly Received[];
}

const times = new Set(["createdAt", "updatedAt", "timestamp"]);
const isoTime = /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** Milliseconds since 1970, in this century. */
const isEpoch = (value: number): boolean =>
  Number.isInteger(value) && value > 946_684_800_000 && value < 4_102_444_800_000;

/** A duration in milliseconds. */
export const isDuration = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0;

/** The kind of a time, because both occur; `undefined` for anything else. */
function timeIn(value: Json): string | undefined {
  if (typeof value === "number") return isEpoch(value) ? "<time>" : undefined;
  return typeof value === "string" && isoTime.test(value) ? "<time in words>" : undefined;
}

const traceparent = /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/;

/**
 * Removes what differs between runs: ids, times and paths. An id becomes its order of appearance in its prompt's turn,
 * so one more message does not rename all later ones. Ids chosen by the client stay. `places`: names and the paths and
 * addresses they replace.
 */
export function createNormaliser(places: Readonly<Record<string, string>>, steps: readonly Step[]): Normaliser {
  const opening = clientMessages(steps).filter(({ method }) => method === "droid.initialize_session");
  const chosen = new Set(opening.map(({ params }) => params?.sessionId));
  const byLength = Object.entries(places).sort(([, one], [, other]) => other.length - one.length);
  const names = new Map<string, string>();
  const counts = new Map<string, number>();
  let runs = 0;
  let turn = "";

  const nameOf = (kind: string, id: string, from = turn): string => {
    const known = names.get(id);
    if (known !== undefined) return known;
    const where = `${kind} of ${from}`;
    const count = (counts.get(where) ?? 0) + 1;
    counts.set(where, count);
    const name = `<${where}, ${count}>`;
    names.set(id, name);
    return name;
  };

  const text = (value: string): string => {
    let named = value;
    for (const [name, place] of byLength) named = named.replaceAll(place, name);
    return named;
  };

  /** A request is identified by its first call, however many others were asked about before. */
  const nameRequest = ({ id, params }: Received): void => {
    const { toolUses, toolCallId } = (params ?? {}) as { toolUses?: readonly Asked[]; toolCallId?: string };
    const call = toolCallId ?? toolUses?.[0]?.toolUse.id;
    if (call !== undefined) names.set(String(id), `<request about ${nameOf("call", call).slice(1)}`);
  };

  /** A session is identified by the request that created it. */
  const nameSession = ({ id, result }: Received): void => {
    const made = result?.sessionId ?? result?.newSessionId;
    if (typeof made === "string" && !chosen.has(made)) nameOf("session", made, `request ${runs}.${id}`);
  };

  const idOf = (key: string, value: string, owner: Readonly<Record<string, Json>>): string => {
    const { type, role } = owner;
    switch (key) {
      case "id":
        if (type === "tool_use") return nameOf("call", value);
        if (typeof role === "string") return nameOf(role, value);
        return type === "request" ? nameOf("request", value) : value;
      case "messageId":
        return nameOf(type === "tool_result" ? "tool" : "assistant", value);
      case "parentId":
        return value === "root" ? value : nameOf("unknown message", value);
      case "toolUseId":
      case "toolCallId":
        return nameOf("call", value);
      case "sessionId":
      case "newSessionId":
        return chosen.has(value) ? value : nameOf("session", value);
      case "turnId":
      case "requestId":
        // The client's own, unless it names something that we have named.
        return names.get(value) ?? value;
      default:
        return text(value);
    }
  };

  const walk = (value: Json, key: string, owner: Readonly<Record<string, Json>>): Json => {
    const time = times.has(key) ? timeIn(value) : undefined;
    if (time !== undefined) return time;
    if (key === "durationMs" && isDuration(value)) return "<duration>";
    if (key === "traceparent" && typeof value === "string") return traceparent.test(value) ? "<traceparent>" : value;
    if (typeof value === "string") return idOf(key, value, owner);
    if (Array.isArray(value)) {
      const list = value as readonly Json[];
      return key === "toolUseIds"
        ? list.map((id) => nameOf("call", String(id)))
        : list.map((one) => walk(one, "", owner));
    }
    if (typeof value !== "object" || value === null) return value;
    const object = value as Readonly<Record<string, Json>>;
    return Object.fromEntries(Object.entries(object).map(([name, one]) => [name, walk(one, name, object)]));
  };

  return {
    run: (messages) => {
      runs += 1;
      turn = `process ${runs}`;
      return messages.map((message) => {
        const notice = message.params?.notification;
        if (notice?.type === "create_message" && typeof notice.requestId === "string") {
          turn = `prompt ${runs}.${notice.requestId}`;
        }
        if (message.type === "request") nameRequest(message);
        if (message.type === "response") nameSession(message);
        return walk(message as Json, "", {}) as unknown as Received;
      });
    },
  };
}

interface Asked {
  readonly toolUse: { readonly id: string };
}
