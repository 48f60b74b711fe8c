import type { ProviderServer, Wire } from "./base.ts";
import { createIds, serveWire, sse } from "./base.ts";
import type { ChatRuleOptions } from "./openai-chat-rules.ts";
import { chatViolations } from "./openai-chat-rules.ts";
import type { ChatSchemaOptions } from "./openai-chat-schema.ts";
import { chatRequestSchema } from "./openai-chat-schema.ts";
import type { ChatStyle } from "./openai-chat-stream.ts";
import { renderChat } from "./openai-chat-stream.ts";
import {
  answerHeaders,
  envelopeViolation,
  keyViolation,
  modelViolation,
  refusal,
  usualError,
} from "./openai-errors.ts";
import { isRecord, schemaViolations } from "./openai-schema-errors.ts";

export interface OpenAIChatOptions extends ChatSchemaOptions, ChatRuleOptions, ChatStyle {
  /** Undefined: a local server that needs no key. */
  readonly key?: string | undefined;
  readonly models?: readonly string[];
  /** Appended to the origin in `url`; default "/v1". */
  readonly basePath?: string;
  /** Fields of each listed model besides the published ones, for example `{ max_model_len: 32768 }`. */
  readonly modelFields?: Readonly<Record<string, unknown>>;
  readonly seed?: string;
}

/** The differences of well-known compatible servers, to be spread into the options. */
export const chatDialects = {
  deepseek: {
    models: ["deepseek-chat", "deepseek-reasoner"],
    reasoningField: "reasoning_content",
    reasoningRequired: ["deepseek-reasoner"],
    usage: "with-finish",
    usageFields: "deepseek",
    extraParameters: ["thinking"],
    callIdLength: 256,
  },
  moonshot: {
    models: ["kimi-k2.5"],
    reasoningField: "reasoning_content",
    reasoningRequired: ["kimi-k2.5"],
    refuseEmpty: true,
    usageFields: "moonshot",
    extraParameters: ["thinking"],
    callIdLength: 256,
  },
  openRouter: {
    basePath: "/api/v1",
    models: ["deepseek/deepseek-r1", "qwen/qwen3-coder"],
    reasoningField: "reasoning",
    openRouter: true,
    extraParameters: ["reasoning", "provider", "usage", "transforms", "models"],
    callIdLength: 256,
  },
  mistral: {
    models: ["devstral-medium-latest"],
    strictTemplate: true,
    mistralIds: true,
    wholeCalls: true,
    usage: "with-finish",
    usageFields: "plain",
    extraParameters: ["safe_prompt", "random_seed"],
  },
  ollama: {
    key: undefined,
    models: ["qwen3:8b"],
    reasoningField: "reasoning",
    wholeCalls: true,
    usageFields: "plain",
    callIdLength: 256,
  },
  vllm: {
    key: undefined,
    models: ["Qwen/Qwen3-32B"],
    reasoningField: "reasoning",
    usageFields: "plain",
    modelFields: { max_model_len: 32768 },
    extraParameters: ["chat_template_kwargs", "top_k", "min_p", "repetition_penalty"],
    callIdLength: 256,
  },
} as const satisfies Readonly<Record<string, OpenAIChatOptions>>;

const usualModels = ["gpt-4.1", "gpt-4o", "gpt-5", "gpt-5.1", "o4-mini", "local-model"];

/**
 * A loopback server of OpenAI's chat completions, or of one that is compatible with them: `POST <url>/chat/completions`
 * and `GET <url>/models`.
 *
 * Of a turn: `thinking` is only shown by servers with a `reasoningField`. `stop: "refusal"` finishes with `content_filter`;
 * with `nativeStop: "stop"` the text comes as a spoken refusal. Any other `nativeStop` is the finish reason as it is. A
 * call's `input` that is a string is sent as it is. A `streamError`'s type is the error's type (its code on OpenRouter).
 */
export async function createOpenAIChatServer(options: OpenAIChatOptions = {}): Promise<ProviderServer> {
  const key = "key" in options ? options.key : "sk-proj-fake0chat1key2for3tests4";
  const models = options.models ?? usualModels;
  const basePath = options.basePath ?? "/v1";
  const ids = createIds(options.seed ?? "openai-chat");
  const schema = chatRequestSchema(options);
  /** Fields shared by the chunks of the answer being planned. */
  let head: Readonly<Record<string, unknown>> = {};

  const wire: Wire = {
    basePath,
    key: key ?? "",
    judge: (received) => {
      const locked = keyViolation(received.headers, key);
      if (locked !== undefined) return refusal([locked]);
      if (received.method === "GET" && received.path === `${basePath}/models`) {
        return { faults: [], reply: { status: 200, headers: answerHeaders, body: modelList() } };
      }
      const outside = envelopeViolation(received, `${basePath}/chat/completions`);
      if (outside !== undefined) return refusal([outside]);
      const parsed = schema.safeParse(received.body, { reportInput: true });
      const model =
        isRecord(received.body) && typeof received.body.model === "string" ? received.body.model : undefined;
      const unknownModel = model === undefined ? undefined : modelViolation(model, models);
      const [first, ...rest] = [
        ...(unknownModel === undefined ? [] : [unknownModel]),
        ...(parsed.success ? chatViolations(parsed.data, options) : schemaViolations(parsed.error)),
      ];
      if (first !== undefined) return refusal([first, ...rest]);
      if (!parsed.success) throw new Error("a request that breaks the schema has a fault with words");
      const request = parsed.data;
      return {
        faults: [],
        stream: request.stream === true,
        render: (turn) => {
          const rendered = renderChat(turn, request, options, ids);
          head = rendered.head;
          return rendered;
        },
      };
    },
    errorBody: usualError,
    streamError: (type, message = "The server had an error while processing your request.") => {
      if (options.openRouter !== true) {
        return [sse({ error: { message, type: type ?? "server_error", param: null, code: null } })];
      }
      const delta = { role: "assistant", content: "" };
      const choices = [{ index: 0, delta, finish_reason: "error", native_finish_reason: "error" }];
      return [sse({ ...head, error: { code: type === undefined ? 502 : codeOf(type), message }, choices })];
    },
  };

  function modelList(): unknown {
    const data = models.map((id) => {
      return { id, object: "model", created: 1_750_000_000, owned_by: "system", ...options.modelFields };
    });
    return { object: "list", data };
  }

  return await serveWire(wire);
}

/** OpenRouter's codes are numbers if they represent a status. */
function codeOf(type: string): number | string {
  return /^\d+$/.test(type) ? Number(type) : type;
}
