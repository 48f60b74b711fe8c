import type { Composition } from "../../compose.ts";
import type { ModelByDefault, RunOptions } from "../../engine/settings.ts";

const offline = "the offline model, a set of rules instead of an AI.";
const setOne = "Set an API key, or name a model with -m, TINMAN_MODEL or config.yaml.";

type Known = Pick<Composition, "unusedKey" | "defaultModel" | "modelOverride" | "namesOffline">;

/** Why a run gets the offline model without naming it, and how to get another. `wanted` is the value of `-m`. */
export async function whyOffline(
  known: Known,
  wanted: string | undefined,
  isContinued: boolean,
): Promise<ModelByDefault> {
  const { defaultModel, modelOverride, namesOffline } = known;
  if (isContinued && wanted === undefined && modelOverride === undefined) {
    const example = namesOffline(defaultModel) ? "" : `, such as -m ${defaultModel}`;
    return { reason: "The session keeps its model", remedy: `Change it with -m${example}.` };
  }
  const asked = modelOverride ?? wanted ?? defaultModel;
  if (!namesOffline(asked)) {
    const reason = `Unknown model "${asked}", replaced by models.fallback`;
    return { reason, remedy: "Correct the name, or name another model with -m, TINMAN_MODEL or config.yaml." };
  }
  const key = await known.unusedKey();
  if (key === undefined) return { reason: "No model was named", remedy: setOne };
  return {
    reason: `${key.variable} is set, but it has no default model and none was named`,
    remedy: `Name one with -m ${key.provider}/<model>, TINMAN_MODEL or config.yaml.`,
  };
}

export function offlineRunNotice({ reason, remedy }: ModelByDefault): string {
  return `${reason}: using ${offline} ${remedy}`;
}

/** For a process that serves sessions; undefined if sessions get another model by default. */
export async function offlineServerNotice(
  given: { readonly model?: string },
  composition: Composition,
): Promise<(ModelByDefault & { readonly text: string }) | undefined> {
  const { isOfflineNamed, namesOffline, models, modelOverride, defaultModel } = composition;
  const asked = modelOverride ?? given.model ?? defaultModel;
  if (isOfflineNamed || (given.model !== undefined && namesOffline(given.model))) return undefined;
  if ((await models.resolve(asked)).info.id !== "offline") return undefined;
  const why = await whyOffline(composition, given.model, false);
  const key = await composition.unusedKey();
  const none = key === undefined ? "No model is configured" : `${key.variable} is set, but no model is configured`;
  const reason = namesOffline(asked) ? none : why.reason;
  return { ...why, reason, text: `${reason}: sessions that name none use ${offline} ${why.remedy}` };
}

/** The notice for clients of such sessions. */
export function noticeOf(notice: { readonly text: string } | undefined): Pick<RunOptions, "unaskedModelNotice"> {
  return notice === undefined ? {} : { unaskedModelNotice: { modelId: "offline", text: notice.text } };
}
