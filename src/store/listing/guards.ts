import { isRecord, isText } from "../../text/values.ts";

/**
 * Whether a parsed value has the fields that readers of events rely on. Hand-written for speed: resuming a session checks all
 * its records, often thousands.
 */
export type Guard = (value: unknown) => boolean;

/** For a field that every JSON value fits. */
export const isAnything: Guard = () => true;
/** POSIX or Windows style, because logs can be moved between systems. An empty cwd would contain every path. */
export const isAbsolutePath = (value: unknown): value is string => isText(value) && /^(?:\/|[a-z]:[\\/])/i.test(value);
export const isNumber = (value: unknown): value is number => Number.isFinite(value);
export const isFlag: Guard = (value) => typeof value === "boolean";
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

/** A guard for every field of a type: a new field compiles only with one. */
export type FieldGuards<T> = { readonly [Key in keyof T]-?: Guard };

export function shape<T>(guards: FieldGuards<T>): Guard {
  const entries = Object.entries<Guard>(guards);
  return (value) => isRecord(value) && entries.every(([key, guard]) => guard(value[key]));
}

/** The fields of every member of a union, without its tag. */
type VariantGuards<Union, Tag extends keyof Union> = {
  readonly [Kind in Union[Tag] & string]: FieldGuards<Omit<Extract<Union, { readonly [Key in Tag]: Kind }>, Tag>>;
};

export function guardsByKind<Union, Tag extends keyof Union>(
  variants: VariantGuards<Union, Tag>,
): ReadonlyMap<string, Guard> {
  const kinds = Object.entries<FieldGuards<Readonly<Record<string, unknown>>>>(variants);
  return new Map(kinds.map(([kind, fields]) => [kind, shape(fields)]));
}

/** A union whose members differ by the string in `tag`. */
export function variants<Union, Tag extends keyof Union & string>(tag: Tag, guards: VariantGuards<Union, Tag>): Guard {
  const byKind = guardsByKind<Union, Tag>(guards);
  return (value) => {
    const kind = isRecord(value) ? value[tag] : undefined;
    return isText(kind) && (byKind.get(kind)?.(value) ?? false);
  };
}

export function each<Key extends string>(
  guards: Readonly<Record<Key, Guard>>,
  change: (guard: Guard) => Guard,
): Readonly<Record<Key, Guard>> {
  const changed = Object.entries<Guard>(guards).map(([key, guard]) => [key, change(guard)]);
  return Object.fromEntries(changed) as Readonly<Record<Key, Guard>>;
}
