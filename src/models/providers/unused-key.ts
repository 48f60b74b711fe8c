import { providers } from "./providers.ts";

export interface UnusedKey {
  readonly variable: string;
  readonly provider: string;
}

/** The first provider key that is set. Some providers have no default model, so their key alone chooses none. */
export function unusedKey(env: Readonly<Record<string, string | undefined>>): UnusedKey | undefined {
  for (const { id, keyVariables } of providers) {
    const variable = keyVariables.find((name) => (env[name] ?? "") !== "");
    if (variable !== undefined) return { variable, provider: id };
  }
  return undefined;
}
