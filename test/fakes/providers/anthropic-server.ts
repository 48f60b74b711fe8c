import type { ModelRules } from "./anthropic-models.ts";
import { anthropicModels, anyModel, showsThinking, thinks } from "./anthropic-models.ts";
import { brokenRules } from "./anthropic-rules.ts";
import type { MessagesRequest } from "./anthropic-schema.ts";
import { requestSchemas, schemaFaults } from "./anthropic-schema.ts";
import type { Judged, ProviderOptions, ProviderServer, ReceivedRequest, Rendered, Reply, Turn, Wire } from "./base.ts";
import { createIds, serveWire, splitUnevenly, sse, stopOf, usageOf } from "./base.ts";
import type { Seal } from "./seal.ts";
import { createSeal } from "./seal.ts";

const largestBody = 32 * 1024 * 1024;

const errorTypes: Readonly<Record<number, readonly [type: string, message: string]>> = {
  400: ["invalid_request_error", "Invalid request"],
  401: ["authentication_error", "invalid x-api-key"],
  402: ["billing_error", "Your credit balance is too low to access the Anthropic API."],
  403: ["permission_error", "Your API key does not have permission to use the specified resource."],
  404: ["not_found_error", "Not Found"],
  405: ["invalid_request_error", "Method Not Allowed"],
  409: ["conflict_error", "The resource was changed by another request."],
  413: ["request_too_large", "Request exceeds the maximum size"],
  429: ["rate_limit_error", "This request would exceed your organization's rate limit."],
  500: ["api_error", "Internal server error"],
  504: ["timeout_error", "Request timed out"],
  529: ["overloaded_error", "Overloaded"],
};

const stops = { end: "end_turn", length: "max_tokens", refusal: "refusal", calls: "tool_use" } as const;

/**
 * Speaks the Anthropic Messages API. Like the service, it sends a turn's thinking only if the request or the model
 * enables it, and its text only if it is not to be omitted.
 */
export function createAnthropicServer(options: ProviderOptions = {}): Promise<ProviderServer> {
  const key = options.key ?? "sk-ant-api03-loopback-key";
  const models = options.models ?? Object.keys(anthropicModels);
  const ids = createIds("anthropic");
  const seal = createSeal("anthropic thinking");

  const errorBody: Wire["errorBody"] = (status, message) => {
    const [type, usual] = errorTypes[status] ?? ["api_error", "Internal server error"];
    return { type: "error", error: { type, message: message ?? usual }, request_id: ids("req_011C", 20) };
  };
  const errorHeaders = (body: unknown) => {
    const id = (body as { request_id?: string } | undefined)?.request_id ?? ids("req_011C", 20);
    return { "request-id": id };
  };
  const refuse = (status: number, message?: string): Reply => {
    const body = errorBody(status, message);
    return { status, headers: errorHeaders(body), body };
  };
  const broken = (faults: readonly string[], status = 400): Judged => ({ faults, reply: refuse(status, faults[0]) });

  function judge(request: Omit<ReceivedRequest, "faults" | "aborted">): Judged {
    const { pathname } = new URL(request.path, "http://loopback");
    if (pathname !== "/v1/messages") return { faults: [`no such path: ${pathname}`], reply: refuse(404) };
    if (request.method !== "POST") return { faults: [`no such method: ${request.method}`], reply: refuse(405) };
    const { "x-api-key": apiKey, authorization } = request.headers;
    if (apiKey === undefined && authorization === undefined) {
      return { faults: [], reply: refuse(401, "x-api-key header is required") };
    }
    if (apiKey !== undefined && apiKey !== key) return { faults: [], reply: refuse(401) };
    if (apiKey === undefined && authorization !== `Bearer ${key}`) {
      return { faults: [], reply: refuse(401, "Invalid bearer token") };
    }
    const version = request.headers["anthropic-version"];
    if (version === undefined) return broken(["anthropic-version: header is required"]);
    if (version !== "2023-06-01" && version !== "2026-10-21") {
      return broken([`anthropic-version: "${String(version)}" is not a valid version`]);
    }
    if (!/^application\/json\b/.test(request.headers["content-type"] ?? "")) {
      return broken(["content-type: expected application/json"]);
    }
    if (request.rawBody.length > largestBody) return broken(["Request exceeds the maximum size"], 413);
    if (request.body === undefined) return broken(["The request body is not valid JSON"]);
    const parsed = requestSchemas[version].safeParse(request.body);
    if (!parsed.success) return broken(schemaFaults(parsed.error, request.body));
    const body: MessagesRequest = parsed.data;
    if (!models.includes(body.model)) return { faults: [], reply: refuse(404, `model: ${body.model}`) };
    const rules = anthropicModels[body.model] ?? anyModel;
    const faults = brokenRules(body, rules, seal);
    if (faults.length > 0) return broken(faults);
    return { faults: [], stream: body.stream ?? false, render: (turn) => render(turn, body, rules, ids, seal) };
  }

  return serveWire({
    basePath: "",
    key,
    judge,
    errorBody,
    errorHeaders,
    streamError: (type = "overloaded_error", message = "Overloaded") => [
      sse({ type: "error", error: { details: null, type, message }, request_id: ids("req_011C", 20) }, "error"),
    ],
  });
}

interface Delta {
  readonly type: string;
  readonly [field: string]: string;
}

/** A content block at its start, its deltas, and its final form. */
interface Part {
  readonly start: object;
  readonly deltas: readonly Delta[];
  readonly whole: object;
}

type Ids = ReturnType<typeof createIds>;

function partsOf(turn: Turn, request: MessagesRequest, rules: ModelRules, ids: Ids, seal: Seal): Part[] {
  const parts: Part[] = [];
  const { text = [], thinking = [], calls = [] } = turn;
  if (thinks(request, rules) && turn.redacted) {
    const whole = { type: "redacted_thinking", data: seal.sign("redacted") };
    parts.push({ start: whole, deltas: [], whole });
  } else if (thinks(request, rules) && thinking.length > 0) {
    const words = showsThinking(request, rules) ? thinking : [];
    const signature = seal.sign(words.join(""));
    parts.push({
      start: { type: "thinking", thinking: "", signature: "" },
      deltas: [
        ...words.map((piece) => ({ type: "thinking_delta", thinking: piece })),
        { type: "signature_delta", signature },
      ],
      whole: { type: "thinking", thinking: words.join(""), signature },
    });
  }
  if (text.length > 0) {
    parts.push({
      start: { type: "text", text: "" },
      deltas: text.map((piece) => ({ type: "text_delta", text: piece })),
      whole: { type: "text", text: text.join("") },
    });
  }
  for (const { name, input, id = ids("toolu_01", 22), pieces = 3 } of calls) {
    const call = { type: "tool_use", id, name, input: {}, caller: { type: "direct" } };
    const json = typeof input === "string" ? input : JSON.stringify(input);
    // A call without arguments is one empty delta: joined, it is not JSON, and clients must read it as "{}".
    const split = json === "{}" ? [] : splitUnevenly(json, pieces);
    parts.push({
      start: call,
      deltas: ["", ...split].map((piece) => ({ type: "input_json_delta", partial_json: piece })),
      whole: { ...call, input },
    });
  }
  return parts;
}

function render(turn: Turn, request: MessagesRequest, rules: ModelRules, ids: Ids, seal: Seal): Rendered {
  const parts = partsOf(turn, request, rules, ids, seal);
  const { input, cacheRead, cacheWrite, output, thinking } = usageOf(turn);
  const stop_reason = turn.nativeStop ?? stops[stopOf(turn)];
  const stop_details =
    stop_reason === "refusal"
      ? { type: "refusal", category: "cyber", explanation: "This request was declined by a usage policy." }
      : null;
  const inputUsage = {
    input_tokens: input,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
  };
  const usage = {
    ...inputUsage,
    cache_creation: { ephemeral_5m_input_tokens: cacheWrite, ephemeral_1h_input_tokens: 0 },
    output_tokens: 1,
    output_tokens_details: null,
    server_tool_use: null,
    service_tier: "standard",
    inference_geo: "global",
    speed: "standard",
  };
  const message = {
    model: request.model,
    id: ids("msg_01", 22),
    type: "message",
    role: "assistant",
    content: [],
    container: null,
    diagnostics: null,
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    usage,
  };
  const details = thinking > 0 ? { thinking_tokens: thinking } : null;
  const ending = { stop_reason, stop_sequence: null, stop_details };
  const spent = { output_tokens: output, output_tokens_details: details };

  const event = (data: { readonly type: string; readonly [field: string]: unknown }) => sse(data, data.type);
  const blocks = parts.flatMap(({ start, deltas }, index) => [
    event({ type: "content_block_start", index, content_block: start }),
    ...deltas.map((delta) => event({ type: "content_block_delta", index, delta })),
    event({ type: "content_block_stop", index }),
  ]);
  // The service pings after the first block has begun.
  blocks.splice(Math.min(1, blocks.length), 0, event({ type: "ping" }));
  const finish = [
    event({
      type: "message_delta",
      delta: { ...ending, container: null },
      usage: { ...inputUsage, ...spent, server_tool_use: null },
    }),
    event({ type: "message_stop" }),
  ];
  return {
    headers: {
      "request-id": ids("req_011C", 20),
      "anthropic-organization-id": "1c2f9be2-6d1e-4f0e-9f5e-0a5d8c0c7a11",
      "anthropic-ratelimit-requests-limit": "4000",
      "anthropic-ratelimit-requests-remaining": "3999",
      "anthropic-ratelimit-requests-reset": "2026-01-01T00:00:00Z",
    },
    events: [event({ type: "message_start", message }), ...blocks, ...finish],
    finishEvents: finish.length,
    whole: { ...message, content: parts.map(({ whole }) => whole), ...ending, usage: { ...usage, ...spent } },
  };
}
