const variable = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** The names in `${NAME}`, in the order of the text. */
export function variablesIn(text: string): readonly string[] {
  return Array.from(text.matchAll(variable), ([, name = ""]) => name);
}

/** The user meant a variable, and its name would be sent instead. A dollar sign alone may be part of a key. */
export function hasBrokenVariable(text: string): boolean {
  return text.replace(variable, "").includes("${") || /^\$[A-Za-z_][A-Za-z0-9_]*$/.test(text.trim());
}
