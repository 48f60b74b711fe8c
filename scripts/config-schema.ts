import { z } from "zod";
import type { Form } from "../src/config/check/form.ts";
import { modelsSchema } from "../src/config/schema/models.ts";
import { namesOfChecks } from "../src/config/schema/named-check.ts";
import { otherServerEntrySchema } from "../src/config/schema/servers.ts";
import { adminConfigSchema, repositoryConfigSchema, userConfigSchema } from "../src/config/schema/user-config.ts";

const options = { target: "draft-2020-12", io: "input" } as const;

/** For editors: the schema of `config.yaml`, including the short forms of `models`. */
export function configJsonSchema(): unknown {
  return z.toJSONSchema(userConfigSchema, {
    ...options,
    override({ zodSchema, jsonSchema }) {
      if (zodSchema !== modelsSchema) return;
      const { description, ...whole } = jsonSchema;
      if (whole.properties?.entries === undefined) throw new Error("models has no entries.");
      for (const key of Object.keys(whole)) delete jsonSchema[key];
      jsonSchema.anyOf = [whole, { $ref: "#/properties/models/anyOf/0/properties/entries" }, { type: "null" }];
    },
  });
}

/** For the program: the same as forms, without descriptions and with checks that JSON Schema cannot express. */
export function configForms(): Readonly<Record<"user" | "admin" | "repository" | "server", Form>> {
  return {
    user: formOf(userConfigSchema),
    admin: formOf(adminConfigSchema),
    repository: formOf(repositoryConfigSchema),
    server: formOf(otherServerEntrySchema),
  };
}

/** The keywords that `faultOf` supports. It would ignore others, so they are an error here. */
const keywords = new Set<string>([
  "type",
  "properties",
  "required",
  "propertyNames",
  "additionalProperties",
  "items",
  "minItems",
  "enum",
  "minLength",
  "pattern",
  "patternWords",
  "minimum",
  "exclusiveMinimum",
  "maximum",
  "check",
] satisfies (keyof Form)[]);
const dropped = new Set(["$schema", "description"]);

export function formOf(schema: z.ZodType): Form {
  const document = z.toJSONSchema(schema, {
    ...options,
    override({ zodSchema, jsonSchema }) {
      const [check, ...more] = namesOfChecks(zodSchema);
      if (more.length > 0) throw new Error("A form can have only one check.");
      if (check !== undefined) jsonSchema.check = check;
      mergeUnion(jsonSchema);
      const words = (zodSchema._zod.def.checks ?? []).flatMap(({ _zod: { def } }) =>
        "format" in def && def.format === "regex" ? (def.error?.({} as never) ?? []) : [],
      );
      if (words.length > 0) jsonSchema.patternWords = words[0];
    },
  });
  return withoutWords(document) as Form;
}

/** A map or another type as one form: its keys count only for maps. */
function mergeUnion(schema: z.core.JSONSchema.BaseSchema): void {
  const { anyOf } = schema;
  if (anyOf === undefined || !anyOf.every((one) => typeof one.type === "string")) return;
  const maps = anyOf.filter(({ type }) => type === "object");
  if (maps.length !== 1) return;
  delete schema.anyOf;
  Object.assign(schema, maps[0], { type: anyOf.map(({ type }) => type) });
}

function withoutWords(form: Readonly<Record<string, unknown>>): object {
  const kept = Object.entries(form).filter(([key]) => !dropped.has(key));
  return Object.fromEntries(
    kept.map(([key, value]) => {
      if (!keywords.has(key)) throw new Error(`src/config/check/form.ts does not know the keyword ${key}.`);
      if (key === "properties") {
        const inner = Object.entries(value as Readonly<Record<string, Readonly<Record<string, unknown>>>>);
        return [key, Object.fromEntries(inner.map(([name, one]) => [name, withoutWords(one)]))];
      }
      const isForm = typeof value === "object" && !Array.isArray(value) && value !== null;
      return [key, isForm ? withoutWords(value as Readonly<Record<string, unknown>>) : value];
    }),
  );
}
