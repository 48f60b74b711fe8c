import type { SettingsChanges } from "../engine/event.ts";
import { type Autonomy, autonomyLevels, isAbove, type SessionSettings } from "../engine/settings.ts";
import { can } from "./capability.ts";
import { DeniedError } from "./denied.ts";
import type { Identity } from "./identity.ts";

type Models = Partial<{ readonly [K in "modelId" | "specModelId"]: SessionSettings[K] | null }>;

/** Settings for a reopened session: autonomy at most `most`, and spec mode if `spec`. */
export function bounds(
  { autonomy }: Pick<SessionSettings, "autonomy">,
  { most, spec = false }: { readonly most?: Autonomy | undefined; readonly spec?: boolean | undefined },
): Pick<SettingsChanges, "autonomy" | "mode"> {
  const isTooHigh = most !== undefined && isAbove(autonomy, most);
  return { ...(isTooHigh ? { autonomy: most } : {}), ...(spec ? { mode: "spec" } : {}) };
}

/** A script is a file on the server's machine, so only admins can name one other than the server's own. */
function isForeignScript(model: string, own: string): boolean {
  return model.startsWith("script:") && model !== own;
}

function canName(who: Identity, model: string, own: string): boolean {
  const { models } = who.ceilings ?? {};
  if (models !== undefined) return models.includes(model);
  return can(who, "host") || !isForeignScript(model, own);
}

export function nameable<T extends { readonly id: string }>(who: Identity, models: readonly T[], own: string): T[] {
  return models.filter(({ id }) => canName(who, id, own));
}

export function defaultModel(who: Identity, own: string): string {
  return canName(who, own, own) ? own : (who.ceilings?.models?.[0] ?? own);
}

export function checkModels({ modelId, specModelId }: Models, who: Identity, own: string): void {
  for (const model of [modelId, specModelId]) {
    if (typeof model !== "string" || canName(who, model, own)) continue;
    const { models } = who.ceilings ?? {};
    const shown = JSON.stringify(model);
    throw new DeniedError(
      "model_unknown",
      models === undefined
        ? `The script model ${shown} needs the role admin; this token has ${who.role}.`
        : `Model ${shown} is not available to this user. Available: ${models.join(", ")}.`,
    );
  }
}

/** Replaces models that the caller cannot name. */
export function boundModels({ modelId, specModelId }: SessionSettings, who: Identity, own: string): SettingsChanges {
  return {
    ...(canName(who, modelId, own) ? {} : { modelId: defaultModel(who, own) }),
    ...(specModelId === undefined || canName(who, specModelId, own) ? {} : { specModelId: null }),
  };
}

/** The models that both lists allow. Absent: all. */
export function commonModels(
  some: readonly string[] | undefined,
  others: readonly string[] | undefined,
): readonly string[] | undefined {
  if (some === undefined || others === undefined) return some ?? others;
  return some.filter((model) => others.includes(model));
}

export function checkAutonomy({ autonomy }: SettingsChanges, most: Autonomy): void {
  if (autonomy === undefined || autonomy === null || !isAbove(autonomy, most)) return;
  const usable = autonomyLevels.filter((level) => !isAbove(level, most)).join(", ");
  throw new DeniedError("forbidden", `Autonomy ${autonomy} is above the limit here (${most}). Available: ${usable}.`);
}

/** `folder` is canonical. */
export function checkFolder(folder: string, who: Identity): void {
  const { folders } = who.ceilings ?? {};
  if (folders === undefined || folders.some((one) => isWithin(one, folder))) return;
  const shown = JSON.stringify(folder);
  throw new DeniedError(
    "forbidden",
    `Folder ${shown} is outside this user's folders. Available: ${folders.join(", ")}.`,
  );
}

export function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}
