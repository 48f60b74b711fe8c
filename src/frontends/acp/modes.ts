import type { SessionConfigOption, SessionConfigSelectOption, SessionModeState } from "@agentclientprotocol/sdk";
import { bounds } from "../../access/ceilings.ts";
import type { SettingsChange } from "../../sdk/api.ts";
import type { ModelInfo, Settings } from "../../sdk/types.ts";

const levels = {
  off: ["Ask", "Asks before it changes anything; only reads unasked."],
  low: ["Auto (low)", "Creates and edits files in the folder unasked."],
  medium: ["Auto (medium)", "Also builds, tests, installs and commits unasked."],
  high: ["Auto (high)", "Runs every command unasked."],
} as const;

type Level = keyof typeof levels;

const modes = {
  ...levels,
  spec: ["Plan", "Only reads, and proposes a plan for approval."],
} as const;

/** Names used by other clients. */
const aliases: Readonly<Record<string, keyof typeof modes>> = {
  normal: "off",
  "auto-low": "low",
  "auto-medium": "medium",
  "auto-high": "high",
};

export const optionIds = { mode: "mode", model: "model", effort: "thought_level" } as const;

/** As returned by `session/new` and `session/load`. `models` is for clients of older ACP versions. */
export interface SessionState {
  readonly modes: SessionModeState;
  readonly configOptions: SessionConfigOption[];
  readonly models: {
    readonly currentModelId: string;
    readonly availableModels: readonly { readonly modelId: string; readonly name: string }[];
  };
}

export function modeOf({ interactionMode, autonomyLevel }: Settings): keyof typeof modes {
  return interactionMode === "spec" ? "spec" : autonomyLevel;
}

/** Undefined for an unknown mode. */
export function changeToMode(id: string): SettingsChange | undefined {
  const known = Object.hasOwn(aliases, id) ? aliases[id] : id;
  if (known === "spec") return { interactionMode: "spec" };
  if (known === undefined || !Object.hasOwn(levels, known)) return undefined;
  return { interactionMode: "auto", autonomyLevel: known as Level };
}

/** Changes that bring a reopened session down to the level this program was started with. */
export function boundsOf({ autonomyLevel: was }: Settings, started: SettingsChange): SettingsChange {
  const { autonomyLevel: most, interactionMode } = started;
  const { autonomy, mode } = bounds({ autonomy: was }, { most, spec: interactionMode === "spec" });
  return {
    ...(autonomy ? { autonomyLevel: autonomy } : {}),
    ...(mode ? { interactionMode: mode } : {}),
  };
}

export function modeNames(): string {
  return Object.keys(modes).join(", ");
}

export function sessionState(settings: Settings, models: readonly ModelInfo[]): SessionState {
  const named = namedModels(settings, models);
  return {
    modes: {
      currentModeId: modeOf(settings),
      availableModes: Object.entries(modes).map(([id, [name, description]]) => ({ id, name, description })),
    },
    configOptions: configOptions(settings, models),
    models: {
      currentModelId: settings.modelId,
      availableModels: named.map(({ value, name }) => ({ modelId: value, name })),
    },
  };
}

export function configOptions(settings: Settings, models: readonly ModelInfo[]): SessionConfigOption[] {
  const select = (id: string, name: string, currentValue: string, options: SessionConfigSelectOption[]) =>
    ({ id, name, category: id, type: "select", currentValue, options }) as const;
  const listed = Object.entries(modes).map(([value, [name, description]]) => ({ value, name, description }));
  const efforts = effortsOf(settings, models);
  return [
    select(optionIds.mode, "Mode", modeOf(settings), listed),
    select(optionIds.model, "Model", settings.modelId, namedModels(settings, models)),
    ...(efforts.length < 2
      ? []
      : [
          select(
            optionIds.effort,
            "Thinking",
            effortOf(settings),
            efforts.map((effort) => ({ value: effort, name: effort })),
          ),
        ]),
  ];
}

export function effortOf({ reasoningEffort }: Settings): string {
  return reasoningEffort ?? "none";
}

/** The model's efforts, and the current one even if the model does not support it. */
export function effortsOf(settings: Settings, models: readonly ModelInfo[]): readonly string[] {
  const known = models.find(({ id }) => id === settings.modelId)?.reasoningEfforts ?? [];
  const current = effortOf(settings);
  return known.includes(current) ? known : [current, ...known];
}

/** The listed models and the session's own, so that the user can return to it. Empty if there is no list. */
export function choosable({ modelId: id }: Settings, models: readonly ModelInfo[]): readonly ModelInfo[] {
  if (models.length === 0 || models.some((model) => model.id === id)) return models;
  return [{ id, displayName: id, reasoningEfforts: [], isCustom: true, disabled: false }, ...models];
}

/** All usable models, and the current one in any case. */
function namedModels({ modelId }: Settings, models: readonly ModelInfo[]): SessionConfigSelectOption[] {
  const usable = models
    .filter(({ disabled }) => !disabled)
    .map(({ id, displayName }) => ({ value: id, name: displayName }));
  return usable.some(({ value }) => value === modelId) ? usable : [{ value: modelId, name: modelId }, ...usable];
}
