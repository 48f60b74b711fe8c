import type { ErrorCode, FailureCause } from "../core/errors.ts";
import type { ModelEvent } from "../core/ports.ts";
import { textStart } from "../core/text-cut.ts";
import { CutStream, StreamFault } from "./ai-sdk.ts";
import { httpFailure } from "./http-failure.ts";
import type { ModelSpec } from "./model-spec.ts";
import { shownUrl } from "./redact.ts";
import { UnstreamedAnswer } from "./watched-fetch.ts";

type ErrorEvent = ModelEvent & { type: "error" };
type Fields = Readonly<Record<string, unknown>>;

/** How a failure is told: its words cleaned and bounded. */
type Tell = (code: ErrorCode, message: string, retryable: boolean, cause?: FailureCause) => ErrorEvent;

const mostWords = 600;

/** What went wrong with a call of a provider's model: in words, with its code, and whether trying again can help. */
export function providerFailure(
  error: unknown,
  spec: ModelSpec,
  redact: (text: string) => string,
  watch: { readonly status: number },
): ErrorEvent {
  const tell: Tell = (code, message, retryable, cause) => {
    const words = textStart(redact(message.replace(/[\s\p{Cc}]+/gu, " ").trim()), mostWords);
    return { type: "error", failure: { code, message: words, ...(cause === undefined ? {} : { cause }) }, retryable };
  };
  if (error instanceof CutStream) {
    return tell("model_failed", `${spec.providerName}'s answer ended before it was whole.`, true, "network");
  }
  if (error instanceof UnstreamedAnswer) return unstreamedFailure(error, spec, tell);
  const cause = error instanceof StreamFault ? error.detail : error;
  // The SDK gives an error at the head of a stream a status of its own making.
  if (isObject(cause) && cause.name === "AI_APICallError" && watch.status >= 200 && watch.status < 300) {
    const wrapped = fromNetwork(cause, spec, tell, true);
    return wrapped ?? streamFailure(parsed(cause.responseBody) ?? cause, spec, tell);
  }
  const known = fromNetwork(cause, spec, tell, watch.status !== 0) ?? fromAnswer(cause, spec, tell);
  if (known !== undefined) return known;
  if (error instanceof StreamFault) return streamFailure(cause, spec, tell);
  return tell("model_failed", `${spec.providerName}: ${messageIn(error)}`, false);
}

/** Faults of the connection, and answers that no model gives; they may be wrapped in others. */
function fromNetwork(error: unknown, spec: ModelSpec, tell: Tell, hasAnswered: boolean): ErrorEvent | undefined {
  for (let cause = error, depth = 0; isObject(cause) && depth < 5; cause = cause.cause, depth += 1) {
    if (cause.name === "NetworkError") return networkFailure(cause, spec, tell, hasAnswered);
    if (cause.name === "WrongAnswer") return tell("model_failed", `${spec.providerName}: ${messageIn(cause)}`, false);
  }
  return undefined;
}

/** Answers with a status, and answers that are not understood. */
function fromAnswer(error: unknown, spec: ModelSpec, tell: Tell): ErrorEvent | undefined {
  if (!isObject(error)) return undefined;
  const { name, statusCode } = error;
  if (name === "AI_APICallError" && typeof statusCode === "number" && statusCode >= 300) {
    return statusFailure(error, statusCode, spec, tell);
  }
  const what = typeof name === "string" ? misread.get(name) : undefined;
  if (what === undefined) return undefined;
  const cause = name === "AI_EmptyResponseBodyError" ? "empty_response" : undefined;
  return tell("model_failed", `${spec.providerName} ${what}.`, true, cause);
}

/** The SDK's names for an answer that is not in the provider's format. */
const misread = new Map([
  ["AI_JSONParseError", "sent an event that is not JSON"],
  ["AI_TypeValidationError", "sent an event that is not in its format"],
  ["AI_InvalidResponseDataError", "sent an answer that is not whole or not in its format"],
  ["AI_EmptyResponseBodyError", "sent an answer without a body"],
]);

/** Faults of the connection that trying again does not mend. */
const lasting = new Set(["tls", "proxy", "invalid"]);

function networkFailure(error: Fields, spec: ModelSpec, tell: Tell, hasAnswered: boolean): ErrorEvent {
  const kind = String(error.kind);
  const isReached = kind === "invalid" || kind === "first_byte_timeout" || hasAnswered;
  const lead = isReached ? ":" : " cannot be reached.";
  const key = timeoutKeys.get(kind);
  const hint = key === undefined ? "" : ` ${key} of the model in config.yaml sets this limit.`;
  const words = `${spec.providerName}${lead} ${messageIn(error)}${hint}`;
  return tell("model_failed", words, !lasting.has(kind), causeOf(kind));
}

/** What sets how long is waited. */
const timeoutKeys = new Map([
  ["connect_timeout", "timeouts.connect"],
  ["first_byte_timeout", "timeouts.firstByte"],
  ["idle_timeout", "timeouts.idle"],
]);

/** A request that cannot be sent and an answer that is no HTTP say nothing about the network. */
function causeOf(kind: string): FailureCause | undefined {
  if (kind === "invalid" || kind === "malformed") return undefined;
  return kind.endsWith("_timeout") ? "timeout" : "network";
}

/** JSON where a stream should be: mostly an error whose status says that all is well. */
function unstreamedFailure({ detail }: UnstreamedAnswer, spec: ModelSpec, tell: Tell): ErrorEvent {
  if (isObject(detail) && detail.error !== undefined) {
    return streamFailure(typeof detail.error === "string" ? { message: detail.error } : detail, spec, tell);
  }
  return tell("model_failed", `${spec.providerName} did not stream its answer.`, false);
}

/* ------------------------------------------------------- answers with a status */

function statusFailure(error: Fields, status: number, spec: ModelSpec, tell: Tell): ErrorEvent {
  const { providerName: name, model } = spec;
  const detail = detailOf(error);
  const why = detail === "" ? "." : `: ${detail}`;
  const body = `${detail} ${typeof error.responseBody === "string" ? error.responseBody.slice(0, 4_000) : ""}`;
  // Foreign prose: providers disagree about the status of these, and agree about the words.
  if (isTooLong(body)) {
    return tell("context_full", `The conversation no longer fits ${model}'s window (${name}, ${status})${why}`, false);
  }
  if (/insufficient_quota|credit balance is too low/i.test(body)) {
    return tell(
      "model_auth",
      `${name} has nothing left to spend (${status})${why} The key is from ${spec.keyPlace}.`,
      false,
    );
  }
  if (status === 401 || /API_KEY_INVALID|API key not valid|invalid_api_key/i.test(body)) {
    return tell("model_auth", `${name} refused the key (${status})${why} Check ${spec.keyPlace}.`, false);
  }
  if (status === 404 || (status === 400 && /model_not_found/.test(body))) {
    const where = shownUrl(spec.baseUrl);
    const isModel = error.data !== undefined || /model/i.test(body);
    const what = isModel ? `no model "${model}" at ${where}` : `nothing at ${where}`;
    return tell("model_bad_request", `${name} has ${what} (${status})${why}${isModel ? "" : " Check baseUrl."}`, false);
  }
  const { failure, ...event } = httpFailure(status, "", retryAfter(error.responseHeaders, body));
  return { ...event, failure: tell(failure.code, statusWords(status, why, spec), false, failure.cause).failure };
}

function statusWords(status: number, why: string, { providerName: name, model, keyPlace }: ModelSpec): string {
  switch (status) {
    case 403:
      return `${name} does not allow this (403)${why} The key is from ${keyPlace}; the model is ${model}.`;
    case 413:
      return `The request is larger than ${name} takes (413)${why} A new session, or smaller files and images, would help.`;
    case 400:
    case 422:
      return `${name} did not accept the request for ${model} (${status})${why}`;
    case 429:
      return `${name}'s rate limit is used up (429)${why}`;
    case 503:
    case 529:
      return `${name} is overloaded (${status})${why}`;
    default:
      return `${name} failed with status ${status}${why}`;
  }
}

/** Milliseconds that a server asks to wait: seconds, or a date; Google says it in the body. */
function retryAfter(headers: unknown, body: string): number | undefined {
  const [, told] = /"retryDelay":\s*"([\d.]{1,12})s"/.exec(body) ?? [];
  return inHeaders(headers) ?? (told === undefined ? undefined : Number(told) * 1_000);
}

function inHeaders(headers: unknown): number | undefined {
  if (!isObject(headers)) return undefined;
  const inMs = headers["retry-after-ms"];
  if (typeof inMs === "string" && /^\d+$/.test(inMs)) return Number(inMs);
  const given = headers["retry-after"];
  if (typeof given !== "string" || given.trim() === "") return undefined;
  const seconds = Number(given);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1_000);
  const date = Date.parse(given);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

/** The provider's own words, ended as a sentence. */
function detailOf(error: Fields): string {
  const data = isObject(error.data) ? error.data : {};
  const inner = isObject(data.error) ? data.error : data;
  const told = typeof inner.message === "string" ? inner.message : bodyMessage(error.responseBody);
  const words = (told ?? messageIn(error)).trim();
  return words === "" || /[.!?]$/.test(words) ? words : `${words}.`;
}

/** Servers that speak almost the format put their words elsewhere. */
function bodyMessage(body: unknown): string | undefined {
  if (typeof body !== "string" || body.length > 100_000) return undefined;
  const value = parsed(body);
  if (value === undefined) return /^\s*</.test(body) ? "it answered with a web page." : body;
  if (!isObject(value)) return undefined;
  const places = [isObject(value.error) && value.error.message, value.error, value.message, value.detail];
  return places.find((text): text is string => typeof text === "string" && text !== "");
}

function parsed(text: unknown): unknown {
  try {
    return typeof text === "string" ? (JSON.parse(text) as unknown) : undefined;
  } catch {
    return undefined;
  }
}

/* -------------------------------------------------------- errors in a stream */

/** What providers say in the middle of a stream, where there is no status. */
function streamFailure(detail: unknown, spec: ModelSpec, tell: Tell): ErrorEvent {
  const outer = isObject(detail) ? detail : {};
  const fields = isObject(outer.response) ? outer.response : outer;
  const inner = isObject(fields.error) ? fields.error : fields;
  const kind = [inner.type, inner.code, inner.status, fields.status].filter((part) => part !== undefined).join(" ");
  const words = messageIn(inner) || messageIn(detail) || kind || "it did not say why";
  const message = `${spec.providerName} broke off its answer: ${/[.!?]$/.test(words) ? words : `${words}.`}`;
  if (isTooLong(`${kind} ${words}`)) return tell("context_full", message, false);
  if (/insufficient_quota|billing|auth|permission|api_key/i.test(kind)) return tell("model_auth", message, false);
  if (/rate_limit|exhausted|\b429\b/i.test(kind)) return tell("model_overloaded", message, true, "rate_limited");
  if (/overloaded|unavailable|\b(503|529)\b/i.test(kind)) return tell("model_overloaded", message, true, "overloaded");
  const isLasting = /invalid_request|invalid_prompt|not_found|invalid_argument|\b(400|404|422)\b/i.test(kind);
  if (isLasting) return tell("model_bad_request", message, false);
  const isLate = /timeout|deadline_exceeded|\b(408|504)\b/i.test(kind);
  return tell("model_failed", message, true, isLate ? "timeout" : undefined);
}

/** Foreign prose. */
function isTooLong(text: string): boolean {
  return /context_length_exceeded|prompt is too long|maximum context length|exceed_context_size|exceeds the maximum number of tokens|input token count .{0,40}exceeds/i.test(
    text,
  );
}

/* -------------------------------------------------------------------- words */

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

function messageIn(value: unknown): string {
  if (typeof value === "string") return value;
  return isObject(value) && typeof value.message === "string" ? value.message : "";
}
