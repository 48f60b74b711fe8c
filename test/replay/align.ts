import { isDeepStrictEqual } from "node:util";
import type { Received } from "../fakes/rpc/wire.ts";

export interface Line {
  readonly message: Received;
  /** The id of the request that a response answers, even if null there, or that settings belong to. */
  readonly answers?: string;
  /** The id of the request with the turn's prompt. */
  readonly turn?: string;
}

export type Difference = Omit<Line, "message"> & { readonly kind: string } & (
    | { readonly what: "missing" | "moved"; readonly theirs: Received }
    | { readonly what: "extra"; readonly ours: Received }
    | {
        readonly what: "changed";
        readonly path: string;
        readonly theirs: unknown;
        readonly ours: unknown;
        /** The two messages, complete. */
        readonly messages: readonly [theirs: Received, ours: Received];
      }
  );

/** A message's kind, apart from its content: only messages of one kind are compared. */
export function kindOf({ type, method, params }: Received): string {
  if (type !== "notification") return type === "request" ? `request ${method}` : String(type);
  const notice = params?.notification ?? { type: "none" };
  const parts: Readonly<Record<string, unknown>> = {
    create_message: (notice.message as { role?: string } | undefined)?.role,
    droid_working_state_changed: notice.newState,
  };
  const part = parts[notice.type];
  return part === undefined ? notice.type : `${notice.type} ${part}`;
}

/** A message's subject: two of one kind with different subjects are not counterparts. */
function subjectOf({ message, answers }: Line): string | undefined {
  const { type, params } = message;
  if (type === "response") return answers;
  if (type === "request") return String(message.id);
  const notice = params?.notification;
  if (notice === undefined) return undefined;
  const { toolUse, messageId, textDelta } = notice;
  const about: Readonly<Record<string, unknown>> = {
    tool_call: toolUse,
    tool_result: notice.toolUseId,
    permission_resolved: notice.requestId,
    session_token_usage_changed: notice.tokenUsage,
    assistant_text_delta: [messageId, textDelta],
    thinking_text_delta: [messageId, textDelta],
    queued_messages_discarded: notice.text,
    create_message: (notice.message as { id?: unknown } | undefined)?.id,
  };
  return JSON.stringify(about[notice.type]);
}

function areCounterparts(theirs: Line, ours: Line): boolean {
  if (kindOf(theirs.message) !== kindOf(ours.message)) return false;
  const [one, other] = [subjectOf(theirs), subjectOf(ours)];
  return one === other;
}

/**
 * Every difference between two servers' lines, by their best alignment. Only identifiable messages count as moved; a
 * state elsewhere, for example, is missing here and extra there.
 */
export function differencesOf(theirs: readonly Line[], ours: readonly Line[]): readonly Difference[] {
  const pairs = alignmentOf(theirs, ours);
  const found: Difference[] = [];
  const missing = theirs.filter((_, index) => !pairs.some(([one]) => one === index));
  const extra = ours.filter((_, index) => !pairs.some(([, one]) => one === index));
  const about = ({ message, ...place }: Line) => ({ kind: kindOf(message), ...place });
  const compare = (one: Line, other: Line): void => {
    for (const field of changedFields(one.message, other.message, "")) {
      found.push({ ...about(one), what: "changed", ...field, messages: [one.message, other.message] });
    }
  };
  for (const [one, other] of pairs) compare(theirs[one] as Line, ours[other] as Line);
  for (const line of missing) {
    const isKnown = subjectOf(line) !== undefined;
    const index = isKnown ? extra.findIndex((candidate) => areCounterparts(line, candidate)) : -1;
    const [other] = index === -1 ? [] : extra.splice(index, 1);
    found.push({ ...about(line), what: other === undefined ? "missing" : "moved", theirs: line.message });
    if (other !== undefined) compare(line, other);
  }
  for (const line of extra) found.push({ ...about(line), what: "extra", ours: line.message });
  return found;
}

/** Their time varies, so they hold nothing in place. */
const loose = new Set(["session_token_usage_changed", "mcp_status_changed"]);

/** The weight of a pair: messages with a subject hold the others in place. */
function worth(theirs: Line, ours: Line): number {
  const isEqual = isDeepStrictEqual(theirs.message, ours.message);
  if (!isEqual && !areCounterparts(theirs, ours)) return 0;
  if (loose.has(kindOf(theirs.message))) return 1;
  if (subjectOf(theirs) === undefined) return isEqual ? 4 : 2;
  return isEqual ? 16 : 12;
}

/** Pairs of indices in order, with the highest total weight. */
function alignmentOf(theirs: readonly Line[], ours: readonly Line[]): readonly (readonly [number, number])[] {
  const scores = theirs.map((one) => ours.map((other) => worth(one, other)));
  const score = (i: number, j: number): number => scores[i]?.[j] ?? 0;
  const best = Array.from({ length: theirs.length + 1 }, () => new Array<number>(ours.length + 1).fill(0));
  const at = (i: number, j: number): number => best[i]?.[j] ?? 0;
  for (let i = theirs.length - 1; i >= 0; i -= 1) {
    for (let j = ours.length - 1; j >= 0; j -= 1) {
      const paired = score(i, j) > 0 ? at(i + 1, j + 1) + score(i, j) : 0;
      (best[i] as number[])[j] = Math.max(paired, at(i + 1, j), at(i, j + 1));
    }
  }
  const pairs: (readonly [number, number])[] = [];
  let [i, j] = [0, 0];
  while (i < theirs.length && j < ours.length) {
    if (score(i, j) > 0 && at(i, j) === at(i + 1, j + 1) + score(i, j)) {
      pairs.push([i, j]);
      [i, j] = [i + 1, j + 1];
    } else if (at(i, j) === at(i + 1, j)) i += 1;
    else j += 1;
  }
  return pairs;
}

interface ChangedField {
  readonly path: string;
  readonly theirs: unknown;
  readonly ours: unknown;
}

/** Lists of the same things, by their ids and their number, are compared one by one, others as a whole. */
function changedFields(theirs: unknown, ours: unknown, path: string): readonly ChangedField[] {
  if (isDeepStrictEqual(theirs, ours)) return [];
  const isList = Array.isArray(theirs) && Array.isArray(ours) && isDeepStrictEqual(idsIn(theirs), idsIn(ours));
  if (!isList && !(isRecord(theirs) && isRecord(ours))) return [{ path, theirs, ours }];
  const [one, other] = [theirs as Readonly<Record<string, unknown>>, ours as Readonly<Record<string, unknown>>];
  const keys = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return keys.flatMap((key) => changedFields(one[key], other[key], path === "" ? key : `${path}.${key}`));
}

const idsIn = (list: readonly unknown[]): readonly unknown[] =>
  list.map((one) => (one as { readonly id?: unknown } | null)?.id);
const isRecord = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);
