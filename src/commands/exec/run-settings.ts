import type { SessionSettings } from "../../engine/settings.ts";
import { changesOf, definite } from "../../engine/settings-changes.ts";
import type { GivenExec } from "./exec-options.ts";

/** Session settings from the options of `exec`. */
export function runSettings(
  given: GivenExec,
  known: {
    readonly modelId: string | undefined;
    readonly isModelNamed: boolean;
    readonly appended: string | undefined;
  },
): Partial<SessionSettings> {
  const decisions = changesOf({
    // Permissions of an earlier run must not carry over, so the options decide.
    autonomy: given.auto ?? "off",
    mode: given.useSpec === true ? "spec" : "auto",
    modelId: known.modelId,
    isModelNamed: known.isModelNamed ? true : undefined,
    reasoningEffort: given.reasoningEffort,
    specModelId: given.specModel,
    specReasoningEffort: given.specReasoningEffort,
    systemPrompt: undefined,
    appendSystemPrompt: known.appended,
    tags: given.tag,
    owner: undefined,
    userId: undefined,
    clientTools: undefined,
    clientRunsTools: undefined,
    compacts: undefined,
    compactAt: undefined,
  });
  return definite(decisions);
}
