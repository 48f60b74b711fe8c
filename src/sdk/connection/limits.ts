import type { Timeouts } from "../api.ts";

/** Milliseconds; 0 means no limit. */
export type Limits = Required<Timeouts>;

export const defaultLimits: Limits = {
  request: 30_000,
  open: 60_000,
  begin: 120_000,
  turn: 0,
  silence: 0,
  grace: 250,
};
