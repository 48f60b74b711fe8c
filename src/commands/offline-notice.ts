import type { Composition } from "../compose.ts";
import type { ModelByDefault } from "../core/settings.ts";

const offline = "the offline model, which is a set of rules and not an AI.";

/** Why a run that names no model gets the offline model, and how to get another. */
export async function whyOffline(
  { unusedKey, defaultModel }: Pick<Composition, "unusedKey" | "defaultModel">,
  isContinued: boolean,
): Promise<ModelByDefault> {
  if (isContinued) {
    const example = defaultModel === "offline" ? "" : `, such as -m ${defaultModel}`;
    return { reason: "The session keeps its model", remedy: `Change it with -m${example}.` };
  }
  const key = defaultModel === "offline" ? await unusedKey() : undefined;
  if (key === undefined) {
    return {
      reason: "No model was named",
      remedy: "Set an API key, or name a model with -m, TINMAN_MODEL or config.yaml.",
    };
  }
  return {
    reason: `${key.variable} is set, but it has no default model and none was named`,
    remedy: `Name one with -m ${key.provider}/<model>, TINMAN_MODEL or config.yaml.`,
  };
}

/** For a run that uses the offline model although nothing names it. */
export function offlineRunNotice({ reason, remedy }: ModelByDefault): string {
  return `${reason}: using ${offline} ${remedy}`;
}

/** For a process that serves sessions; `undefined` when sessions that name no model get another one. */
export async function offlineServerNotice(
  given: { readonly model?: string },
  composition: Composition,
): Promise<string | undefined> {
  const { defaultModel, isOfflineNamed, unusedKey } = composition;
  if (given.model !== undefined || isOfflineNamed || defaultModel !== "offline") return undefined;
  const { remedy } = await whyOffline(composition, false);
  const key = await unusedKey();
  const reason = key === undefined ? "No model is configured" : `${key.variable} is set, but no model is configured`;
  return `${reason}: sessions that name none use ${offline} ${remedy}`;
}
