/** The whole form of `sandbox` in config.yaml: a word alone is the mode. */
export function wholeSandbox(value: unknown): unknown {
  return typeof value === "string" ? { mode: value } : value;
}
