import type { ErrorCode, FailureCause } from "../../engine/errors.ts";
import type { ModelEvent } from "../../engine/ports.ts";
import { textStart } from "../../text/text-cut.ts";
import { type Fields, isRecord, parsedJson } from "../../text/values.ts";
import type { ModelSpec } from "../providers/model-spec.ts";
import { retryAfter } from "../traffic/retry-after.ts";
import { UnstreamedAnswer } from "../traffic/watched-fetch.ts";
import { CutStream, StreamFault } from "./ai-sdk.ts";
import { httpFailure } from "./http-failure.ts";
import { shownUrl } from "./redact.ts";
import { isTooLong } from "./too-long.ts";

type ErrorEvent = ModelEvent & { type: "error" };

/** Makes an error event, its message redacted and limited in length. */
type Fail = (code: ErrorCode, message: string, retryable: boolean | number, cause?: FailureCause) => ErrorEvent;

const maxMessageLength = 600;
/** The server sent malformed data. More retries rarely fix that, and each can cost tokens. */
const fewRetries = 3;

/** Maps whatever a provider call threw to an error event. `watch.status` is the real HTTP status, 0 without a response. */
export function providerFailure(
  error: unknown,
  spec: ModelSpec,
  redact: (text: string) => string,
  watch: { readonly status: number },
  now: number,
): ErrorEvent {
  const fail: Fail = (code, message, retries, cause) => {
    const clean = textStart(redact(message.replace(/[\s\p{Cc}]+/gu, " ").trim()), maxMessageLength);
    const failure = { code, message: clean, ...(cause === undefined ? {} : { cause }) };
    const retryable = retries !== false;
    return { type: "error", failure, retryable, ...(typeof retries === "number" ? { maxRetries: retries } : {}) };
  };
  if (error instanceof CutStream) {
    return fail("model_failed", `${spec.providerName}'s reply ended early.`, fewRetries, "network");
  }
  if (error instanceof UnstreamedAnswer) return unstreamedFailure(error, spec, fail);
  const cause = error instanceof StreamFault ? error.detail : error;
  // For an error event at the start of a stream, the SDK invents a status.
  if (isRecord(cause) && cause.name === "AI_APICallError" && watch.status >= 200 && watch.status < 300) {
    const wrapped = fromNetwork(cause, spec, fail, true);
    return wrapped ?? streamFailure(parsedJson(String(cause.responseBody)) ?? cause, spec, fail);
  }
  const known = fromNetwork(cause, spec, fail, watch.status !== 0) ?? fromAnswer(cause, spec, fail, now);
  if (known !== undefined) return known;
  if (error instanceof StreamFault) return streamFailure(cause, spec, fail);
  return fail("model_failed", `${spec.providerName}: ${messageIn(error)}`, false);
}

/** Connection failures and non-model responses, possibly wrapped in other errors. */
function fromNetwork(error: unknown, spec: ModelSpec, fail: Fail, hasAnswered: boolean): ErrorEvent | undefined {
  for (let cause = error, depth = 0; isRecord(cause) && depth < 5; cause = cause.cause, depth += 1) {
    if (cause.name === "NetworkError") return networkFailure(cause, spec, fail, hasAnswered);
    if (cause.name === "WrongAnswer") return fail("model_failed", `${spec.providerName}: ${messageIn(cause)}`, false);
  }
  return undefined;
}

/** HTTP error responses and malformed ones. */
function fromAnswer(error: unknown, spec: ModelSpec, fail: Fail, now: number): ErrorEvent | undefined {
  if (!isRecord(error)) return undefined;
  const { name, statusCode } = error;
  if (name === "AI_APICallError" && typeof statusCode === "number" && statusCode >= 300) {
    return statusFailure(error, statusCode, spec, fail, now);
  }
  const what = typeof name === "string" ? misread.get(name) : undefined;
  if (what === undefined) return undefined;
  const cause = name === "AI_EmptyResponseBodyError" ? "empty_response" : undefined;
  return fail("model_failed", `${spec.providerName} ${what}.`, fewRetries, cause);
}

/** The SDK's error names for malformed responses. */
const misread = new Map([
  ["AI_JSONParseError", "sent an event that is not JSON"],
  ["AI_TypeValidationError", "sent a malformed event"],
  ["AI_InvalidResponseDataError", "sent an incomplete or malformed response"],
  ["AI_EmptyResponseBodyError", "sent a response without a body"],
]);

/** Connection failures that a retry doesn't fix. */
const lasting = new Set(["tls", "proxy", "invalid"]);

function networkFailure(error: Fields, spec: ModelSpec, fail: Fail, hasAnswered: boolean): ErrorEvent {
  const kind = String(error.kind);
  const lead = kind === "invalid" || hasAnswered ? ":" : " cannot be reached.";
  const hint = kind === "connect_timeout" ? " The model's timeouts.connect in config.yaml sets this limit." : "";
  const message = `${spec.providerName}${lead} ${messageIn(error)}${hint}`;
  return fail("model_failed", message, !lasting.has(kind), causeOf(kind));
}

/** An unsendable request or a malformed response is not a network problem. */
function causeOf(kind: string): FailureCause | undefined {
  if (kind === "invalid" || kind === "malformed") return undefined;
  return kind.endsWith("_timeout") ? "timeout" : "network";
}

/** JSON instead of a stream is usually an error sent with status 200. */
function unstreamedFailure({ detail }: UnstreamedAnswer, spec: ModelSpec, fail: Fail): ErrorEvent {
  if (isRecord(detail) && detail.error !== undefined) {
    return streamFailure(typeof detail.error === "string" ? { message: detail.error } : detail, spec, fail);
  }
  return fail("model_failed", `${spec.providerName} did not stream its reply.`, false);
}

/* ----------------------------------------------------- HTTP error responses */

function statusFailure(error: Fields, status: number, spec: ModelSpec, fail: Fail, now: number): ErrorEvent {
  const { providerName: name, model } = spec;
  const detail = detailOf(error);
  const why = detail === "" ? "." : `: ${detail}`;
  const body = `${detail} ${typeof error.responseBody === "string" ? error.responseBody.slice(0, 4_000) : ""}`;
  // Matched by text: providers use different statuses for these, but similar texts.
  if (isTooLong(body)) {
    return fail("context_full", `The conversation no longer fits ${model}'s window (${name}, ${status})${why}`, false);
  }
  if (/insufficient_quota|credit balance is too low/i.test(body)) {
    return fail(
      "model_auth",
      `${name} reports no remaining credit (${status})${why} The key is from ${spec.keyPlace}.`,
      false,
    );
  }
  if (status === 401 || /API_KEY_INVALID|API key not valid|invalid_api_key/i.test(body)) {
    return fail("model_auth", `${name} refused the key (${status})${why} Check ${spec.keyPlace}.`, false);
  }
  if (status === 404 || (status === 400 && /model_not_found/.test(body))) {
    const where = shownUrl(spec.baseUrl);
    const isModel = error.data !== undefined || /model/i.test(body);
    const what = isModel ? `no model "${model}" at ${where}` : `nothing at ${where}`;
    return fail("model_bad_request", `${name} has ${what} (${status})${why}${isModel ? "" : " Check baseUrl."}`, false);
  }
  const headers = isRecord(error.responseHeaders) ? error.responseHeaders : {};
  const { failure, ...event } = httpFailure(status, "", retryAfter(headers, body, now));
  const retryable = event.retryable && headers["x-should-retry"] !== "false";
  return {
    ...event,
    retryable,
    failure: fail(failure.code, statusMessage(status, why, spec), false, failure.cause).failure,
  };
}

function statusMessage(status: number, why: string, { providerName: name, model, keyPlace }: ModelSpec): string {
  switch (status) {
    case 403:
      return `${name} denied access to ${model} (403)${why} The key is from ${keyPlace}.`;
    case 413:
      return `The request is too large for ${name} (413)${why} Send fewer or smaller files and images.`;
    case 400:
    case 422:
      return `${name} rejected the request for ${model} (${status})${why}`;
    case 429:
      return `${name}'s rate limit is exceeded (429)${why}`;
    case 503:
    case 529:
      return `${name} is overloaded (${status})${why}`;
    default:
      return `${name} failed with status ${status}${why}`;
  }
}

/** The provider's error text, ended as a sentence. */
function detailOf(error: Fields): string {
  const data = isRecord(error.data) ? error.data : {};
  const inner = isRecord(data.error) ? data.error : data;
  const given = typeof inner.message === "string" ? inner.message : bodyMessage(error.responseBody);
  const text = (given ?? messageIn(error)).trim();
  return text === "" || /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Nearly compatible servers put the error text elsewhere. */
function bodyMessage(body: unknown): string | undefined {
  if (typeof body !== "string" || body.length > 100_000) return undefined;
  const value = parsedJson(body);
  if (value === undefined) return /^\s*</.test(body) ? "it returned a web page." : body;
  if (!isRecord(value)) return undefined;
  const places = [isRecord(value.error) && value.error.message, value.error, value.message, value.detail];
  return places.find((text): text is string => typeof text === "string" && text !== "");
}

/* -------------------------------------------------------- errors in a stream */

/** Errors within a stream have no status, so their type and code decide. */
function streamFailure(detail: unknown, spec: ModelSpec, fail: Fail): ErrorEvent {
  const outer = isRecord(detail) ? detail : {};
  const fields = isRecord(outer.response) ? outer.response : outer;
  const inner = isRecord(fields.error) ? fields.error : fields;
  const kind = [inner.type, inner.code, inner.status, fields.status].filter((part) => part !== undefined).join(" ");
  const text = messageIn(inner) || messageIn(detail) || kind || "no reason given";
  const message = `${spec.providerName} aborted its reply: ${/[.!?]$/.test(text) ? text : `${text}.`}`;
  if (isTooLong(`${kind} ${text}`)) return fail("context_full", message, false);
  if (/insufficient_quota|billing|auth|permission|api_key/i.test(kind)) return fail("model_auth", message, false);
  if (/rate_limit|exhausted|\b429\b/i.test(kind)) return fail("model_overloaded", message, true, "rate_limited");
  if (/overloaded|unavailable|\b(503|529)\b/i.test(kind)) return fail("model_overloaded", message, true, "overloaded");
  const isLasting = /invalid_request|invalid_prompt|not_found|invalid_argument|\b(400|404|422)\b/i.test(kind);
  if (isLasting) return fail("model_bad_request", message, false);
  if (/timeout|deadline_exceeded|\b(408|504)\b/i.test(kind)) return fail("model_failed", message, true, "timeout");
  const isOutage = /server_error|api_error|internal|\b5\d\d\b/i.test(kind);
  return fail("model_failed", message, isOutage || fewRetries);
}

function messageIn(value: unknown): string {
  if (typeof value === "string") return value;
  return isRecord(value) && typeof value.message === "string" ? value.message : "";
}
