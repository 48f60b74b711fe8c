import type { z } from "zod";
import type { Violation } from "./openai-errors.ts";
import { violation } from "./openai-errors.ts";

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** Violations of `schema`, each in the real service's words. Parse with `reportInput`, so that it knows the value. */
export function schemaViolations(error: z.ZodError): Violation[] {
  return error.issues.flatMap((issue) => violationsOf(issue, []));
}

/** `messages[0].content[1].type` */
export function parameterName(path: Path): string {
  let name = "";
  for (const step of path) {
    if (typeof step === "number") name += `[${step}]`;
    else name += name === "" ? String(step) : `.${String(step)}`;
  }
  return name;
}

function violationsOf(issue: Issue, base: Path): Violation[] {
  const path = [...base, ...issue.path];
  const name = parameterName(path);
  const missing = () => violation(`Missing required parameter: '${name}'.`, name, "missing_required_parameter");
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map((key) => {
        const parameter = parameterName([...path, key]);
        return violation(`Unknown parameter: '${parameter}'.`, parameter, "unknown_parameter");
      });
    case "invalid_type":
      return [issue.input === undefined ? missing() : wrongType(name, [issue.expected], issue.input)];
    case "invalid_value":
      if (issue.input === undefined) return [missing()];
      return [wrongValue(name, issue.input, issue.values)];
    case "too_big":
      if (issue.origin === "string") return [tooLong(name, issue.maximum, String(issue.input))];
      return [outOfRange(name, "above maximum", "<=", issue.maximum, issue.input)];
    case "too_small":
      if (issue.origin !== "array") return [outOfRange(name, "below minimum", ">=", issue.minimum, issue.input)];
      return [emptyArray(name, issue.minimum)];
    case "invalid_format": {
      const pattern = issue.pattern?.replace(/^\/|\/$/g, "") ?? issue.format;
      const words = `string does not match pattern. Expected a string that matches the pattern '${pattern}'.`;
      return [violation(`Invalid '${name}': ${words}`, name, "invalid_value")];
    }
    case "invalid_union":
      return unionViolations(issue, path);
    default:
      return [violation(`Invalid '${name}': ${issue.message}`, name, "invalid_value")];
  }
}

function unionViolations(issue: z.core.$ZodIssueInvalidUnion, path: Path): Violation[] {
  const name = parameterName(path);
  const { input } = issue;
  if ("options" in issue && issue.discriminator !== undefined) {
    const value = isRecord(input) ? input[issue.discriminator] : undefined;
    if (value !== undefined) return [wrongValue(name, value, issue.options ?? [])];
    return [violation(`Missing required parameter: '${name}'.`, name, "missing_required_parameter")];
  }
  if (input === undefined) {
    return [violation(`Missing required parameter: '${name}'.`, name, "missing_required_parameter")];
  }
  const entered = issue.errors.filter((branch) => !branch.some((inner) => isRootType(inner)));
  if (entered.length === 0) {
    const expected = issue.errors.flat().flatMap((inner) => (isRootType(inner) ? [inner.expected] : []));
    if (expected.length > 0) return [wrongType(name, expected, input)];
    return [
      wrongValue(
        name,
        input,
        issue.errors.flat().flatMap((inner) => valuesOf(inner)),
      ),
    ];
  }
  const meant = entered.filter((branch) => !branch.some((inner) => isTag(inner)));
  const best = [...(meant.length > 0 ? meant : entered)].sort((a, b) => a.length - b.length)[0] ?? [];
  if (meant.length > 0) return best.flatMap((inner) => violationsOf(inner, path));
  const tags = entered.flat().filter((inner) => isTag(inner) && inner.code === "invalid_value");
  const tag = tags.find((inner) => inner.input !== undefined) ?? tags[0];
  if (tag === undefined) return best.flatMap((inner) => violationsOf(inner, path));
  const parameter = parameterName([...path, ...tag.path]);
  if (tag.input === undefined) {
    return [violation(`Missing required parameter: '${parameter}'.`, parameter, "missing_required_parameter")];
  }
  const rivals = tags.filter((inner) => inner.path[0] === tag.path[0]);
  return [wrongValue(parameter, tag.input, [...new Set(rivals.flatMap((inner) => valuesOf(inner)))])];
}

function isRootType(issue: Issue): issue is z.core.$ZodIssueInvalidType {
  return issue.code === "invalid_type" && issue.path.length === 0;
}

/** A fault in a discriminating field: that branch's other faults are irrelevant. */
function isTag(issue: Issue): boolean {
  if (issue.code === "unrecognized_keys" && issue.path.length === 0) return issue.keys.some((key) => isTagName(key));
  return issue.path.length === 1 && isTagName(issue.path[0]);
}

function isTagName(key: PropertyKey | undefined): boolean {
  return key === "type" || key === "role";
}

function valuesOf(issue: Issue): readonly unknown[] {
  return issue.code === "invalid_value" ? issue.values : [];
}

const nouns: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a decimal",
  int: "an integer",
  boolean: "a boolean",
  array: "an array",
  object: "an object",
  record: "an object",
  null: "null",
};

function wrongType(name: string, expected: readonly string[], input: unknown): Violation {
  const wanted = expected.map((type) => nouns[type] ?? type);
  const list = wanted.length === 1 ? wanted[0] : `one of ${wanted.join(" or ")}`;
  const got = input === null ? "null" : Array.isArray(input) ? "an array" : (nouns[typeof input] ?? typeof input);
  return violation(`Invalid type for '${name}': expected ${list}, but got ${got} instead.`, name, "invalid_type");
}

function wrongValue(name: string, input: unknown, values: readonly unknown[]): Violation {
  return violation(
    `Invalid value: '${String(input)}'. Supported values are: ${quoted(values)}.`,
    name,
    "invalid_value",
  );
}

/** `'low', 'medium', and 'high'` */
export function quoted(values: readonly unknown[]): string {
  const words = values.map((value) => `'${String(value)}'`);
  if (words.length < 3) return words.join(" and ");
  return `${words.slice(0, -1).join(", ")}, and ${words.at(-1)}`;
}

function tooLong(name: string, maximum: number | bigint, input: string): Violation {
  const words = `Expected a string with maximum length ${maximum}, but got a string with length ${input.length} instead.`;
  return violation(`Invalid '${name}': string too long. ${words}`, name, "string_above_max_length");
}

function emptyArray(name: string, minimum: number | bigint): Violation {
  const words = `Expected an array with minimum length ${minimum}, but got an empty array instead.`;
  return violation(`Invalid '${name}': empty array. ${words}`, name, "empty_array");
}

function outOfRange(name: string, how: string, sign: string, limit: number | bigint, input: unknown): Violation {
  const kind = Number.isInteger(input) ? "integer" : "decimal";
  const words = `${kind} ${how} value. Expected a value ${sign} ${limit}, but got ${String(input)} instead.`;
  return violation(
    `Invalid '${name}': ${words}`,
    name,
    `${kind}_${how.replace(" minimum", "_min").replace(" maximum", "_max")}_value`,
  );
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
