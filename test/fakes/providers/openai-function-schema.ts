import type { Violation } from "./openai-errors.ts";
import { violation } from "./openai-errors.ts";
import { isRecord } from "./openai-schema-errors.ts";

/** The service's reasons to reject a function's JSON Schema. `param`: its place in the request. */
export function functionSchemaViolation(
  name: string,
  parameters: unknown,
  strict: boolean,
  param: string,
): Violation | undefined {
  if (parameters === undefined || parameters === null) return undefined;
  const words = topLevelFault(parameters) ?? nestedFault(parameters, [], strict);
  if (words === undefined) return undefined;
  return violation(`Invalid schema for function '${name}': ${words}`, param, "invalid_function_parameters");
}

function topLevelFault(schema: unknown): string | undefined {
  const type = isRecord(schema) ? schema.type : undefined;
  if (type !== "object") {
    return `schema must be a JSON Schema of 'type: "object"', got 'type: "${type === undefined ? "None" : String(type)}"'.`;
  }
  const combined = ["oneOf", "anyOf", "allOf", "enum", "not"].some((keyword) => isRecord(schema) && keyword in schema);
  if (!combined) return undefined;
  return "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.";
}

function nestedFault(schema: unknown, context: readonly string[], strict: boolean): string | undefined {
  if (!isRecord(schema)) return undefined;
  const own = faultOf(schema, strict);
  if (own !== undefined) return `In context=${tuple(context)}, ${own}`;
  for (const [keyword, inner] of Object.entries(schema)) {
    const fault = isNamed(keyword)
      ? faultInNamed(inner, [...context, keyword], strict)
      : faultInOne(inner, [...context, keyword], strict, keyword);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function faultOf(schema: Readonly<Record<string, unknown>>, strict: boolean): string | undefined {
  const isArray = schema.type === "array" || (Array.isArray(schema.type) && schema.type.includes("array"));
  if (isArray && !("items" in schema) && !("prefixItems" in schema)) return "array schema missing items.";
  if (!strict || schema.type !== "object") return undefined;
  if (schema.additionalProperties !== false) {
    return "'additionalProperties' is required to be supplied and to be false.";
  }
  const required = Array.isArray(schema.required) ? schema.required : [];
  const missing = Object.keys(isRecord(schema.properties) ? schema.properties : {}).find(
    (key) => !required.includes(key),
  );
  if (missing === undefined) return undefined;
  return `'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`;
}

function isNamed(keyword: string): boolean {
  return keyword === "properties" || keyword === "$defs" || keyword === "definitions";
}

function faultInNamed(schemas: unknown, context: readonly string[], strict: boolean): string | undefined {
  for (const [key, inner] of Object.entries(isRecord(schemas) ? schemas : {})) {
    const fault = nestedFault(inner, [...context, key], strict);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function faultInOne(inner: unknown, context: readonly string[], strict: boolean, keyword: string): string | undefined {
  if (keyword === "items" || keyword === "additionalProperties") return nestedFault(inner, context, strict);
  if (keyword !== "anyOf" && keyword !== "oneOf" && keyword !== "allOf") return undefined;
  if (!Array.isArray(inner)) return undefined;
  for (const [index, branch] of inner.entries()) {
    const fault = nestedFault(branch, [...context, String(index)], strict);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** In Python's notation, which the service uses. */
function tuple(context: readonly string[]): string {
  const words = context.map((step) => `'${step}'`).join(", ");
  return context.length === 1 ? `(${words},)` : `(${words})`;
}
