import type { SettingsChanges } from "./event.ts";
import type { SessionSettings } from "./settings.ts";

/** A decision for every setting: a value, `null` to remove it, or `undefined` to keep it. */
export type SettingDecisions = {
  readonly [Key in keyof SessionSettings]-?: SessionSettings[Key] | null | undefined;
};

/** A new setting compiles only once every caller decides about it. */
export function changesOf(decisions: SettingDecisions): SettingsChanges {
  return Object.fromEntries(Object.entries(decisions).filter(([, value]) => value !== undefined));
}

/** Drops the removals. */
export function definite(changes: SettingsChanges): Partial<SessionSettings> {
  const entries = Object.entries(changes).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(entries) as Partial<SessionSettings>;
}
