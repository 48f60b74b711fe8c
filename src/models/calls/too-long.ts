/** What providers say when a request has more tokens than the model's window, in any status and wire. */
const phrases: readonly RegExp[] = [
  // OpenAI, vLLM, OpenRouter, DeepSeek, Mistral, Ollama.
  /context[_ ]length[_ ]exceeded/i,
  /maximum context length/i,
  /exceeded (?:max(?:imum)? )?context length/i,
  /reduce the length of (?:the|your) (?:messages|prompt|input)/i,
  // Anthropic; with the answer's limit included; and Amazon's copy of it.
  /(?:prompt|input) is too long/i,
  /exceeds? (?:the )?(?:model's )?context (?:window|limit)/i,
  // Google.
  /exceeds the maximum number of tokens/i,
  /input token count .{0,40}exceeds/i,
  // llama.cpp, LM Studio.
  /exceed_context_size|exceeds the available context size/i,
  /(?:greater|longer) than (?:the|its) context length|context length of only/i,
  // Moonshot, xAI, MiniMax.
  /exceeded model token limit/i,
  /maximum prompt length is/i,
  /context window exceeds limit/i,
  // Requests above the tokens of a whole minute, at OpenAI and Groq.
  /(?:input or output tokens must be reduced|reduce your message size)/i,
  // Together, and others with Hugging Face's server.
  /inputs`? tokens \+ `?max_new_tokens`? must be/i,
];

/** Foreign prose. */
export function isTooLong(text: string): boolean {
  return phrases.some((phrase) => phrase.test(text));
}
