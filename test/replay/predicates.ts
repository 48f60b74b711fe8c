import type { Received } from "../fakes/rpc/wire.ts";
import type { Found } from "./compare.ts";

/** Why we differ from observed `droid exec`, with a descriptive name. */
export interface Reason {
  readonly name: string;
  /** Where clients can read about it: this text occurs in docs/stream-jsonrpc.md. */
  readonly docs: string;
  readonly explains: Predicate;
}

export type Predicate = (found: Found) => boolean;

export const any =
  (...predicates: readonly Predicate[]): Predicate =>
  (found) =>
    predicates.some((holds) => holds(found));

export const all =
  (...predicates: readonly Predicate[]): Predicate =>
  (found) =>
    predicates.every((holds) => holds(found));

export const inTraces =
  (...names: readonly string[]): Predicate =>
  ({ trace }) =>
    names.includes(trace);

/** In the turn of the prompt that this request sent. */
export const inTurn =
  (...ids: readonly string[]): Predicate =>
  ({ turn }) =>
    turn !== undefined && ids.includes(turn);

export const dialect =
  (name: Found["dialect"]): Predicate =>
  (found) =>
    found.dialect === name;

export const missing =
  (...kinds: readonly string[]): Predicate =>
  ({ what, kind }) =>
    what === "missing" && kinds.includes(kind);

export const extra =
  (...kinds: readonly string[]): Predicate =>
  ({ what, kind }) =>
    what === "extra" && kinds.includes(kind);

export const moved =
  (...kinds: readonly string[]): Predicate =>
  ({ what, kind }) =>
    what === "moved" && kinds.includes(kind);

/** A field by path, where list indexes are `N`, and by the two values. */
export const changed =
  (kind: string, path: RegExp, fits: (theirs: unknown, ours: unknown) => boolean = () => true): Predicate =>
  (found) =>
    found.what === "changed" &&
    found.kind === kind &&
    path.test(found.path.replaceAll(/\.\d+(?=\.|$)/g, ".N")) &&
    fits(found.theirs, found.ours);

export const notice = (path: string): RegExp => new RegExp(`^params\\.notification\\.${path}$`);

/** The response to one of these methods differs in any way. */
export const response =
  (methods: readonly string[], holds: (theirs: Received, ours: Received, request: Received) => boolean): Predicate =>
  (found) => {
    const { kind, request } = found;
    if (kind !== "response" || found.what !== "changed" || found.path === "_meta" || request === undefined)
      return false;
    const [theirs, ours] = found.messages;
    return methods.includes(String(request.method)) && holds(theirs, ours, request);
  };

/** The message itself: theirs if they sent it, otherwise ours. */
export function messageOf(found: Found): Received {
  if (found.what === "changed") return found.messages[1];
  return found.what === "extra" ? found.ours : found.theirs;
}

/** Whether the message as sent contains this. */
export const contains =
  (text: string): Predicate =>
  (found) =>
    JSON.stringify(messageOf(found)).includes(text);

/** Whether the params of the request as sent contain this. */
export const asksFor =
  (text: string): Predicate =>
  ({ request }) =>
    JSON.stringify(request?.params ?? null).includes(text);

export const isAbsent = (_: unknown, ours: unknown): boolean => ours === undefined;
export const isAdded = (theirs: unknown, ours: unknown): boolean => theirs === undefined && ours !== undefined;
export const turnsFrom =
  (before: unknown, after: unknown) =>
  (theirs: unknown, ours: unknown): boolean =>
    theirs === before && ours === after;

/* Kinds of messages, as differences name them. */
export const state = (name: string): string => `droid_working_state_changed ${name}`;
export const streaming = state("streaming_assistant_message");
export const permission = "request droid.request_permission";
export const askingLines = [state("waiting_for_tool_confirmation"), permission, "permission_resolved"];
export const usage = "session_token_usage_changed";

/** Every line of a turn that we lack. */
export const wholeTurn: Predicate = missing(
  streaming,
  "create_message user",
  "assistant_text_delta",
  "create_message assistant",
  state("idle"),
);

export const wordsOf = ({ error }: Received): string => error?.message ?? "";
