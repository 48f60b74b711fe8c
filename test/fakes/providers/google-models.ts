import type { GenerateRequest } from "./google-schema.ts";

type Level = "MINIMAL" | "LOW" | "MEDIUM" | "HIGH";

/** How one model thinks, according to documentation and clients, untested with the real model. */
export interface ModelRules {
  /** Gemini 3 and later: calls must be returned with their signature and an id. */
  readonly signed: boolean;
  readonly budget: { readonly least: number; readonly most: number; readonly mayBeZero: boolean };
  readonly levels: readonly Level[];
}

const pro25: ModelRules = { signed: false, budget: { least: 128, most: 32_768, mayBeZero: false }, levels: [] };
const flash25: ModelRules = { signed: false, budget: { least: 1, most: 24_576, mayBeZero: true }, levels: [] };
const lite25: ModelRules = { signed: false, budget: { least: 512, most: 24_576, mayBeZero: true }, levels: [] };
const pro3: ModelRules = { signed: true, budget: pro25.budget, levels: ["LOW", "MEDIUM", "HIGH"] };
const flash3: ModelRules = { signed: true, budget: flash25.budget, levels: ["MINIMAL", "LOW", "MEDIUM", "HIGH"] };

export const googleModels: Readonly<Record<string, ModelRules>> = {
  "gemini-2.5-pro": pro25,
  "gemini-2.5-flash": flash25,
  "gemini-2.5-flash-lite": lite25,
  "gemini-3-pro-preview": { ...pro3, levels: ["LOW", "HIGH"] },
  "gemini-3.1-pro-preview": pro3,
  "gemini-3-flash-preview": flash3,
  "gemini-3.1-flash-lite-preview": flash3,
  "gemini-3.5-flash": flash3,
  "gemini-3.5-flash-lite": flash3,
  "gemini-3.6-flash": flash3,
  "gemini-3.7-flash": { ...flash3, levels: ["LOW", "MEDIUM", "HIGH"] },
  "gemini-3.8-flash": flash3,
};

/** For models that a test names itself: the generation comes from the name. */
export function rulesOf(model: string): ModelRules {
  return googleModels[model] ?? (/gemini-(1|2)\./.test(model) ? flash25 : flash3);
}

export function modelFaults({ generationConfig }: GenerateRequest, rules: ModelRules): string[] {
  const { thinkingConfig, maxOutputTokens, candidateCount, temperature, stopSequences } = generationConfig ?? {};
  const faults: string[] = [];
  if (maxOutputTokens !== undefined && (maxOutputTokens < 1 || maxOutputTokens > 65_536)) {
    faults.push(
      `Unable to submit request because it has a maxOutputTokens value of ${maxOutputTokens} but the supported range is from 1 (inclusive) to 65537 (exclusive). Update the value and try again.`,
    );
  }
  if (temperature !== undefined && (temperature < 0 || temperature > 2)) {
    faults.push("* GenerateContentRequest.generation_config.temperature: temperature must be in the range [0.0, 2.0].");
  }
  if (candidateCount !== undefined && (candidateCount < 1 || candidateCount > 8)) {
    faults.push(
      "* GenerateContentRequest.generation_config.candidate_count: candidate_count must be in the range [1, 8].",
    );
  }
  if ((stopSequences ?? []).length > 5) {
    faults.push("* GenerateContentRequest.generation_config.stop_sequences: at most 5 stop sequences are supported.");
  }
  const { thinkingBudget, thinkingLevel, includeThoughts } = thinkingConfig ?? {};
  if (thinkingBudget !== undefined && thinkingLevel !== undefined) {
    faults.push("You can only set only one of thinking budget and thinking level.");
  }
  const level = thinkingLevel?.toUpperCase() as Level | undefined;
  if (level !== undefined && !rules.levels.includes(level)) {
    faults.push(
      rules.levels.length === 0
        ? "Thinking level is not supported for this model."
        : `Thinking level ${level} is not supported for this model. Please retry with other thinking level.`,
    );
  }
  const { least, most, mayBeZero } = rules.budget;
  if (thinkingBudget === 0 && !mayBeZero) {
    faults.push("Budget 0 is invalid. This model only works in thinking mode.");
  } else if (thinkingBudget !== undefined && thinkingBudget > 0 && (thinkingBudget < least || thinkingBudget > most)) {
    faults.push(
      `The thinking budget ${thinkingBudget} is invalid. Please choose a value between ${least} and ${most}.`,
    );
  } else if (thinkingBudget !== undefined && thinkingBudget < -1) {
    faults.push(
      `The thinking budget ${thinkingBudget} is invalid. Please choose a value between ${least} and ${most}.`,
    );
  }
  if (thinkingBudget === 0 && includeThoughts) {
    faults.push(
      "Unable to submit request because Thinking_config.include_thoughts is only enabled when thinking is enabled.",
    );
  }
  return faults;
}
