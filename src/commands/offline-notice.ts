import type { Composition } from "../compose.ts";

const remedy = "Set an API key, or name a model with -m, TINMAN_MODEL or config.yaml.";

/** For a run that uses the offline model although nothing names it. */
export const offlineRunNotice = `No model was named: using the offline model, which is a set of rules and not an AI. ${remedy}`;

/** For a process that serves sessions; `undefined` when sessions that name no model get another one. */
export function offlineServerNotice(given: { readonly model?: string }, composition: Composition): string | undefined {
  const { defaultModel, isOfflineNamed } = composition;
  if (given.model !== undefined || isOfflineNamed || defaultModel !== "offline") return undefined;
  return `No model is configured: sessions that name none use the offline model, which is a set of rules and not an AI. ${remedy}`;
}
