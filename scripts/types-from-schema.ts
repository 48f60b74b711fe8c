/** The part of JSON Schema that our documents use. */
export interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

/** Keywords that TypeScript can express, and keywords that can be dropped. Any other is an error. */
const printed = new Set<string>([
  "$ref",
  "description",
  "type",
  "const",
  "enum",
  "properties",
  "required",
  "additionalProperties",
  "items",
  "anyOf",
  "oneOf",
] satisfies (keyof Schema)[]);
const unsaid = new Set(["minimum", "maximum", "propertyNames"]);

const primitives: Readonly<Record<string, string>> = {
  string: "string",
  number: "number",
  integer: "number",
  boolean: "boolean",
  null: "null",
};

/** TypeScript for a document's definitions, in order. Biome formats it. */
export function typesOf(definitions: Readonly<Record<string, Schema>>): string {
  return Object.entries(definitions)
    .map(([name, schema]) => `${commentOn(schema)}${declaration(name, schema)}\n`)
    .join("\n");
}

function declaration(name: string, schema: Schema): string {
  return schema.properties === undefined
    ? `export type ${name} = ${typeOf(schema)};`
    : `export interface ${name} ${typeOf(schema, true)}`;
}

/** `isOpen`: puts an object's fields on separate lines even if one line would fit. */
function typeOf(schema: Schema, isOpen = false): string {
  for (const keyword of Object.keys(schema)) {
    if (!printed.has(keyword) && !unsaid.has(keyword)) throw new Error(`No type is known for the keyword ${keyword}.`);
  }
  if (schema.$ref !== undefined) return schema.$ref.replace(/^#\/\$defs\//, "");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((word) => JSON.stringify(word)).join(" | ");
  const members = schema.oneOf ?? schema.anyOf;
  if (members !== undefined) return unionOf(members);
  if (schema.type === "array") return `readonly ${inBrackets(schema.items ?? {})}[]`;
  if (schema.type === "object") return objectOf(schema, isOpen);
  if (schema.type === undefined) return "unknown";
  const primitive = primitives[schema.type];
  if (primitive === undefined) throw new Error(`No type is known for ${schema.type}.`);
  return primitive;
}

function unionOf(members: readonly Schema[]): string {
  return members.map((member) => `\n${commentOn(member)}| ${typeOf(member)}`).join("");
}

function inBrackets(schema: Schema): string {
  const type = typeOf(schema);
  return schema.$ref !== undefined || /^\w+$/.test(type) || type.startsWith("{") ? type : `(${type})`;
}

function objectOf({ properties, required = [], additionalProperties }: Schema, isOpen: boolean): string {
  if (properties === undefined) {
    const value = typeof additionalProperties === "object" ? typeOf(additionalProperties) : "unknown";
    return `Readonly<Record<string, ${value}>>`;
  }
  if (typeof additionalProperties === "object") throw new Error("No type is known for fields beside further ones.");
  const fields = Object.entries(properties).map(([name, field]) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
    const mark = required.includes(name) ? "" : "?";
    return `${commentOn(field)}readonly ${key}${mark}: ${typeOf(field)};`;
  });
  const hasComments = Object.values(properties).some(({ description }) => description !== undefined);
  return isOpen || hasComments ? `{\n${fields.join("\n")}\n}` : `{ ${fields.join(" ")} }`;
}

function commentOn({ description }: Schema): string {
  return description === undefined ? "" : `/** ${description.replaceAll("*/", "*\\/")} */\n`;
}
