import type { Timeouts } from "../api.ts";

/** Milliseconds; 0 means no limit. */
export type Limits = Required<Timeouts>;

/** Bytes of a line from a backend. A session's history is one line, and V8 has no longer strings. */
export const defaultMaxLineBytes = 0x1fff_ffe8;

export const defaultLimits: Limits = {
  request: 30_000,
  open: 60_000,
  begin: 120_000,
  turn: 0,
  silence: 0,
  grace: 250,
};

/** A compaction waits for a model, a sign-in for a person. */
const slowMethods: ReadonlyMap<string, number> = new Map([
  ["droid.compact_session", 240_000],
  ["droid.authenticate_mcp_server", 300_000],
]);

export function requestLimit({ request }: Limits, method: string): number {
  return request > 0 ? Math.max(request, slowMethods.get(method) ?? 0) : request;
}
