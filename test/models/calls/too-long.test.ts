import { expect, test } from "vitest";
import { isTooLong } from "../../../src/models/calls/too-long.ts";

test.each([
  "This model's maximum context length is 8192 tokens. However, your messages resulted in 8545 tokens.",
  "Your input exceeds the context window of this model. Please adjust your input and try again.",
  "context_length_exceeded",
  "Request too large for gpt-x on tokens per min (TPM): Limit 30000, Requested 31000. The input or output tokens must be reduced in order to run successfully.",
  "Please reduce the length of the messages or completion.",
  "Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 7000, please reduce your message size and try again.",
  "prompt is too long: 213462 tokens > 200000 maximum",
  "input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000, decrease input length or `max_tokens` and try again",
  "Input is too long for requested model.",
  "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
  "the request exceeds the available context size. try increasing the context size or enable context shift",
  "The number of tokens to keep from the initial prompt is greater than the context length.",
  "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.",
  "Invalid request: Your request exceeded model token limit: 131072",
  "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
  "invalid params, context window exceeds limit",
  "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 100 `max_new_tokens`",
  "prompt too long; exceeded max context length by 4 tokens",
  "Prompt contains 200000 tokens, too large for model with 131072 maximum context length",
])("a provider calls the request too long: %s", (message) => {
  expect(isTooLong(message)).toBe(true);
});

test.each([
  "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens",
  "Rate limit reached for gpt-x on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 2s.",
  "You exceeded your current quota, please check your plan and billing details.",
  "messages.3.content: image exceeds 5 MB maximum",
  "Unknown parameter: context_management",
])("other failures stay what they are: %s", (message) => {
  expect(isTooLong(message)).toBe(false);
});
