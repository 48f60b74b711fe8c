import { longestTimerMs } from "../async/after.ts";
import { isRecord } from "../text/values.ts";
import type {
  CallOptions,
  Connection,
  CreateOptions,
  McpAccess,
  PromptOptions,
  SettingsChange,
  Timeouts,
} from "./api.ts";
import {
  aFunction,
  aListOf,
  aListOfStrings,
  aNumberFrom,
  anObject,
  aSignal,
  aString,
  type Check,
  type Checks,
  checkEach,
  checkOne,
  oneOf,
} from "./checks.ts";

/** Checks of options before anything is started. */

const aStringOrNull: Check = ["a string or null", (value) => value === null || typeof value === "string"];
const aSystemPrompt: Check = [
  "a string or { append }",
  (value) => typeof value === "string" || (isRecord(value) && typeof value.append === "string"),
];
const attached = aListOf(
  "{ mediaType, data }",
  ({ mediaType, data }) => typeof mediaType === "string" && typeof data === "string",
);

const settingChecks: Checks<keyof SettingsChange> = {
  modelId: aString,
  reasoningEffort: aString,
  interactionMode: oneOf("auto", "spec"),
  autonomyLevel: oneOf("off", "low", "medium", "high"),
  specModeModelId: aStringOrNull,
  specModeReasoningEffort: aStringOrNull,
  enabledToolIds: aListOfStrings,
  disabledToolIds: aListOfStrings,
};
const callChecks: Checks<keyof CallOptions | "title"> = { signal: aSignal, title: aString };
const promptChecks: Checks<keyof PromptOptions> = { id: aString, signal: aSignal, images: attached, files: attached };
const sessionChecks: Checks<keyof CreateOptions> = {
  ...settingChecks,
  connect: aFunction,
  onPermission: aFunction,
  onPlan: aFunction,
  onQuestion: aFunction,
  onEvent: aFunction,
  onWarning: aFunction,
  whenBusy: oneOf("queue", "refuse"),
  timeouts: anObject,
  signal: aSignal,
  cwd: aString,
  sessionId: aString,
  systemPrompt: aSystemPrompt,
  tags: aListOf("{ name }", ({ name }) => typeof name === "string"),
  mcpServers: aListOf("{ name, type }", isServer),
  mcpOAuthCallbackUri: aString,
};

type Name = "createSession" | "resumeSession" | "query";

/** Throws a TypeError for invalid options. `needsConnect`: no program can be started here. */
export function checkOptions(of: Name, options: unknown, { needsConnect = false } = {}): void {
  if (needsConnect && (options === undefined || (isRecord(options) && options.connect === undefined))) {
    throw new TypeError(`${of} needs the option connect: a browser cannot start programs.`);
  }
  checkEach(of, options, of === "query" ? { ...sessionChecks, ...promptChecks } : sessionChecks);
  const { timeouts = {} } = options as { readonly timeouts?: object };
  for (const [name, ms] of Object.entries(timeouts)) {
    if (ms !== undefined) checkOne(`The option timeouts.${name} of ${of}`, ms, aNumberFrom(0));
  }
}

function isServer({ name, type }: Readonly<Record<string, unknown>>): boolean {
  return typeof name === "string" && typeof type === "string";
}

export function checkMcpServer(server: unknown): void {
  checkOne("An MCP server", server, ["{ name, type }", (value) => isRecord(value) && isServer(value)]);
}

export function checkSignInAnswer(answer: unknown): void {
  const is = (value: unknown): boolean =>
    isRecord(value) &&
    typeof value.state === "string" &&
    (typeof value.code === "string" || typeof value.error === "string");
  checkOne("The answer to a sign-in", answer, ["{ state, code } or { state, error }", is]);
}

export function checkName(of: "server" | "tool", name: unknown): void {
  checkOne(`The name of a ${of}`, name, aString);
}

type Call = "interrupt" | "updateSettings" | "rename" | "fork" | "models" | "tools" | "call" | `mcp.${keyof McpAccess}`;

/** Returns the options of a call after checking them. */
export function callOptions<T extends CallOptions>(of: Call, options: T = {} as T): T {
  checkEach(of, options, callChecks);
  return options;
}

export function promptOptions(of: "stream" | "send", options: PromptOptions = {}): PromptOptions {
  checkEach(of, options, promptChecks);
  return options;
}

export function checkSettings(change: unknown): void {
  checkEach("updateSettings", change, settingChecks);
}

export function checkText(what: "A prompt" | "The id of a session" | "A title", text: unknown): void {
  checkOne(what, text, aString);
}

export function checkCall(method: unknown, params: unknown): void {
  checkOne("The name of a method", method, aString);
  // A list is allowed, to try out how a backend reacts.
  checkOne(`The params of ${method}`, params, ["an object", isObject]);
}

/** Throws a TypeError if `connect` returned no connection. */
export function checkConnection(value: unknown): asserts value is Connection {
  const { incoming, send, close, ended } = isRecord(value) ? value : {};
  const lacking = [
    !isObject(incoming) || !(Symbol.asyncIterator in incoming) ? "incoming" : "",
    typeof send === "function" ? "" : "send",
    typeof close === "function" ? "" : "close",
    !isObject(ended) || !("then" in ended) ? "ended" : "",
  ].filter((name) => name !== "");
  if (lacking.length > 0)
    throw new TypeError(`connect returned an invalid connection: it lacks ${lacking.join(", ")}.`);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Drops absent timeouts, and those too long for a timer, which are as good as endless. */
export function countable(timeouts: Timeouts = {}): Timeouts {
  const given = Object.entries(timeouts).filter(([, ms]) => ms !== undefined);
  return Object.fromEntries(given.map(([name, ms]: [string, number]) => [name, Math.min(ms, longestTimerMs)]));
}
