import type { ReasoningEffort } from "../../engine/settings.ts";
import type { EffortStyle, Wire } from "./model-spec.ts";

/** A service, or a kind of local server, known by name. Its models' ids are `<id>/<model>`. */
export interface Provider {
  readonly id: string;
  readonly name: string;
  readonly wire: Wire;
  readonly baseUrl: string;
  /** Variables for its key. The first one set wins. */
  readonly keyVariables: readonly string[];
  /** The variable that overrides its address. */
  readonly addressVariable?: string;
  /** It runs on the user's machine, and needs no key. */
  readonly isLocal?: boolean;
  /** The address of upcoming versions. Only discovery looks there. */
  readonly comingBaseUrl?: string;
  /** Efforts of all its models, if they don't depend on the model. */
  readonly efforts?: readonly ReasoningEffort[];
  readonly effortStyle?: EffortStyle;
  readonly thinkingField?: "reasoning" | "reasoning_content";
  readonly callIds?: "nine-letters";
  /** Its chat completions take `cache_control` for Claude. */
  readonly marksClaude?: true;
}

/** In order of preference when several keys are set. */
export const providers: readonly Provider[] = [
  {
    id: "anthropic",
    name: "Anthropic",
    wire: "anthropic",
    baseUrl: "https://api.anthropic.com/v1",
    keyVariables: ["ANTHROPIC_API_KEY"],
    addressVariable: "ANTHROPIC_BASE_URL",
  },
  {
    id: "openai",
    name: "OpenAI",
    wire: "openai-responses",
    baseUrl: "https://api.openai.com/v1",
    keyVariables: ["OPENAI_API_KEY"],
    addressVariable: "OPENAI_BASE_URL",
  },
  {
    id: "google",
    name: "Google",
    wire: "google",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta",
    keyVariables: ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"],
    addressVariable: "GOOGLE_GEMINI_BASE_URL",
  },
  {
    id: "openrouter",
    name: "OpenRouter",
    wire: "openai-chat",
    baseUrl: "https://openrouter.ai/api/v1",
    keyVariables: ["OPENROUTER_API_KEY"],
    efforts: ["none", "off", "minimal", "low", "medium", "high", "xhigh"],
    effortStyle: "nested-word",
    thinkingField: "reasoning",
    marksClaude: true,
  },
  {
    id: "moonshot",
    name: "Moonshot",
    wire: "openai-chat",
    baseUrl: "https://api.moonshot.ai/v1",
    keyVariables: ["MOONSHOT_API_KEY"],
    thinkingField: "reasoning_content",
  },
  {
    id: "groq",
    name: "Groq",
    wire: "openai-chat",
    baseUrl: "https://api.groq.com/openai/v1",
    keyVariables: ["GROQ_API_KEY"],
    thinkingField: "reasoning",
  },
  {
    id: "deepseek",
    name: "DeepSeek",
    wire: "openai-chat",
    baseUrl: "https://api.deepseek.com/v1",
    keyVariables: ["DEEPSEEK_API_KEY"],
    thinkingField: "reasoning_content",
  },
  {
    id: "together",
    name: "Together",
    wire: "openai-chat",
    baseUrl: "https://api.together.xyz/v1",
    keyVariables: ["TOGETHER_API_KEY"],
  },
  {
    id: "fireworks",
    name: "Fireworks",
    wire: "openai-chat",
    baseUrl: "https://api.fireworks.ai/inference/v1",
    keyVariables: ["FIREWORKS_API_KEY"],
    thinkingField: "reasoning_content",
  },
  {
    id: "mistral",
    name: "Mistral",
    wire: "openai-chat",
    baseUrl: "https://api.mistral.ai/v1",
    keyVariables: ["MISTRAL_API_KEY"],
    callIds: "nine-letters",
  },
  {
    id: "xai",
    name: "xAI",
    wire: "openai-chat",
    baseUrl: "https://api.x.ai/v1",
    keyVariables: ["XAI_API_KEY"],
  },
  {
    id: "ollama",
    name: "Ollama",
    wire: "openai-chat",
    baseUrl: "http://127.0.0.1:11434/v1",
    keyVariables: ["OLLAMA_API_KEY"],
    isLocal: true,
    thinkingField: "reasoning",
  },
  {
    id: "lmstudio",
    name: "LM Studio",
    wire: "openai-chat",
    baseUrl: "http://127.0.0.1:1234/v1",
    keyVariables: [],
    isLocal: true,
    thinkingField: "reasoning_content",
  },
  {
    id: "llamacpp",
    name: "llama.cpp",
    wire: "openai-chat",
    baseUrl: "http://127.0.0.1:8080/v1",
    // The port it announces since August 2026.
    comingBaseUrl: "http://127.0.0.1:9931/v1",
    keyVariables: ["LLAMA_API_KEY"],
    isLocal: true,
    thinkingField: "reasoning_content",
  },
  {
    id: "vllm",
    name: "vLLM",
    wire: "openai-chat",
    baseUrl: "http://127.0.0.1:8000/v1",
    keyVariables: ["VLLM_API_KEY"],
    isLocal: true,
    thinkingField: "reasoning",
  },
  {
    id: "openai-compatible",
    name: "OpenAI-compatible server",
    wire: "openai-chat",
    baseUrl: "",
    keyVariables: [],
    isLocal: true,
    thinkingField: "reasoning_content",
  },
];
