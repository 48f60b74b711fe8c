import { isMap } from "../check/form.ts";

/** `models` in its long form. A list is short for `entries`. An empty key may contain only comments. */
export function wholeModels(value: unknown): unknown {
  if (value === null) return {};
  if (Array.isArray(value)) return { entries: value };
  if (!isMap(value)) return value;
  return Object.fromEntries(
    Object.entries(value).filter(([key, one]) => one !== null || (key !== "entries" && key !== "aliases")),
  );
}
