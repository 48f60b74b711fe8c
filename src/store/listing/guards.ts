/**
 * Whether a parsed value has the fields that readers of events rely on. Hand-written for speed: resuming a session checks all
 * its records, often thousands.
 */
export type Guard = (value: unknown) => boolean;

export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export const isText = (value: unknown): value is string => typeof value === "string";
/** POSIX or Windows style, because logs can be moved between systems. An empty cwd would contain every path. */
export const isAbsolutePath = (value: unknown): value is string => isText(value) && /^(?:\/|[a-z]:[\\/])/i.test(value);
export const isNumber = (value: unknown): value is number => Number.isFinite(value);
export const isPositiveInteger = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 1;
export function oneOf(...allowed: readonly string[]): Guard {
  return (value) => isText(value) && allowed.includes(value);
}

/** Like `oneOf`, but compilation fails if the type gains a member. */
export function everyOneOf<Name extends string>(names: Readonly<Record<Name, true>>): Guard {
  return oneOf(...Object.keys(names));
}

export function optional(guard: Guard): Guard {
  return (value) => value === undefined || guard(value);
}

export function listOf(guard: Guard): Guard {
  return (value) => Array.isArray(value) && value.every(guard);
}

export function shape(guards: Readonly<Record<string, Guard>>): Guard {
  const entries = Object.entries(guards);
  return (value) => isFields(value) && entries.every(([key, guard]) => guard(value[key]));
}

export function each(guards: Readonly<Record<string, Guard>>, change: (guard: Guard) => Guard): Record<string, Guard> {
  return Object.fromEntries(Object.entries(guards).map(([key, guard]) => [key, change(guard)]));
}
