/* Reads untrusted JSON. Nothing here throws. */

export type Fields = Readonly<Record<string, unknown>>;

const nothing: Fields = {};

/** A JSON object, not a list or `null`. */
export function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function recordOf(value: unknown): Fields | undefined {
  return isRecord(value) ? value : undefined;
}

/** The fields of an object; empty for anything else. */
export function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : nothing;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function isText(value: unknown): value is string {
  return typeof value === "string";
}

export function textOf(value: unknown): string | undefined {
  return isText(value) ? value : undefined;
}

export function textsOf(value: unknown): readonly string[] {
  return listOf(value).filter(isText);
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** The parsed JSON; `undefined` if malformed. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The message of anything thrown. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
