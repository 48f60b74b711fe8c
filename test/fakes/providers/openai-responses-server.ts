import type { ProviderOptions, ProviderServer, Wire } from "./base.ts";
import { createIds, serveWire, sse } from "./base.ts";
import { envelopeViolation, keyViolation, modelViolation, refusal, usualError } from "./openai-errors.ts";
import type { Issued } from "./openai-responses-rules.ts";
import { responsesViolations } from "./openai-responses-rules.ts";
import { responsesRequest } from "./openai-responses-schema.ts";
import { renderResponse } from "./openai-responses-stream.ts";
import { isRecord, schemaViolations } from "./openai-schema-errors.ts";
import { createThoughtBox } from "./openai-thoughts.ts";

export interface OpenAIResponsesOptions extends ProviderOptions {
  /** Servers with other seeds use other ids. */
  readonly seed?: string;
  /** Servers with other secrets cannot read each other's encrypted thoughts. */
  readonly secret?: string;
}

const usualModels = [
  "gpt-5",
  "gpt-5-mini",
  "gpt-5-pro",
  "gpt-5-codex",
  "gpt-5.1",
  "gpt-5.1-codex-max",
  "gpt-5.2",
  "gpt-5.4",
  "gpt-5.6",
  "o3",
  "o4-mini",
  "gpt-4.1",
  "gpt-4o",
];

/**
 * A loopback server of the OpenAI Responses API.
 *
 * Of a turn: `thinking` is one reasoning item (its summary is only shown to requests that ask for one; a piece that begins
 * with `**` begins a new part), `redacted` or no pieces are one with an empty summary. `stop: "refusal"` is a refusal
 * part; with a `nativeStop` ("content_filter", "max_output_tokens") the answer is incomplete for that reason. `blocked` is
 * the code of a `response.failed` ("invalid_prompt"). A call's `input` that is a string is sent as it is.
 *
 * A `streamError`'s type is the code of a `response.failed` (server_error by default); "error/<code>" is an `error` event
 * with the published fields; "both/<code>" is an `error` event with the fields in an `error` object, as the service is seen
 * to send it, and then the `response.failed`.
 */
export async function createOpenAIResponsesServer(options: OpenAIResponsesOptions = {}): Promise<ProviderServer> {
  const key = options.key ?? "sk-proj-fake0responses1key2for3tests4";
  const models = options.models ?? usualModels;
  const ids = createIds(options.seed ?? "openai-responses");
  const box = createThoughtBox(options.secret ?? "openai-responses");
  const issued: Issued = { box, stored: new Map(), responses: new Map() };
  /** State of the answer being planned: an error inside it continues its numbers and response. */
  let current: { after: number; failed: (error: Readonly<Record<string, unknown>>) => unknown } | undefined;

  const wire: Wire = {
    basePath: "/v1",
    key,
    judge: (received) => {
      const outside = keyViolation(received.headers, key) ?? envelopeViolation(received, "/v1/responses");
      if (outside !== undefined) return refusal([outside]);
      const parsed = responsesRequest.safeParse(received.body, { reportInput: true });
      const model =
        isRecord(received.body) && typeof received.body.model === "string" ? received.body.model : undefined;
      const unknownModel = model === undefined ? undefined : modelViolation(model, models);
      const [first, ...rest] = [
        ...(unknownModel === undefined ? [] : [unknownModel]),
        ...(parsed.success ? responsesViolations(parsed.data, issued) : schemaViolations(parsed.error)),
      ];
      if (first !== undefined) return refusal([first, ...rest]);
      if (!parsed.success) throw new Error("a request that breaks the schema has a fault with words");
      const request = parsed.data;
      return {
        faults: [],
        stream: request.stream === true,
        render: (turn) => {
          const rendered = renderResponse(turn, request, issued, ids);
          const fault =
            typeof turn.fault === "object" && "streamError" in turn.fault ? turn.fault.streamError : undefined;
          const after = Math.min(fault?.after ?? 0, rendered.events.length);
          current = { after, failed: rendered.failed };
          return rendered;
        },
      };
    },
    errorBody: usualError,
    streamError: (type = "server_error", message = "The server had an error processing your request.") => {
      const [shape, code] = type.includes("/") ? [type.split("/")[0], type.split("/")[1] ?? type] : ["failed", type];
      const first = current?.after ?? 0;
      const fields = { code, message, param: null };
      const failed = (sequence: number) => {
        const response = current?.failed({ code, message });
        return sse({ type: "response.failed", sequence_number: sequence, response }, "response.failed");
      };
      if (shape === "failed") return [failed(first)];
      if (shape === "error") return [sse({ type: "error", ...fields, sequence_number: first }, "error")];
      const nested = { type: "error", sequence_number: first, error: { type: code, ...fields } };
      return [sse(nested, "error"), failed(first + 1)];
    },
  };
  return await serveWire(wire);
}
