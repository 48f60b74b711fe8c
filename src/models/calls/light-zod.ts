/**
 * The part of zod that the AI SDK uses; loading all of zod took a tenth of a run. Stops at the first mistake. The build
 * swaps it in (`scripts/stand-ins-plugin.mjs`).
 */

type Read = (value: unknown) => unknown;
/** How a missing field is read: as a default, as an error, or as `undefined`. */
type IfMissing = "fill" | "refuse" | "read";
type Shape = Readonly<Record<string, Schema>>;
type Unknowns = "drop" | "keep" | "refuse" | Schema;
type Json = Readonly<Record<string, unknown>>;

/** A value that the schema does not allow. */
class Fault {
  readonly path: (string | number)[] = [];
  readonly message: string;

  constructor(message: string) {
    this.message = `Invalid input: ${message}`;
  }

  below(key: string | number): Fault {
    this.path.unshift(key);
    return this;
  }
}

class Schema {
  /** How the AI SDK recognises a zod schema. */
  readonly _zod = {};
  readonly "~standard" = { vendor: "zod" };
  readonly read: Read;
  readonly ifMissing: IfMissing;

  constructor(read: Read, ifMissing: IfMissing = "read") {
    this.read = read;
    this.ifMissing = ifMissing;
  }

  private also(check: (value: unknown) => boolean, message: string): Schema {
    return this.transform((value) => (check(value) ? value : new Fault(message)));
  }

  optional(): Schema {
    if (this.ifMissing === "fill") return this;
    return new Schema((value) => (value === undefined ? value : this.read(value)));
  }

  nullable(): Schema {
    return new Schema((value) => (value === null ? value : this.read(value)), this.ifMissing);
  }

  nullish(): Schema {
    return this.nullable().optional();
  }

  default(given: unknown): Schema {
    return new Schema((value) => (value === undefined ? structuredClone(given) : this.read(value)), "fill");
  }

  catch(given: unknown): Schema {
    return new Schema((value) => {
      const result = this.read(value);
      return result instanceof Fault ? given : result;
    }, "fill");
  }

  transform(change: Read): Schema {
    return new Schema((value) => {
      const result = this.read(value);
      return result instanceof Fault ? result : change(result);
    }, this.ifMissing);
  }

  refine(isAllowed: (value: unknown) => boolean, { message = "not allowed" }: { message?: string } = {}): Schema {
    return this.also(isAllowed, message);
  }

  or(other: Schema): Schema {
    return z.union([this, other]);
  }

  min(least: number): Schema {
    return this.also((value) => sizeOf(value) >= least, `expected at least ${least}`);
  }

  max(most: number): Schema {
    return this.also((value) => sizeOf(value) <= most, `expected at most ${most}`);
  }

  gt(limit: number): Schema {
    return this.also((value) => sizeOf(value) > limit, `expected more than ${limit}`);
  }

  positive(): Schema {
    return this.gt(0);
  }

  int(): Schema {
    return this.also(Number.isSafeInteger, "expected int");
  }

  describe(_words: string): this {
    return this;
  }

  parse(value: unknown): unknown {
    const result = this.read(value);
    if (result instanceof Fault) throw errorOf(result);
    return result;
  }
}

class ObjectSchema extends Schema {
  readonly shape: Shape;

  constructor(shape: Shape, unknowns: Unknowns) {
    super((value) => readObject(shape, unknowns, value));
    this.shape = shape;
  }

  extend(more: Shape): ObjectSchema {
    return z.object({ ...this.shape, ...more });
  }

  loose(): ObjectSchema {
    return z.looseObject(this.shape);
  }

  passthrough(): ObjectSchema {
    return z.looseObject(this.shape);
  }

  strict(): ObjectSchema {
    return new ObjectSchema(this.shape, "refuse");
  }

  catchall(others: Schema): ObjectSchema {
    return new ObjectSchema(this.shape, others);
  }
}

function readObject(shape: Shape, unknowns: Unknowns, value: unknown): unknown {
  if (!isObject(value)) return new Fault("expected object");
  const read: Record<string, unknown> = {};
  for (const key in shape) {
    const schema = shape[key];
    const isMissing = schema?.ifMissing === "refuse" && !(key in value);
    const result = isMissing ? new Fault("missing") : schema?.read(value[key]);
    if (result instanceof Fault) return result.below(key);
    if (result !== undefined || key in value) read[key] = result;
  }
  if (unknowns === "drop") return read;
  for (const key of ownKeys(value)) {
    if (Object.hasOwn(shape, key)) continue;
    if (unknowns === "refuse") return new Fault(`unknown key ${JSON.stringify(key)}`);
    const result = unknowns === "keep" ? value[key] : unknowns.read(value[key]);
    if (result instanceof Fault) return result.below(key);
    read[key] = result;
  }
  return read;
}

function readRecord(keys: Schema, values: Schema, value: unknown): unknown {
  if (!isObject(value)) return new Fault("expected record");
  const read: Record<string, unknown> = {};
  for (const key of ownKeys(value)) {
    const name = keys.read(key);
    const result = name instanceof Fault ? name : values.read(value[key]);
    if (result instanceof Fault) return result.below(key);
    read[String(name)] = result;
  }
  return read;
}

function readItems(schemaAt: (index: number) => Schema | undefined, value: readonly unknown[]): unknown {
  const read: unknown[] = [];
  for (const [index, item] of value.entries()) {
    const result = schemaAt(index)?.read(item);
    if (result instanceof Fault) return result.below(index);
    read.push(result);
  }
  return read;
}

function readUnion(options: readonly Schema[], value: unknown): unknown {
  for (const option of options) {
    const result = option.read(value);
    if (!(result instanceof Fault)) return result;
  }
  return new Fault("matches no option");
}

function readBoth(first: Schema, second: Schema, value: unknown): unknown {
  const [one, other] = [first.read(value), second.read(value)];
  if (one instanceof Fault) return one;
  return other instanceof Fault ? other : joined(one, other);
}

function joined(one: unknown, other: unknown): unknown {
  if (!isObject(one) || !isObject(other)) return other;
  const shared = Object.keys(one).filter((key) => key in other);
  return { ...one, ...other, ...Object.fromEntries(shared.map((key) => [key, joined(one[key], other[key])])) };
}

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const ownKeys = (value: Json): readonly string[] => Object.keys(value).filter((key) => key !== "__proto__");

const sizeOf = (value: unknown): number =>
  typeof value === "number" ? value : typeof value === "string" || Array.isArray(value) ? value.length : Number.NaN;

const where = (name: string, isAllowed: (value: unknown) => boolean): Schema =>
  new Schema((value) => (isAllowed(value) ? value : new Fault(`expected ${name}`)));

const oneOf = (values: readonly unknown[]): Schema =>
  where(`one of ${values.join(", ")}`, (value) => values.includes(value));

const anything = (): Schema => new Schema((value) => value, "refuse");

const number = (): Schema => where("number", Number.isFinite);

export const z = {
  any: anything,
  unknown: anything,
  json: (): Schema => {
    const nested = z.lazy(z.json);
    const simple = [z.string(), z.number(), z.boolean(), z.null()];
    return z.union([...simple, z.array(nested), z.record(z.string(), nested)]);
  },
  string: () => where("string", (value) => typeof value === "string"),
  number,
  boolean: () => where("boolean", (value) => typeof value === "boolean"),
  null: () => where("null", (value) => value === null),
  literal: (value: unknown) => oneOf(Array.isArray(value) ? value : [value]),
  enum: (values: readonly unknown[]) => oneOf(values),
  object: (shape: Shape) => new ObjectSchema(shape, "drop"),
  looseObject: (shape: Shape) => new ObjectSchema(shape, "keep"),
  array: (item: Schema) =>
    new Schema((value) => (Array.isArray(value) ? readItems(() => item, value) : new Fault("expected array"))),
  tuple: (items: readonly Schema[]) =>
    new Schema((value) =>
      Array.isArray(value) && value.length === items.length
        ? readItems((index) => items[index], value)
        : new Fault(`expected ${items.length} items`),
    ),
  record: (keys: Schema, values: Schema) => new Schema((value) => readRecord(keys, values, value)),
  partialRecord: (keys: Schema, values: Schema) => new Schema((value) => readRecord(keys, values, value)),
  union: (options: readonly Schema[]) => new Schema((value) => readUnion(options, value)),
  discriminatedUnion: (_key: string, options: readonly Schema[]) => z.union(options),
  intersection: (first: Schema, second: Schema) => new Schema((value) => readBoth(first, second, value)),
  lazy: (made: () => Schema) => new Schema((value) => made().read(value)),
  coerce: {
    number: () => new Schema((value) => number().read(Number(value))),
  },
};

function errorOf({ path, message }: Fault): Error {
  return new Error(JSON.stringify([{ path, message }], null, 2));
}

/** The method that the AI SDK calls; it awaits the result. */
export function safeParseAsync(schema: Schema, value: unknown): unknown {
  const data = schema.read(value);
  return data instanceof Fault ? { success: false, error: errorOf(data) } : { success: true, data };
}

export function toJSONSchema(): never {
  throw new Error("AI SDK schemas only support parsing.");
}
