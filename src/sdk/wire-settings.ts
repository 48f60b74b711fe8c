import { type Fields, fieldsOf, textOf } from "../text/values.ts";
import type { SettingsChange } from "./api.ts";
import type { Settings } from "./types.ts";
import { given } from "./wire.ts";

/** Settings in the vocabularies of current and older backends. */

const levels = ["off", "low", "medium", "high"] as const;
type Level = (typeof levels)[number];

/** Older backends have one word for mode and level, as `autonomyMode` does. */
const combined: Readonly<Record<string, { readonly interactionMode: string; readonly autonomyLevel: Level }>> = {
  spec: { interactionMode: "spec", autonomyLevel: "off" },
  normal: { interactionMode: "auto", autonomyLevel: "off" },
  "auto-low": { interactionMode: "auto", autonomyLevel: "low" },
  "auto-medium": { interactionMode: "auto", autonomyLevel: "medium" },
  "auto-high": { interactionMode: "auto", autonomyLevel: "high" },
};

const unknownSettings: Settings = { modelId: "", interactionMode: "auto", autonomyLevel: "off" };

/** The known settings with the backend's changes. `null` removes a setting. */
export function mergedSettings(value: unknown, known: Settings = unknownSettings): Settings {
  const changed = fieldsOf(value);
  const kept = (key: "reasoningEffort" | "specModeModelId" | "specModeReasoningEffort"): string | undefined =>
    changed[key] === null ? undefined : (textOf(changed[key]) ?? known[key]);
  const { interactionMode, autonomyLevel } = modeOf(changed);
  return given<Settings>({
    modelId: textOf(changed.modelId) ?? known.modelId,
    reasoningEffort: kept("reasoningEffort"),
    interactionMode: interactionMode ?? known.interactionMode,
    autonomyLevel: autonomyLevel ?? known.autonomyLevel,
    specModeModelId: kept("specModeModelId"),
    specModeReasoningEffort: kept("specModeReasoningEffort"),
    sandbox: sandboxOf(changed.sandbox) ?? known.sandbox,
  });
}

function sandboxOf(value: unknown): Settings["sandbox"] {
  const { enabled, mode } = fieldsOf(value);
  return typeof enabled === "boolean" ? given({ enabled, mode: textOf(mode) }) : undefined;
}

function modeOf({ interactionMode, autonomyLevel, autonomyMode }: Fields) {
  const older = combinedOf(autonomyLevel) ?? combinedOf(autonomyMode);
  return {
    interactionMode: textOf(interactionMode) ?? older?.interactionMode,
    autonomyLevel: levels.find((level) => level === autonomyLevel) ?? older?.autonomyLevel,
  };
}

function combinedOf(word: unknown) {
  return typeof word === "string" && Object.hasOwn(combined, word) ? combined[word] : undefined;
}

/** The same changes for backends with one word for both. Undefined if they are the same. */
export function inOlderWords(wishes: SettingsChange & Fields): Fields | undefined {
  const { interactionMode, autonomyLevel, ...others } = wishes;
  if (interactionMode === undefined && autonomyLevel === undefined) return undefined;
  const level = autonomyLevel === undefined || autonomyLevel === "off" ? "normal" : `auto-${autonomyLevel}`;
  return { ...others, autonomyLevel: interactionMode === "spec" ? "spec" : level };
}
