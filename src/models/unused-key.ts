import { providers } from "./providers.ts";

export interface UnusedKey {
  readonly variable: string;
  readonly provider: string;
}

/** The first key that is set for a provider. Only some providers have a default model, so a key alone may choose none. */
export function unusedKey(env: Readonly<Record<string, string | undefined>>): UnusedKey | undefined {
  for (const { id, keyVariables } of providers) {
    const variable = keyVariables.find((name) => (env[name] ?? "") !== "");
    if (variable !== undefined) return { variable, provider: id };
  }
  return undefined;
}
