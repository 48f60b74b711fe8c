import type { LanguageModelV3CallOptions } from "@ai-sdk/provider";

/* The AI SDK's input, in its own types. */

export type Prompt = LanguageModelV3CallOptions["prompt"];
export type PromptMessage = Prompt[number];
type PartOf<Role> = Extract<PromptMessage, { role: Role }>["content"][number];
export type UserPart = PartOf<"user">;
export type AssistantPart = PartOf<"assistant">;
export type ToolPart = PartOf<"tool">;
export type ProviderOptions = NonNullable<LanguageModelV3CallOptions["providerOptions"]>;
