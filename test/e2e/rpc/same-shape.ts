/** Keys whose values belong to one conversation, not to the protocol. */
const ownValues = new Set([
  "id",
  "requestId",
  "messageId",
  "parentId",
  "sessionId",
  "createdAt",
  "updatedAt",
  "timestamp",
  "cwd",
]);

export interface ShapeOptions {
  /** More keys whose values are specific to the example. */
  readonly own?: readonly string[];
}

/**
 * Where `actual` lacks part of the example: a key, its JSON type, or a protocol value. "..." in the example matches
 * any text; extra keys of `actual` are additions.
 */
export function differences(actual: unknown, example: unknown, options: ShapeOptions = {}, path = "$"): string[] {
  if (jsonType(actual) !== jsonType(example))
    return [`${path}: ${JSON.stringify(actual)?.slice(0, 200)} is not of the type of ${JSON.stringify(example)}`];
  if (Array.isArray(example)) {
    const items = actual as readonly unknown[];
    if (items.length < example.length) return [`${path}: ${items.length} instead of ${example.length} items`];
    return example.flatMap((item, at) => differences(items[at], item, options, `${path}[${at}]`));
  }
  if (typeof example === "object" && example !== null) {
    const fields = actual as Readonly<Record<string, unknown>>;
    return Object.entries(example).flatMap(([key, value]) => {
      if (!(key in fields)) return [`${path}.${key}: is missing`];
      return differences(fields[key], value, options, `${path}.${key}`);
    });
  }
  const key = /\.(\w+)$/.exec(path)?.[1] ?? "";
  // "root" is a protocol value, even where other values are ids.
  const own = example !== "root" && (ownValues.has(key) || options.own?.includes(key) === true);
  if (own || actual === example || (typeof example === "string" && example.includes("..."))) return [];
  return [`${path}: ${JSON.stringify(actual)} is not ${JSON.stringify(example)}`];
}

function jsonType(value: unknown): string {
  if (Array.isArray(value)) return "array";
  return value === null ? "null" : typeof value;
}
