import type { Connection, CreateOptions, PromptOptions, Timeouts } from "./api.ts";
import { longestMs } from "./timers.ts";
import { given, isRecord } from "./wire.ts";

/* For callers without types: a mistake is told where it was made, by its name. */

type Check = readonly [what: string, is: (value: unknown) => boolean];

const aString: Check = ["a string", (value) => typeof value === "string"];
const aFunction: Check = ["a function", (value) => typeof value === "function"];

const checks = {
  connect: aFunction,
  onPermission: aFunction,
  onPlan: aFunction,
  onQuestion: aFunction,
  onEvent: aFunction,
  onWarning: aFunction,
  whenBusy: ['"queue" or "refuse"', (value) => value === "queue" || value === "refuse"],
  timeouts: ["an object", isRecord],
  // Not by its class: a test environment may have one of its own.
  signal: ["an AbortSignal", (value) => isRecord(value) && typeof value.throwIfAborted === "function"],
  cwd: aString,
  sessionId: aString,
  modelId: aString,
  id: aString,
} satisfies Partial<Record<keyof CreateOptions | keyof PromptOptions, Check>>;

type Name = "createSession" | "resumeSession" | "query";

/** Throws a TypeError of one sentence for options that cannot be meant. `connect` is needed where no program can be started. */
export function checkOptions(of: Name, options: unknown, { needsConnect = false } = {}): void {
  if (needsConnect && (options === undefined || (isRecord(options) && options.connect === undefined))) {
    throw new TypeError(`${of} needs the option connect here: nothing can be started in a browser.`);
  }
  if (!isRecord(options)) throw new TypeError(`The options of ${of} must be an object.`);
  for (const [name, [what, is]] of Object.entries<Check>(checks)) {
    const value = options[name];
    if (value !== undefined && !is(value)) throw new TypeError(`The option ${name} of ${of} must be ${what}.`);
  }
  for (const [name, ms] of Object.entries(options.timeouts ?? {})) {
    if (ms !== undefined && !(typeof ms === "number" && ms >= 0)) {
      throw new TypeError(`The option timeouts.${name} of ${of} must be a number of at least 0.`);
    }
  }
}

export function checkText(what: "A prompt" | "The id of a session", text: unknown): void {
  if (typeof text !== "string") throw new TypeError(`${what} must be a string.`);
}

/** Throws a TypeError for what a `connect` gave that is no connection. */
export function checkConnection(value: unknown): asserts value is Connection {
  const { incoming, send, close, ended } = isRecord(value) ? value : {};
  const lacking = [
    !isObject(incoming) || !(Symbol.asyncIterator in incoming) ? "incoming" : "",
    typeof send === "function" ? "" : "send",
    typeof close === "function" ? "" : "close",
    !isObject(ended) || !("then" in ended) ? "ended" : "",
  ].filter((name) => name !== "");
  if (lacking.length > 0) throw new TypeError(`What connect gave is no connection: it lacks ${lacking.join(", ")}.`);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Those that were given, as far as they can be counted: what is longer is as good as endless. */
export function countable(timeouts: Timeouts = {}): Timeouts {
  const least = (ms: number | undefined) => (ms === undefined ? undefined : Math.min(ms, longestMs));
  return given<Timeouts>({
    request: least(timeouts.request),
    open: least(timeouts.open),
    begin: least(timeouts.begin),
    turn: least(timeouts.turn),
    silence: least(timeouts.silence),
    grace: least(timeouts.grace),
  });
}
