import type { z } from "zod";
import { durationMs } from "../core/duration.ts";
import { autonomyLevels, reasoningEfforts } from "../core/settings.ts";
import type { modelEntrySchema } from "./model-schema.ts";
import { ruleWords } from "./rule-words.ts";
import type { UserConfig } from "./schema.ts";
import {
  folderFault,
  hostFault,
  isTokenHash,
  originFault,
  rpcClients,
  toolExecutions,
  userNameFault,
  userRoles,
} from "./serve-words.ts";

export const reasoningStyles = [
  "adaptive",
  "always-adaptive",
  "budget",
  "level",
  "word",
  "nested-word",
  "none",
] as const;
export const thinkingFields = ["reasoning", "reasoning_content", "none"] as const;

type Check = (value: unknown) => boolean;
type Entry = z.infer<typeof modelEntrySchema>;
type Models = NonNullable<UserConfig["models"]>;
type Serve = NonNullable<UserConfig["serve"]>;
type Interactive = NonNullable<UserConfig["interactive"]>;
/** Every key of `T`: one that is added to the schema and forgotten here does not compile. */
type Fields<T> = { readonly [Key in keyof T]-?: Check };

const isString: Check = (value) => typeof value === "string";
const isText: Check = (value) => typeof value === "string" && value !== "";
const isFlag: Check = (value) => typeof value === "boolean";
const isAmount: Check = (value) => typeof value === "number" && value >= 0;
const isCount: Check = (value) => Number.isSafeInteger(value) && Number(value) > 0;
const isDuration: Check = (value) => durationMs(value) !== undefined;
const textWithout =
  (fault: (text: string) => string | undefined): Check =>
  (value) =>
    typeof value === "string" && fault(value) === undefined;
const oneOf =
  (words: readonly string[]): Check =>
  (value) =>
    words.some((word) => word === value);
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const mapOf =
  (check: Check): Check =>
  (value) =>
    isObject(value) && Object.values(value).every(check);

function fieldsOf<T>(checks: Fields<T>, ...needed: readonly (keyof T & string)[]): Check {
  const known = new Map<string, Check>(Object.entries<Check>(checks));
  return (value) =>
    isObject(value) &&
    needed.every((key) => Object.hasOwn(value, key)) &&
    Object.entries(value).every(([key, one]) => known.get(key)?.(one) ?? false);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const rules = (use: "allow" | "deny"): Check =>
  listOf((value) => typeof value === "string" && "words" in ruleWords(value, use));

const entry = fieldsOf<Entry>(
  {
    id: isText,
    provider: isText,
    model: isText,
    displayName: isText,
    baseUrl: isText,
    apiKey: isText,
    headers: mapOf(isString),
    extraArguments: isObject,
    contextWindow: isCount,
    maxOutputTokens: isCount,
    images: isFlag,
    documents: isFlag,
    prefersPatch: isFlag,
    reasoningEfforts: listOf(oneOf(reasoningEfforts)),
    reasoningStyle: oneOf(reasoningStyles),
    thinkingField: oneOf(thinkingFields),
    prices: fieldsOf<NonNullable<Entry["prices"]>>(
      { input: isAmount, output: isAmount, cacheRead: isAmount, cacheWrite: isAmount },
      "input",
      "output",
    ),
    timeouts: fieldsOf<NonNullable<Entry["timeouts"]>>({ connect: isAmount, firstByte: isAmount, idle: isAmount }),
  },
  "id",
  "provider",
);

const user = fieldsOf<NonNullable<Serve["users"]>[number]>(
  {
    name: textWithout(userNameFault),
    role: oneOf(userRoles),
    tokens: listOf((value) => typeof value === "string" && isTokenHash(value)),
    folders: listOf(textWithout(folderFault)),
    autonomy: oneOf(autonomyLevels),
    models: listOf(isText),
  },
  "name",
  "role",
  "tokens",
);

const serve = fieldsOf<Serve>({
  hosts: listOf(textWithout(hostFault)),
  origins: listOf(textWithout(originFault)),
  users: listOf(user),
  rpc: oneOf(rpcClients),
  limits: fieldsOf<NonNullable<Serve["limits"]>>({
    connections: isCount,
    connectionsPerUser: isCount,
    payloadBytes: isCount,
    unsentBytes: isCount,
  }),
  timeouts: fieldsOf<NonNullable<Serve["timeouts"]>>({ ping: isDuration, stalled: isDuration, drain: isDuration }),
});

const interactive = fieldsOf<Interactive>({
  toolExecution: oneOf(toolExecutions),
  toolExecutionChoices: listOf(oneOf(toolExecutions)),
  autonomy: oneOf(autonomyLevels),
  timeouts: fieldsOf<NonNullable<Interactive["timeouts"]>>({
    ai: isDuration,
    toolResult: isDuration,
    idleSession: isDuration,
  }),
  limits: fieldsOf<NonNullable<Interactive["limits"]>>({
    queuedMessages: isCount,
    openSessions: isCount,
    sessionsPerMinute: isCount,
    messagesPerMinute: isCount,
  }),
});

const config = fieldsOf<UserConfig>({
  model: isText,
  models: fieldsOf<Models>({ default: isText, fallback: isText, aliases: mapOf(isText), entries: listOf(entry) }),
  fetch: fieldsOf<NonNullable<UserConfig["fetch"]>>({ allowPrivate: listOf(isText) }),
  network: fieldsOf<NonNullable<UserConfig["network"]>>({ caFile: isText }),
  durability: oneOf(["turn", "always"]),
  passEnvironment: listOf(isText),
  permissions: fieldsOf<NonNullable<UserConfig["permissions"]>>({ allow: rules("allow"), deny: rules("deny") }),
  serve,
  interactive,
});

/**
 * Whether a value has the form of a checked configuration, found out without the schema, which is slow to load. It takes
 * the place of the schema nowhere: it only tells what was kept from what somebody has damaged.
 */
export function hasConfigShape(value: unknown): value is UserConfig {
  return config(value);
}
