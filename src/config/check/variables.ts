const variable = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** The names in `${NAME}`, in order. */
export function variablesIn(text: string): readonly string[] {
  return Array.from(text.matchAll(variable), ([, name = ""]) => name);
}

/** Whether the text contains a misspelled variable, whose name would be sent. A dollar sign alone may be part of a key. */
export function hasBrokenVariable(text: string): boolean {
  return text.replace(variable, "").includes("${") || /^\$[A-Za-z_][A-Za-z0-9_]*$/.test(text.trim());
}
