import type { UserConfig } from "./schema.ts";

const variable = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** The variables of the environment that are filled into what models are called with. */
export function namedVariables({ models }: UserConfig): readonly string[] {
  const texts = (models?.entries ?? []).flatMap(({ baseUrl, apiKey, headers }) => [
    baseUrl ?? "",
    apiKey ?? "",
    ...Object.values(headers ?? {}),
  ]);
  const names = texts.flatMap((text) => Array.from(text.matchAll(variable), ([, name = ""]) => name));
  return [...new Set(names)];
}

/** Whether somebody meant a variable and would send its name. A dollar sign alone may be part of a key. */
export function hasBrokenVariable(text: string): boolean {
  return text.replace(variable, "").includes("${") || /^\$[A-Za-z_][A-Za-z0-9_]*$/.test(text.trim());
}
