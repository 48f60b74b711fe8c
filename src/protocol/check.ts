import type { core } from "zod/mini";
import { safeParse } from "zod/mini";
import type { Wire } from "./droid/zod.ts";

export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  /** For the client's developer. Never quotes a value, which could be a key. */
  | { readonly ok: false; readonly problem: string };

const maxShown = 3;

/** Validates a client's input against a schema. */
export function check<S extends core.$ZodType>(schema: S, value: unknown): Checked<Wire<S>> {
  const read = safeParse(schema, value, { error: messageOf });
  if (read.success) return { ok: true, value: read.data as Wire<S> };
  const { issues } = read.error;
  const shown = issues.slice(0, maxShown).map(({ path, message }) => `${nameOf(path)} ${message}`);
  const more = issues.length - shown.length;
  return { ok: false, problem: `${shown.join("; ")}${more > 0 ? `; and ${more} more` : ""}` };
}

type Issue = Parameters<core.$ZodErrorMap>[0];

function messageOf(issue: Issue): string {
  const isMissing = issue.input === undefined;
  switch (issue.code) {
    case "invalid_type":
      return isMissing ? `is missing: it must be ${kind(issue.expected)}` : `must be ${kind(issue.expected)}`;
    case "invalid_value":
      return `${isMissing ? "is missing: it " : ""}must be ${oneOf(issue.values)}`;
    case "invalid_union":
      return Array.isArray(issue.options) ? `must be ${oneOf(issue.options)}` : "has the wrong type";
    case "too_big":
      return issue.inclusive === false ? `must be below ${issue.maximum}` : `exceeds the limit of ${issue.maximum}`;
    case "too_small":
      return issue.inclusive === false ? `must be above ${issue.minimum}` : `must be at least ${issue.minimum}`;
    default:
      return "is not valid";
  }
}

function kind(expected: string): string {
  if (expected === "record") return "an object";
  if (expected === "int") return "a whole number";
  return /^[aeiou]/.test(expected) ? `an ${expected}` : `a ${expected}`;
}

function oneOf(values: readonly unknown[]): string {
  const words = values.map((value) => JSON.stringify(value));
  return words.length === 1 ? `${words[0]}` : `one of ${words.join(", ")}`;
}

/** A path such as `images[0].mediaType`; `params` for the root. */
function nameOf(path: readonly PropertyKey[]): string {
  let name = "";
  for (const part of path) name += typeof part === "number" ? `[${part}]` : `${name === "" ? "" : "."}${String(part)}`;
  return name === "" ? "params" : name;
}
