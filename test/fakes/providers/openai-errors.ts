import type { IncomingHttpHeaders } from "node:http";
import type { Fault, ReceivedRequest, Reply } from "./base.ts";

/** Why a request is rejected, with the real service's message and fields. */
export interface Violation {
  readonly status: number;
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
  /** For servers whose errors differ from OpenAI's. */
  readonly body?: unknown;
}

export function violation(message: string, param: string | null, code: string | null = null, status = 400): Violation {
  return { status, message, type: "invalid_request_error", param, code };
}

export function errorBodyOf({ message, type, param, code, body }: Violation): unknown {
  return body ?? { error: { message, type, param, code } };
}

/** The response to a rejected request. Reports the first fault. */
export function refusal(violations: readonly [Violation, ...Violation[]]): {
  readonly faults: readonly string[];
  readonly reply: Reply;
} {
  const [first] = violations;
  const reply = { status: first.status, headers: answerHeaders, body: errorBodyOf(first) };
  return { faults: violations.map(({ message }) => message), reply };
}

/** Headers that the service adds to every response. */
export const answerHeaders: Readonly<Record<string, string>> = {
  "openai-organization": "org-fake",
  "openai-processing-ms": "212",
  "openai-version": "2020-10-01",
  "x-request-id": "req_5f1c7b0f4d8e4b0f9a3c2d1e0f9a8b7c",
  "x-ratelimit-limit-requests": "10000",
  "x-ratelimit-limit-tokens": "2000000",
  "x-ratelimit-remaining-requests": "9999",
  "x-ratelimit-remaining-tokens": "1999975",
  "x-ratelimit-reset-requests": "6ms",
  "x-ratelimit-reset-tokens": "0s",
};

/** As the service shows an unknown key. */
export function maskedKey(key: string): string {
  if (key.length <= 12) return `${key.slice(0, 2)}${"*".repeat(Math.max(0, key.length - 2))}`;
  return `${key.slice(0, 8)}${"*".repeat(key.length - 12)}${key.slice(-4)}`;
}

const keyPage = "https://platform.openai.com/account/api-keys";

function wrongKey(key: string): Violation {
  const words = `Incorrect API key provided: ${maskedKey(key)}. You can find your API key at ${keyPage}.`;
  return violation(words, null, "invalid_api_key", 401);
}

/** `key` undefined: no key is needed. */
export function keyViolation(headers: IncomingHttpHeaders, key: string | undefined): Violation | undefined {
  if (key === undefined) return undefined;
  const given = /^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1];
  if (given === undefined) {
    const words = "You didn't provide an API key. You need to provide your API key in an Authorization header";
    return violation(`${words} using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).`, null, null, 401);
  }
  return given === key ? undefined : wrongKey(given);
}

/** Faults of a request to `path`, found before its JSON is read. */
export function envelopeViolation(
  request: Pick<ReceivedRequest, "method" | "path" | "headers" | "body">,
  path: string,
): Violation | undefined {
  const { method, headers, body } = request;
  const asked = request.path.split("?", 1)[0];
  if (asked !== path) return violation(`Invalid URL (${method} ${asked})`, null, null, 404);
  if (method !== "POST") {
    return violation("Only POST requests are accepted.", null, "method_not_supported", 405);
  }
  const contentType = headers["content-type"] ?? "";
  if (!/^application\/json\b/.test(contentType)) {
    const words = `Unsupported content type: '${contentType}'. This API method only accepts 'application/json' requests.`;
    return violation(words, null, "unsupported_content_type");
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    return violation("We could not parse the JSON body of your request.", null);
  }
  return undefined;
}

export function modelViolation(model: string, models: readonly string[]): Violation | undefined {
  if (models.includes(model)) return undefined;
  const words = `The model \`${model}\` does not exist or you do not have access to it.`;
  return violation(words, null, "model_not_found", 404);
}

const usual: Readonly<Record<number, readonly [message: string, type: string, code: string | null]>> = {
  401: [wrongKey("sk-proj-0123456789abcdef").message, "invalid_request_error", "invalid_api_key"],
  403: ["Country, region, or territory not supported", "request_forbidden", "unsupported_country_region_territory"],
  404: [
    "The model `gpt-x` does not exist or you do not have access to it.",
    "invalid_request_error",
    "model_not_found",
  ],
  408: ["Request timed out.", "invalid_request_error", null],
  413: ["Maximum content size limit (26214400) exceeded (26222711 bytes read)", "server_error", null],
  429: [
    "Rate limit reached for gpt-5 in organization org-fake on tokens per min (TPM): Limit 30000, Used 29500, Requested 2500. Please try again in 4s.",
    "tokens",
    "rate_limit_exceeded",
  ],
  500: ["The server had an error while processing your request. Sorry about that!", "server_error", null],
  502: ["Bad gateway.", "cf_bad_gateway", null],
  503: ["The engine is currently overloaded, please try again later", "server_error", null],
};

export function usualError(status: number, message?: string): unknown {
  const [words, type, code] = usual[status] ?? ["The request could not be served.", "invalid_request_error", null];
  return { error: { message: message ?? words, type, param: null, code } };
}

function faultOf(status: number, error: unknown, headers: Readonly<Record<string, string>> = {}): Fault {
  return { status, headers: { ...answerHeaders, ...headers }, body: JSON.stringify(error) };
}

/** Service errors to use as a turn's `fault`. A plain `{ status }` has that status's usual message. */
export const openAIFaults = {
  /** Tokens per minute are exceeded. */
  rateLimit: (retryAfterSeconds: number): Fault =>
    faultOf(429, usualError(429), {
      "retry-after": String(retryAfterSeconds),
      "retry-after-ms": String(retryAfterSeconds * 1000),
      "x-ratelimit-remaining-tokens": "0",
      "x-ratelimit-reset-tokens": `${retryAfterSeconds}s`,
    }),
  /** No credit left: a 429 that waiting does not fix. */
  quota: (): Fault => {
    const message = "You exceeded your current quota, please check your plan and billing details.";
    return faultOf(429, { error: { message, type: "insufficient_quota", param: null, code: "insufficient_quota" } });
  },
  contextLength: (wire: "responses" | "chat"): Fault => {
    const message =
      wire === "responses"
        ? "Your input exceeds the context window of this model. Please adjust your input and try again."
        : "This model's maximum context length is 128000 tokens. However, your messages resulted in 131072 tokens. Please reduce the length of the messages.";
    const param = wire === "responses" ? "input" : "messages";
    return faultOf(400, { error: { message, type: "invalid_request_error", param, code: "context_length_exceeded" } });
  },
};
