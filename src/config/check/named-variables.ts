import type { UserConfig } from "./checked-config.ts";
import { variablesIn } from "./variables.ts";

/** The environment variables used in model addresses, keys and headers. */
export function namedVariables({ models }: UserConfig): readonly string[] {
  const texts = (models?.entries ?? []).flatMap(({ baseUrl, apiKey, headers }) => [
    baseUrl ?? "",
    apiKey ?? "",
    ...Object.values(headers ?? {}),
  ]);
  return [...new Set(texts.flatMap(variablesIn))];
}
