import { z } from "../src/protocol/droid/zod.ts";

export type Named = readonly (readonly [name: string, schema: z.core.$ZodType])[];

export const refOf = (name: string): string => `#/$defs/${name}`;

/** The `$defs` of a document. Schemas refer to each other by name. */
export function definitions(named: Named, io: "input" | "output"): Record<string, object> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of named) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, { target: "draft-2020-12", io, uri: refOf });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _schema, $id: _id, ...schema }]) => [name, schema]),
  );
}
