import { textStart } from "../../text/text-cut.ts";
import { visible } from "./visible.ts";

/** A value's form: the subset of JSON Schema that `config-forms.json` uses, and named checks. */
export interface Form {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Form>>;
  readonly required?: readonly string[];
  readonly propertyNames?: Form;
  readonly additionalProperties?: boolean | Form;
  readonly items?: Form;
  readonly minItems?: number;
  readonly enum?: readonly string[];
  readonly minLength?: number;
  readonly pattern?: string;
  /** The message for a string that does not match the pattern. */
  readonly patternWords?: string;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  /** Runs if everything else is valid. */
  readonly check?: string;
}

export interface Fault {
  /** From the checked value to the invalid part. */
  readonly path: readonly (string | number)[];
  /** Quotes a string only if the form lists the allowed values. */
  readonly words: string;
}

/** Called only with values that have passed the rest of their form. */
export type Check = (value: never) => Fault | string | undefined;
export type Checks = Readonly<Record<string, Check>>;

/** The first fault of a value. */
export function faultOf(form: Form, value: unknown, checks: Checks): Fault | undefined {
  const words = wrongKind(form, value) ?? wrongText(form, value);
  if (words !== undefined) return { path: [], words };
  return faultInside(form, value, checks) ?? faultByName(form, value, checks);
}

/** A plain map. YAML's tags can also create dates, sets and bytes. */
export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const made: unknown = Object.getPrototypeOf(value);
  return made === Object.prototype || made === null;
}

/** `models.entries.0.id: is missing`; only the message if the whole value is at fault. */
export function faultText({ path, words }: Fault): string {
  const names = path.map((part) => (typeof part === "string" && part.length > 80 ? `${textStart(part, 80)}…` : part));
  return names.length === 0 ? words : `${names.join(".")}: ${words}`;
}

const kinds: Readonly<Record<string, { readonly words: string; fits(value: unknown): boolean }>> = {
  object: { words: "a map of keys", fits: isMap },
  array: { words: "a list", fits: Array.isArray },
  string: { words: "text", fits: (value) => typeof value === "string" },
  boolean: { words: "true or false", fits: (value) => typeof value === "boolean" },
  number: { words: "a number", fits: Number.isFinite },
  integer: { words: "a whole number", fits: Number.isSafeInteger },
};

function wrongKind(form: Form, value: unknown): string | undefined {
  if (form.enum !== undefined) {
    if (form.enum.some((word) => word === value)) return undefined;
    return `must be one of ${form.enum.join(", ")}; got ${typeof value === "string" ? visible(value) : kindOf(value)}`;
  }
  const names = form.type === undefined ? [] : [form.type].flat();
  const known = names.flatMap((name) => kinds[name] ?? []);
  // An unsupported form must not accept anything.
  if (known.length !== names.length) throw new Error(`Unknown type in a form: ${names.join(", ")}.`);
  const isNumber = names.includes("number") || names.includes("integer");
  const fits = known.length === 0 || known.some((kind) => kind.fits(value));
  if (fits && (typeof value !== "number" || isWithin(form, value))) return undefined;
  const wanted = known.map(({ words }) => words).join(" or ");
  return `must be ${wanted}${boundsOf(form)}, got ${isNumber && typeof value === "number" ? value : kindOf(value)}`;
}

function isWithin({ minimum, exclusiveMinimum, maximum }: Form, value: number): boolean {
  return !(
    (minimum !== undefined && value < minimum) ||
    (exclusiveMinimum !== undefined && value <= exclusiveMinimum) ||
    (maximum !== undefined && value > maximum)
  );
}

function boundsOf({ minimum, exclusiveMinimum, maximum }: Form): string {
  const bounds = [
    ...(minimum === undefined ? [] : [`at least ${minimum}`]),
    ...(exclusiveMinimum === undefined ? [] : [`above ${exclusiveMinimum}`]),
    ...(maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? [] : [`at most ${maximum}`]),
  ];
  return bounds.length === 0 ? "" : ` ${bounds.join(" and ")}`;
}

/** For messages: a value's kind, because the value may be a key. */
function kindOf(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (typeof value === "boolean") return String(value);
  return Object.values(kinds).find(({ fits }) => fits(value))?.words ?? "something else";
}

function wrongText({ minLength = 0, pattern, patternWords }: Form, value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  if (value.length < minLength) return minLength === 1 ? "must not be empty" : `must have ${minLength} characters`;
  if (pattern === undefined || new RegExp(pattern).test(value)) return undefined;
  return patternWords ?? `must match ${pattern}`;
}

function faultInside(form: Form, value: unknown, checks: Checks): Fault | undefined {
  if (Array.isArray(value)) {
    if (value.length < (form.minItems ?? 0)) return { path: [], words: "must not be empty" };
    return form.items === undefined ? undefined : faultInList(form.items, value, checks);
  }
  if (!isMap(value)) return undefined;
  const { properties = {}, required = [] } = form;
  const others = Object.keys(value).filter((key) => !Object.hasOwn(properties, key));
  for (const key of others) {
    const fault = faultOfOther(form, key, value[key], checks);
    if (fault !== undefined) return fault;
  }
  const missing = required.find((key) => !Object.hasOwn(value, key));
  if (missing !== undefined) return { path: [missing], words: "is missing" };
  for (const [key, inner] of Object.entries(properties)) {
    const fault = Object.hasOwn(value, key) ? faultOf(inner, value[key], checks) : undefined;
    if (fault !== undefined) return below(key, fault);
  }
  return undefined;
}

function faultInList(form: Form, list: readonly unknown[], checks: Checks): Fault | undefined {
  for (const [index, one] of list.entries()) {
    const fault = faultOf(form, one, checks);
    if (fault !== undefined) return below(index, fault);
  }
  return undefined;
}

/** The fault of a key that the form does not name. */
function faultOfOther(form: Form, key: string, value: unknown, checks: Checks): Fault | undefined {
  const { properties = {}, propertyNames, additionalProperties = true } = form;
  if (additionalProperties === false) {
    return { path: [], words: `unknown key ${visible(key)}; available: ${Object.keys(properties).join(", ")}` };
  }
  // Assigning it elsewhere would change a prototype.
  if (additionalProperties !== true && key === "__proto__") return { path: [key], words: "cannot be used as a name" };
  const fault =
    (propertyNames && faultOf(propertyNames, key, checks)) ??
    (additionalProperties === true ? undefined : faultOf(additionalProperties, value, checks));
  return fault && below(key, fault);
}

function faultByName({ check: name }: Form, value: unknown, checks: Checks): Fault | undefined {
  if (name === undefined) return undefined;
  const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
  if (check === undefined) throw new Error(`Unknown check in a form: ${name}.`);
  const fault = check(value as never);
  return typeof fault === "string" ? { path: [], words: fault } : fault;
}

function below(part: string | number, { path, words }: Fault): Fault {
  return { path: [part, ...path], words };
}
