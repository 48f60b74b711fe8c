import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { formOf } from "../../../scripts/config-schema.ts";
import {
  checkedUserConfig,
  modelEntryFault,
  readAdminConfig,
  readRepositoryConfig,
} from "../../../src/config/check/checked-config.ts";
import { faultOf } from "../../../src/config/check/form.ts";
import { modelEntrySchema } from "../../../src/config/schema/models.ts";
import { named } from "../../../src/config/schema/named-check.ts";
import { adminConfigSchema, repositoryConfigSchema, userConfigSchema } from "../../../src/config/schema/user-config.ts";
import { AgentError } from "../../../src/engine/errors.ts";
import { isFullRun } from "../../full-run.ts";
import { wholeConfig } from "../whole-config.ts";

type Value = unknown;
const clone = (value: Value): Value => structuredClone(value);

/** All paths into a value, as lists of keys. */
function placesIn(value: Value, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, inner]) => placesIn(inner, [...path, key]))];
}

const replacements: readonly Value[] = [
  ...[undefined, null, true, false, 0, -1, 1.5, 5, 86_401, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY],
  ...["", " ", "x", "a b", "a,b", "offline", "script:a.yaml", "local", "off", "high", "none", "admin", "10m", "1 day"],
  ...["$KEY", "$" + "{", "$" + "{KEY}", "*", "ls; rm", "if", "10.0.0.0/99", "https://x/", "A.example", "a:80"],
  ...[[], ["x"], [1], [[]], [{}], {}, { a: 1 }, { x: "y" }, { id: "mine", provider: "ollama" }],
];

type Change = { readonly at: number; readonly with: Value; readonly how: "replace" | "remove" | "add" | "repeat" };
const changes: fc.Arbitrary<Change> = fc.record({
  at: fc.nat(500),
  with: fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...replacements) }, fc.jsonValue({ maxDepth: 2 })),
  how: fc.constantFrom("replace" as const, "remove" as const, "add" as const, "repeat" as const),
});

/** `value` with one part replaced, removed or repeated, or with one more key. */
function changed(value: Value, change: Change): Value {
  const places = placesIn(value);
  const path = places[change.at % places.length] ?? [];
  const place = path.reduce<Value>((inner, key) => (inner as Record<string, Value>)[key], value);
  const last = path.at(-1);
  const around = path.slice(0, -1).reduce<Value>((inner, key) => (inner as Record<string, Value>)[key], value);
  if (last === undefined) return change.how === "replace" ? clone(change.with) : value;
  if (change.how === "repeat" && Array.isArray(around)) around.push(clone(place));
  else if (change.how === "add" && typeof place === "object" && place !== null && !Array.isArray(place)) {
    (place as Record<string, Value>)[typeof change.with === "string" ? change.with : "extra"] = clone(change.with);
  } else if (change.how === "remove") {
    if (Array.isArray(around)) around.splice(Number(last), 1);
    else delete (around as Record<string, Value>)[last];
  } else (around as Record<string, Value>)[last] = clone(change.with);
  return value;
}

/** Drops `undefined`, which YAML and JSON lack. */
function asRead(value: Value): Value {
  if (Array.isArray(value)) return value.map((one) => asRead(one) ?? null);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(kept.map(([key, one]) => [key, asRead(one)]));
}

function outcome(check: () => Value): Value {
  try {
    return { value: check() };
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    return "refused";
  }
}

function bySchema(schema: z.ZodType, value: Value): Value {
  const parsed = schema.safeParse(value);
  return parsed.success ? { value: parsed.data } : "refused";
}

describe("the checker and the schema it was made from", () => {
  const numRuns = isFullRun ? 100_000 : 1_000;

  test("agree that a configuration with every key is valid", () => {
    expect(checkedUserConfig(wholeConfig, "x")).toEqual(wholeConfig);
    expect(userConfigSchema.parse(wholeConfig)).toEqual(wholeConfig);
  });

  test("agree on mutated configurations", () => {
    const seen = { right: 0, refused: 0 };
    fc.assert(
      fc.property(fc.array(changes, { minLength: 1, maxLength: 3 }), (list) => {
        const value = asRead(list.reduce(changed, clone(wholeConfig))) ?? {};
        const expected = bySchema(userConfigSchema, value);
        seen[expected === "refused" ? "refused" : "right"] += 1;
        expect(outcome(() => checkedUserConfig(value, "x"))).toEqual(expected);
      }),
      { numRuns },
    );
    expect(Math.min(seen.right, seen.refused)).toBeGreaterThan(numRuns / 100);
  });

  test("agree on an administrator's file, a repository's and a single model", () => {
    const rules = { permissions: { deny: ["git push *"], allow: ["ls"] }, model: "x" };
    fc.assert(
      fc.property(fc.array(changes, { maxLength: 3 }), fc.boolean(), (list, isWhole) => {
        const start = isWhole ? rules : { permissions: { deny: ["git push *"] } };
        const text = JSON.stringify(asRead(list.reduce(changed, clone(start))) ?? {});
        const value: Value = JSON.parse(text) ?? {};
        expect(outcome(() => readAdminConfig(text, "x"))).toEqual(bySchema(adminConfigSchema, value));
        const used = bySchema(repositoryConfigSchema, value);
        expect(outcome(() => readRepositoryConfig(text, "x"))).toEqual(used === "refused" ? used : { value });
        const entry = asRead(list.reduce(changed, clone(wholeConfig.models.entries[0]))) ?? {};
        expect(modelEntryFault(entry) === undefined).toBe(modelEntrySchema.safeParse(entry).success);
      }),
      { numRuns },
    );
  });
});

const messageOf = (value: Value): string => {
  try {
    checkedUserConfig(value, "/x/config.yaml");
  } catch (error) {
    if (error instanceof AgentError) return error.message;
  }
  throw new Error("It was not refused.");
};

describe("a message", () => {
  const entry = { id: "x", provider: "ollama" };
  const secret = "sk-s3cret";
  test.each([
    { models: [{ ...entry, apiKey: [secret] }] },
    { models: [{ ...entry, apiKey: `${secret}\${` }] },
    { models: [{ ...entry, apiKey: 0x5ec4e7 }] },
    { models: [{ ...entry, baseUrl: `https://me:${secret}@x/\${` }] },
    { models: [{ ...entry, headers: { Authorization: `Bearer ${secret} \${` } }] },
    { models: [{ ...entry, headers: `Authorization: ${secret}` }] },
    { models: [{ ...entry, extraArguments: secret }] },
    { models: secret },
    { models: { entries: secret } },
    { serve: { users: [{ name: "ann", role: "user", tokens: [secret] }] } },
    { serve: { users: [{ name: "ann", role: "user", tokens: secret }] } },
    { serve: { users: secret } },
  ])("does not quote a possible secret: %j", (value) => {
    const message = messageOf(value);
    expect(message).toMatch(/^\/x\/config\.yaml: (?:models|serve)\b/);
    expect(message).not.toMatch(/s3cret|5ec4e7|6210791/);
  });

  test("is one printable line of limited length, whatever the keys and values are", () => {
    const long = "x\u001b\n\u202e".repeat(50_000);
    for (const value of [{ [long]: 1 }, { durability: long }, { models: { aliases: { [long]: 1 } } }]) {
      expect(messageOf(value)).toMatch(/^\P{Cc}{1,2000}$/u);
    }
  });
});

test("rejects a name that would change a prototype, and changes nothing", () => {
  const evil = (text: string): Value => JSON.parse(text.replaceAll("'", '"'));
  expect(messageOf(evil("{'__proto__': {'model': 'x'}}"))).toContain('unknown key "__proto__"');
  expect(messageOf(evil("{'models': {'aliases': {'__proto__': 'x'}}}"))).toContain("cannot be used as a name");
  const entry = evil("{'id': 'x', 'provider': 'y', 'extraArguments': {'__proto__': {'polluted': 1}}}");
  expect(messageOf({ models: [entry] })).toContain("extraArguments.__proto__: cannot be used as a name");
  expect("polluted" in {}).toBe(false);
});

test.each([new Date(0), new Set(["a"]), new Map(), new Uint8Array(2)])("rejects values from YAML tags: %s", (value) => {
  expect(messageOf(value)).toBe("/x/config.yaml: must be a map of keys, got something else");
  for (const key of ["serve", "models", "permissions"]) {
    expect(messageOf({ [key]: value })).toBe(`/x/config.yaml: ${key}: must be a map of keys, got something else`);
  }
});

describe("unsupported forms", () => {
  test.each([
    z.string().max(3),
    z.array(z.string()).max(2),
    z.strictObject({ a: z.union([z.string().min(2), z.number()]) }),
    z.literal("a"),
    z.string().check(z.startsWith("a"), z.endsWith("b")),
  ])("cannot be generated", (schema) => {
    expect(() => formOf(schema)).toThrow(/does not know the keyword/);
  });

  test("throw when written by hand", () => {
    expect(() => faultOf({ type: "date" }, "x", {})).toThrow("Unknown type in a form: date.");
    expect(() => faultOf({ check: "toString" }, "x", {})).toThrow("Unknown check in a form: toString.");
  });

  test("cannot have two checks", () => {
    expect(() => formOf(named(named(z.string(), "host"), "origin"))).toThrow("A form can have only one check.");
  });
});
