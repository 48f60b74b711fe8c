import { expect, test } from "vitest";
import { type Schema, typesOf } from "../../scripts/types-from-schema.ts";

const text: Schema = { type: "string" };

test.each<[what: string, schema: Schema, written: string]>([
  ["a string", text, "export type A = string;"],
  ["an integer", { type: "integer" }, "export type A = number;"],
  ["anything", {}, "export type A = unknown;"],
  ["a constant", { type: "string", const: "x" }, 'export type A = "x";'],
  ["an enum", { type: "string", enum: ["x", "y"] }, 'export type A = "x" | "y";'],
  ["another definition", { $ref: "#/$defs/B" }, "export type A = B;"],
  ["a list", { type: "array", items: text }, "export type A = readonly string[];"],
  ["a list of an enum", { type: "array", items: { enum: ["x", "y"] } }, 'export type A = readonly ("x" | "y")[];'],
  ["a list of lists", { type: "array", items: { type: "array" } }, "export type A = readonly (readonly unknown[])[];"],
  [
    "keys of any name",
    { type: "object", additionalProperties: { type: "boolean" } },
    "export type A = Readonly<Record<string, boolean>>;",
  ],
  [
    "an optional field and a quoted name",
    { type: "object", properties: { a: text, b: { type: "number" }, "c-d": {} }, required: ["a", "c-d"] },
    'export interface A {\nreadonly a: string;\nreadonly b?: number;\nreadonly "c-d": unknown;\n}',
  ],
  [
    "a field with a description",
    { type: "object", properties: { a: { type: "object", properties: { b: { ...text, description: "Of b." } } } } },
    "export interface A {\nreadonly a?: {\n/** Of b. */\nreadonly b?: string;\n};\n}",
  ],
  [
    "a union with a description",
    {
      oneOf: [
        { $ref: "#/$defs/B" },
        { type: "object", properties: { c: text }, required: ["c"], description: "Or this." },
      ],
    },
    "export type A = \n| B\n/** Or this. */\n| { readonly c: string; };",
  ],
  [
    "a description that would end its comment",
    { ...text, description: "a */ b" },
    "/** a *\\/ b */\nexport type A = string;",
  ],
])("%s", (_what, schema, written) => {
  expect(typesOf({ A: schema })).toBe(`${written}\n`);
});

test.each<[what: string, schema: object]>([
  ["keyword", { type: "string", if: {} }],
  ["type", { type: "date" }],
  ["mix of fixed and arbitrary fields", { type: "object", properties: { a: {} }, additionalProperties: {} }],
])("rejects an unsupported %s", (_what, schema) => {
  expect(() => typesOf({ A: schema })).toThrow("No type is known for");
});
