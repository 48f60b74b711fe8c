import { describe, expect, it } from "vitest";
import * as zod from "zod/v4";
import * as light from "../../../src/models/calls/light-zod.ts";

type Z = typeof light.z;
type Make = (z: Z) => ReturnType<Z["any"]>;

/** All constructs in the AI SDK's schemas. */
const schemas: Readonly<Record<string, Make>> = {
  any: (z) => z.any(),
  string: (z) => z.string().min(2).max(3),
  number: (z) => z.number().min(1).max(9),
  int: (z) => z.number().int().positive(),
  gt: (z) => z.number().gt(1),
  boolean: (z) => z.boolean().describe("yes or no"),
  null: (z) => z.null(),
  literal: (z) => z.literal("a"),
  enum: (z) => z.enum(["a", "b"]),
  array: (z) => z.array(z.number()).max(2),
  tuple: (z) => z.tuple([z.number(), z.string()]),
  record: (z) => z.record(z.string(), z.number()),
  numbered: (z) => z.record(z.coerce.number(), z.any()),
  union: (z) => z.union([z.object({ a: z.string() }), z.object({ b: z.number() }), z.string()]),
  or: (z) => z.string().nullish().or(z.object({}).strict()),
  discriminated: (z) =>
    z.discriminatedUnion("type", [
      z.object({ type: z.literal("a"), a: z.number() }),
      z.object({ type: z.literal("b"), b: z.string().nullish() }),
    ]),
  both: (z) =>
    z.intersection(
      z.object({ a: z.number(), in: z.object({ b: z.number() }).nullish() }),
      z.looseObject({ in: z.looseObject({}).nullish() }),
    ),
  lazy: (z) => {
    const tree: ReturnType<Make> = z.lazy(() => z.object({ a: z.number().optional(), b: z.array(tree).optional() }));
    return tree;
  },
  json: (z) => z.json(),
  plain: (z) => z.object({ a: z.string(), b: z.number().optional(), c: z.array(z.string()).nullable() }),
  extended: (z) => z.object({ a: z.string() }).extend({ b: z.number().nullish() }),
  loose: (z) => z.object({ a: z.any() }).loose(),
  passthrough: (z) => z.object({ a: z.unknown() }).passthrough(),
  catchall: (z) => z.object({ a: z.string() }).catchall(z.number()),
  strict: (z) => z.object({ a: z.string().nullish() }).strict(),
  default: (z) => z.object({ a: z.array(z.string()).default([]), b: z.number().default(1).nullish() }),
  caught: (z) => z.object({ a: z.number().nullish().catch(undefined) }),
  refined: (z) =>
    z
      .object({ type: z.string() })
      .loose()
      .refine((value) => Object.keys(value as object).length > 1, { message: "too little" })
      .transform((value) => ({ changed: value })),
};

const values: readonly unknown[] = [
  undefined,
  null,
  true,
  0,
  1.5,
  7,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  2 ** 60,
  "",
  "a",
  "ab",
  "long text",
  [],
  [1],
  [1, "a"],
  [1, 2, 3],
  {},
  { a: "x" },
  { a: 1 },
  { a: undefined },
  { a: null, b: null },
  { a: "x", b: 2 },
  { a: "x", b: "2", c: [] },
  { a: "x", c: ["y"], d: 4 },
  { a: "x", c: [1] },
  { a: 1, in: { b: 2, c: { d: 3 } } },
  { a: 1, b: [{ a: 2, b: [{}] }] },
  { a: 1, b: [{ a: "2" }] },
  { 1: 2, 3: { a: 1 } },
  { x1: 2 },
  { type: "a", a: 1 },
  { type: "b", c: 1 },
  { type: "c" },
  JSON.parse('{"a":"x","type":"t","__proto__":{"a":1}}'),
];

describe("the part of zod for the AI SDK", () => {
  it.each(Object.entries(schemas))("reads %s as zod does", async (_, make) => {
    const [own, real] = [make(light.z), make(zod.z as unknown as Z)];
    for (const value of values) {
      const expected = await zod.safeParseAsync(real as unknown as zod.ZodType, value);
      const found = light.safeParseAsync(own, value);
      expect([value, found]).toStrictEqual([
        value,
        expected.success ? { success: true, data: expected.data } : { success: false, error: expect.any(Error) },
      ]);
    }
  });

  it("reports where the first mistake is", () => {
    const schema = light.z.object({ a: light.z.array(light.z.object({ b: light.z.string() })) });
    expect(light.safeParseAsync(schema, { a: [{ b: "x" }, { b: 1 }] })).toEqual({
      success: false,
      error: new Error(JSON.stringify([{ path: ["a", 1, "b"], message: "Invalid input: expected string" }], null, 2)),
    });
  });
});
