import { isRecord } from "../text/values.ts";

/** Checks for untyped callers. Errors name the wrong option. */

export type Check = readonly [what: string, is: (value: unknown) => boolean];

/** Checks by option name. Absent options are not checked. */
export type Checks<Name extends string> = Readonly<Partial<Record<Name, Check>>>;

const isString = (value: unknown): value is string => typeof value === "string";

export const aString: Check = ["a string", isString];
export const aFunction: Check = ["a function", (value) => typeof value === "function"];
export const anObject: Check = ["an object", isRecord];
export const aListOfStrings: Check = ["a list of strings", (value) => Array.isArray(value) && value.every(isString)];
// Checked by shape, because test environments have their own AbortSignal class.
export const aSignal: Check = [
  "an AbortSignal",
  (value) => isRecord(value) && typeof value.throwIfAborted === "function",
];

export function aNumberFrom(least: number): Check {
  return [`a number of at least ${least}`, (value) => typeof value === "number" && value >= least];
}

export function oneOf(...words: readonly string[]): Check {
  const names = words.map((word) => JSON.stringify(word));
  const what = `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
  return [what, (value) => isString(value) && words.includes(value)];
}

export function aListOf(what: string, isOne: (value: Readonly<Record<string, unknown>>) => boolean): Check {
  return [`a list of ${what}`, (value) => Array.isArray(value) && value.every((one) => isRecord(one) && isOne(one))];
}

/** Throws a TypeError for invalid options. */
export function checkEach(of: string, options: unknown, checks: Checks<string>): void {
  if (!isRecord(options)) throw new TypeError(`The options of ${of} must be an object.`);
  for (const [name, check] of Object.entries(checks)) {
    const value = options[name];
    if (value !== undefined && check !== undefined) checkOne(`The option ${name} of ${of}`, value, check);
  }
}

export function checkOne(name: string, value: unknown, [what, is]: Check): void {
  if (!is(value)) throw new TypeError(`${name} must be ${what}.`);
}
