import type { Judged, ProviderOptions, ProviderServer, ReceivedRequest, Rendered, Reply, Turn, Wire } from "./base.ts";
import { createIds, serveWire, stopOf, usageOf } from "./base.ts";
import type { ModelRules } from "./google-models.ts";
import { googleModels, rulesOf } from "./google-models.ts";
import { brokenRules, sealedContent, skippedSignature } from "./google-rules.ts";
import type { GenerateRequest, Part, Violation } from "./google-schema.ts";
import { requestSchema, schemaViolations } from "./google-schema.ts";
import type { Seal } from "./seal.ts";
import { createSeal } from "./seal.ts";

export interface GoogleOptions extends ProviderOptions {
  /** An error inside a stream is bare JSON, not an event. The official SDK reads both. */
  readonly bareStreamErrors?: boolean;
}

const statuses: Readonly<Record<number, readonly [status: string, message: string]>> = {
  400: ["INVALID_ARGUMENT", "Request contains an invalid argument."],
  401: ["UNAUTHENTICATED", "Request had invalid authentication credentials."],
  403: ["PERMISSION_DENIED", "The caller does not have permission"],
  404: ["NOT_FOUND", "Requested entity was not found."],
  409: ["ABORTED", "The operation was aborted."],
  429: ["RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details."],
  499: ["CANCELLED", "The operation was cancelled."],
  500: ["INTERNAL", "An internal error has occurred. Please retry."],
  503: ["UNAVAILABLE", "The model is overloaded. Please try again later."],
  504: ["DEADLINE_EXCEEDED", "Deadline expired before operation could complete."],
};

const stops = { end: "STOP", length: "MAX_TOKENS", refusal: "SAFETY", calls: "STOP" } as const;
const rpc = "type.googleapis.com/google.rpc";

function errorObject(code: number, message?: string, details?: readonly object[]): object {
  const [status, usual] = statuses[code] ?? ["UNKNOWN", "Unknown error."];
  const quota = code === 429 ? [{ "@type": `${rpc}.RetryInfo`, retryDelay: "17s" }] : undefined;
  const more = details ?? quota;
  return { error: { code, message: message ?? usual, status, ...(more === undefined ? {} : { details: more }) } };
}

/**
 * Speaks the Gemini API. Sends thoughts only if the request includes them, and signatures where the service does: on an
 * answer's first call, or else on its last text.
 */
export function createGoogleServer(options: GoogleOptions = {}): Promise<ProviderServer> {
  const key = options.key ?? "AIzaSyLoopbackKeyLoopbackKeyLoopbackKey";
  const models = options.models ?? Object.keys(googleModels);
  const ids = createIds("google");
  const seal = createSeal("google thought");
  const signedCalls = new Set<string>();

  const errorBody: Wire["errorBody"] = (status, message) => `${pretty(errorObject(status, message))}\n`;

  function judge(request: Omit<ReceivedRequest, "faults" | "aborted">): Judged {
    const { pathname, searchParams } = new URL(request.path, "http://loopback");
    const [, model, method] = /^\/v1beta\/models\/([^/:]+):((?:streamG|g)enerateContent)$/.exec(pathname) ?? [];
    if (model === undefined || request.method !== "POST") {
      const body = "<!DOCTYPE html>\n<html lang=en>\n<title>Error 404 (Not Found)!!1</title>\n<p>That's an error.\n";
      const reply = { status: 404, headers: { "content-type": "text/html; charset=UTF-8" }, body };
      return { faults: [`no such method: ${request.method} ${pathname}`], reply };
    }
    const streams = method === "streamGenerateContent";
    const events = searchParams.get("alt") === "sse";
    const refuse = (status: number, message?: string, details?: readonly object[]): Reply => {
      const error = errorObject(status, message, details);
      const body = `${pretty(streams && !events ? [error] : error)}\n`;
      return { status, headers: { "content-type": "application/json; charset=UTF-8" }, body };
    };
    const sent = request.headers["x-goog-api-key"] ?? searchParams.get("key");
    if (sent === null) {
      const message =
        "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.";
      return { faults: [], reply: refuse(403, message) };
    }
    if (sent !== key) {
      const message = "API key not valid. Please pass a valid API key.";
      const metadata = { service: "generativelanguage.googleapis.com" };
      const info = { "@type": `${rpc}.ErrorInfo`, reason: "API_KEY_INVALID", domain: "googleapis.com", metadata };
      const localized = { "@type": `${rpc}.LocalizedMessage`, locale: "en-US", message };
      return { faults: [], reply: refuse(400, message, [info, localized]) };
    }
    if (!/^application\/json\b/.test(request.headers["content-type"] ?? "")) {
      return { faults: ["content-type: expected application/json"], reply: refuse(400) };
    }
    if (request.body === undefined) {
      const message = "Invalid JSON payload received. Unexpected end of string.";
      return { faults: [message], reply: refuse(400, message) };
    }
    const parsed = requestSchema.safeParse(request.body);
    if (!parsed.success) {
      const fieldViolations: Violation[] = schemaViolations(parsed.error, request.body);
      const faults = fieldViolations.map(({ description }) => description);
      const details = [{ "@type": `${rpc}.BadRequest`, fieldViolations }];
      return { faults, reply: refuse(400, faults.join("\n"), details) };
    }
    if (!models.includes(model)) {
      const message = `models/${model} is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.`;
      return { faults: [], reply: refuse(404, message) };
    }
    const rules = rulesOf(model);
    const faults = brokenRules(parsed.data, rules, seal);
    if (faults[0] !== undefined) {
      const listed = faults.filter((fault) => fault.startsWith("* "));
      return { faults, reply: refuse(400, listed.includes(faults[0]) ? `${listed.join("\n")}\n` : faults[0]) };
    }
    return {
      // The service answers anyway, but the client has lost a signature that it had.
      faults: lostSignatures(parsed.data, signedCalls),
      stream: streams && events,
      render: (turn) => render({ turn, request: parsed.data, model, rules, ids, seal, signedCalls, list: streams }),
    };
  }

  return serveWire({
    basePath: "",
    key,
    judge,
    errorBody,
    streamError: (type = "UNAVAILABLE", message) => {
      const code = Number(Object.entries(statuses).find(([, [status]]) => status === type)?.[0] ?? 500);
      const error = errorObject(code, message);
      return [options.bareStreamErrors ? `${pretty(error)}\n` : event(error)];
    },
  });
}

const pretty = (value: unknown) => JSON.stringify(value, null, 2);

/** Events end with CRLF, and their JSON has a space after colons and none after commas, like the service's. */
function event(data: unknown): string {
  return `data: ${JSON.stringify(data, null, 1).replace(/\n\s*/g, "")}\r\n\r\n`;
}

const callKey = ({ functionCall }: Part) => JSON.stringify([functionCall?.name, functionCall?.args]);

function lostSignatures({ contents = [] }: GenerateRequest, signedCalls: ReadonlySet<string>): string[] {
  const parts = contents.flatMap((content) => content.parts ?? []);
  return parts
    .filter((part) => part.thoughtSignature === skippedSignature && signedCalls.has(callKey(part)))
    .map(
      ({ functionCall }) =>
        `the signature of the call of ${functionCall?.name} was given, but ${skippedSignature} came back`,
    );
}

interface Rendering {
  readonly turn: Turn;
  readonly request: GenerateRequest;
  readonly model: string;
  readonly rules: ModelRules;
  readonly ids: ReturnType<typeof createIds>;
  readonly seal: Seal;
  readonly signedCalls: Set<string>;
  /** The response without events is a list of all chunks. */
  readonly list: boolean;
}

function partsOf({ turn, request, rules, ids, seal, signedCalls }: Rendering): Part[] {
  const { text = [], thinking = [], calls = [] } = turn;
  const { includeThoughts = false, thinkingBudget } = request.generationConfig?.thinkingConfig ?? {};
  const thinks = thinkingBudget !== 0;
  const parts: Part[] = [];
  if (includeThoughts && thinks && !turn.redacted)
    parts.push(...thinking.map((piece) => ({ text: piece, thought: true })));
  parts.push(...text.map((piece) => ({ text: piece })));
  const signs = rules.signed || (thinks && (thinking.length > 0 || turn.redacted === true));
  for (const [index, { name, input, id }] of calls.entries()) {
    const ownId = id ?? (rules.signed ? ids("", 8, "abcdefghijklmnopqrstuvwxyz0123456789") : undefined);
    const args = input as Record<string, unknown>;
    const part: Part = { functionCall: { name, args, ...(ownId === undefined ? {} : { id: ownId }) } };
    if (index === 0 && signs) {
      part.thoughtSignature = seal.sign(sealedContent(part));
      signedCalls.add(callKey(part));
    }
    parts.push(part);
  }
  return parts;
}

function render(rendering: Rendering): Rendered {
  const { turn, model, rules, ids, seal } = rendering;
  const usage = usageOf(turn);
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite;
  const said = usage.output - usage.thinking;
  const responseId = ids("", 22);
  const textCount = (count: number) => [{ modality: "TEXT", tokenCount: count }];
  const usageMetadata = (spoken: number) => ({
    promptTokenCount: prompt,
    ...(spoken > 0 ? { candidatesTokenCount: spoken } : {}),
    totalTokenCount: prompt + spoken + usage.thinking,
    ...(usage.cacheRead > 0 ? { cachedContentTokenCount: usage.cacheRead } : {}),
    promptTokensDetails: textCount(prompt),
    ...(usage.cacheRead > 0 ? { cacheTokensDetails: textCount(usage.cacheRead) } : {}),
    ...(usage.thinking > 0 ? { thoughtsTokenCount: usage.thinking } : {}),
  });
  const chunk = (candidate: object, spoken: number) => ({
    candidates: [candidate],
    usageMetadata: usageMetadata(spoken),
    modelVersion: model,
    responseId,
  });

  const headers = { "x-gemini-service-tier": "standard", server: "scaffolding on HTTPServer2" };
  if (turn.blocked !== undefined) {
    const refused = {
      promptFeedback: { blockReason: turn.blocked },
      usageMetadata: { promptTokenCount: prompt, totalTokenCount: prompt, promptTokensDetails: textCount(prompt) },
      modelVersion: model,
      responseId,
    };
    return { headers, events: [event(refused)], finishEvents: 1, whole: rendering.list ? [refused] : refused };
  }

  const parts = partsOf(rendering);
  const finishReason = turn.nativeStop ?? stops[stopOf(turn)];
  const signsText = rules.signed && (turn.calls ?? []).length === 0;
  const lastPart: Part = signsText ? { text: "", thoughtSignature: seal.sign("text") } : { text: "" };
  const ended = finishReason === "STOP" || finishReason === "MAX_TOKENS";
  const closing = parts.length === 0 ? { role: "model" } : { parts: [lastPart], role: "model" };
  const end = {
    ...(ended ? { content: closing } : {}),
    finishReason,
    index: 0,
    ...endingOf(finishReason),
  };
  const visible = parts.filter(({ thought }) => thought !== true).length;
  let shown = 0;
  const chunks = parts.map((part) => {
    if (part.thought !== true) shown += 1;
    return chunk({ content: { parts: [part], role: "model" }, index: 0 }, Math.floor((said * shown) / (visible || 1)));
  });
  const finish = chunk(end, said);
  const whole = chunk(
    { ...end, ...(ended ? { content: { parts: joined(parts, lastPart), role: "model" } } : {}) },
    said,
  );
  return {
    headers,
    events: [...chunks, finish].map(event),
    finishEvents: 1,
    whole: rendering.list ? [...chunks, finish] : whole,
  };
}

function endingOf(finishReason: string): object {
  if (finishReason === "MALFORMED_FUNCTION_CALL") {
    return { finishMessage: "Malformed function call: print(default_api.Read(file_path=" };
  }
  if (finishReason !== "SAFETY") return {};
  const rating = { category: "HARM_CATEGORY_DANGEROUS_CONTENT", probability: "HIGH", blocked: true };
  return { safetyRatings: [rating] };
}

/** Without streaming, consecutive pieces of one kind are one part. */
function joined(parts: readonly Part[], lastPart: Part): Part[] {
  const whole: Part[] = [];
  for (const part of parts) {
    const last = whole.at(-1);
    if (last?.text !== undefined && part.text !== undefined && last.thought === part.thought) last.text += part.text;
    else whole.push({ ...part });
  }
  const last = whole.at(-1);
  const signature = lastPart.thoughtSignature;
  if (signature !== undefined && last?.text !== undefined) last.thoughtSignature = signature;
  return whole;
}
