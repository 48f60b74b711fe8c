import { isMap } from "./form.ts";

/* The whole forms of values in config.yaml that have a short form. */

/** `models`: a list is short for `entries`. An empty key may contain only comments. */
export function wholeModels(value: unknown): unknown {
  if (value === null) return {};
  if (Array.isArray(value)) return { entries: value };
  if (!isMap(value)) return value;
  return Object.fromEntries(
    Object.entries(value).filter(([key, one]) => one !== null || (key !== "entries" && key !== "aliases")),
  );
}

/** `sandbox`: a string is short for the mode. */
export function wholeSandbox(value: unknown): unknown {
  return typeof value === "string" ? { mode: value } : value;
}
