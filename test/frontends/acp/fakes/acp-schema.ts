import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";

/*
 * Checks every message against the schema shipped with the official library. That schema allows unknown keys, so that
 * it can grow; here they are faults, because no client reads them.
 */

export type Side = "client" | "agent";

export interface WireChecker {
  /** A message's faults, or `undefined`. Requests are remembered until they are answered. */
  fault(from: Side, message: unknown): string | undefined;
}

interface Message extends Readonly<Record<string, unknown>> {
  readonly id?: string | number | null;
  readonly method?: string;
}

type Json = Readonly<Record<string, unknown>>;
type Kind = "Request" | "Response" | "Notification";

/** The one method specified nowhere, and the one removed from the schema. */
const unstable = "session/fork";
const legacy = "session/set_model";

/** Parts that the stable schema lacks, but older or newer clients have: removed before the check. */
const extras: Readonly<Record<string, (result: Json) => Json>> = {
  initialize: (result) => {
    const capabilities = result.agentCapabilities as { readonly sessionCapabilities?: Json };
    const { fork: _, ...sessionCapabilities } = capabilities.sessionCapabilities ?? {};
    return { ...result, agentCapabilities: { ...capabilities, sessionCapabilities } };
  },
  "session/new": withoutModels,
  "session/load": withoutModels,
  "session/resume": withoutModels,
  "session/fork": withoutModels,
};

function withoutModels({ models: _, ...rest }: Json): Json {
  return rest;
}

export function createWireChecker(): WireChecker {
  const pending: Readonly<Record<Side, Map<unknown, string>>> = { client: new Map(), agent: new Map() };

  function request(from: Side, { id, method = "" }: Message, params: unknown): string | undefined {
    if (typeof id !== "string" && typeof id !== "number") return "its id is neither a text nor a number";
    if (pending[from].has(id)) return "its id is in use";
    pending[from].set(id, method);
    return against("Request", method, from, params);
  }

  function response(from: Side, { id, ...message }: Message): string | undefined {
    const asked = pending[from === "agent" ? "client" : "agent"];
    const method = asked.get(id);
    asked.delete(id);
    if ("error" in message) {
      const fault = invalid(validator("stable", "Error"), message.error);
      if (fault === undefined && from === "agent" && !hasCode(message.error)) return "its error has no data.code";
      if (fault !== undefined || method !== undefined) return fault;
      return id === null ? undefined : "it answers no request";
    }
    if (method === undefined) return "it answers no request";
    const { result } = message;
    return against("Response", method, from, result);
  }

  return {
    fault(from, given) {
      if (typeof given !== "object" || given === null || Array.isArray(given)) return "it is not an object";
      const message = given as Message;
      const { jsonrpc, id: _, method, params, result: _r, error: _e, ...unknown } = message;
      if (jsonrpc !== "2.0") return "it does not say that it is JSON-RPC 2.0";
      if (Object.keys(unknown).length > 0) return `it has ${Object.keys(unknown).join(", ")}`;
      if (method === undefined) return response(from, message);
      return "id" in message ? request(from, message, params) : against("Notification", method, from, params);
    },
  };
}

function against(kind: Kind, method: string, from: Side, value: unknown): string | undefined {
  if (method === legacy) return undefined;
  const schema = method === unstable ? "unstable" : "stable";
  // The receiver's methods, or for a response the sender's.
  const side = (kind === "Response") === (from === "agent") ? "agent" : "client";
  const found = Object.entries(documents[schema].$defs).find(
    ([name, { "x-method": of, "x-side": whose }]) =>
      of === method && name.endsWith(kind) && (whose === side || whose === "protocol"),
  );
  if (found === undefined) return `there is no ${kind.toLowerCase()} ${method} of the ${from}`;
  const prepared = kind === "Response" ? extras[method]?.(value as Json) : undefined;
  return invalid(validator(schema, found[0]), prepared ?? value);
}

interface Document extends Json {
  readonly $defs: Readonly<Record<string, Json & { readonly "x-method"?: string; readonly "x-side"?: string }>>;
}

const require = createRequire(import.meta.url);
const read = (name: string): Document =>
  JSON.parse(readFileSync(require.resolve(`@agentclientprotocol/sdk/schema/v1/${name}.json`), "utf8")) as Document;
const documents = { stable: read("schema"), unstable: read("schema.unstable") };
const ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false });
const validators = new Map<string, ValidateFunction>();

function validator(schema: keyof typeof documents, name: string): ValidateFunction {
  const key = `${schema}#/$defs/${name}`;
  const known = validators.get(key);
  if (known !== undefined) return known;
  if (ajv.getSchema(schema) === undefined) ajv.addSchema(withoutUnknownKeys(documents[schema]) as Json, schema);
  const made = ajv.compile({ $ref: key, unevaluatedProperties: false });
  validators.set(key, made);
  return made;
}

function invalid(validate: ValidateFunction, value: unknown): string | undefined {
  if (validate(value)) return undefined;
  return (validate.errors ?? [])
    .map(({ instancePath, message, params }) => `${instancePath || "/"} ${message} ${JSON.stringify(params)}`)
    .join("; ");
}

/** Values in objects and lists have only keys that some part of the schema names. */
function withoutUnknownKeys(schema: unknown, isValue = false): unknown {
  if (typeof schema !== "object" || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map((each) => withoutUnknownKeys(each));
  const copy = Object.fromEntries(
    Object.entries(schema).map(([key, part]) => {
      if (key === "properties") {
        return [
          key,
          Object.fromEntries(Object.entries(part).map(([name, each]) => [name, withoutUnknownKeys(each, true)])),
        ];
      }
      return [key, withoutUnknownKeys(part, key === "items")];
    }),
  );
  const isKnown = ["$ref", "allOf", "anyOf", "oneOf", "properties"].some((key) => key in copy);
  return isValue && isKnown ? { ...copy, unevaluatedProperties: false } : copy;
}

/** Each of our errors has a code for programs. */
function hasCode(error: unknown): boolean {
  const { data } = error as { readonly data?: { readonly code?: unknown } | null };
  return typeof data?.code === "string";
}
