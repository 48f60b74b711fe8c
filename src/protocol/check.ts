import type { core } from "zod/mini";
import { safeParse } from "zod/mini";
import type { Wire } from "./droid/zod.ts";

export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  /** In words for whoever wrote the client. Never holds a value that was sent: it may be a key. */
  | { readonly ok: false; readonly problem: string };

const mostTold = 3;

/** Reads what a client sent by its schema. */
export function check<S extends core.$ZodType>(schema: S, value: unknown): Checked<Wire<S>> {
  const read = safeParse(schema, value, { error: wordsOf });
  if (read.success) return { ok: true, value: read.data as Wire<S> };
  const { issues } = read.error;
  const told = issues.slice(0, mostTold).map(({ path, message }) => `${nameOf(path)} ${message}`);
  const more = issues.length - told.length;
  return { ok: false, problem: `${told.join("; ")}${more > 0 ? `; and ${more} more` : ""}` };
}

type Issue = Parameters<core.$ZodErrorMap>[0];

function wordsOf(issue: Issue): string {
  const isMissing = issue.input === undefined;
  switch (issue.code) {
    case "invalid_type":
      return isMissing ? `is missing: it must be ${kind(issue.expected)}` : `must be ${kind(issue.expected)}`;
    case "invalid_value":
      return `${isMissing ? "is missing: it " : ""}must be ${oneOf(issue.values)}`;
    case "invalid_union":
      return Array.isArray(issue.options) ? `must be ${oneOf(issue.options)}` : "has a wrong type";
    case "too_big":
      return `is too long or too large: at most ${issue.maximum}`;
    case "too_small":
      return `must be at least ${issue.minimum}`;
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

/** `images[0].mediaType`; of the whole, `params`. */
function nameOf(path: readonly PropertyKey[]): string {
  let name = "";
  for (const part of path) name += typeof part === "number" ? `[${part}]` : `${name === "" ? "" : "."}${String(part)}`;
  return name === "" ? "params" : name;
}
