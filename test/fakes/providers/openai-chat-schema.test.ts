import { afterEach, describe, expect, test } from "vitest";
import {
  base,
  calls,
  close,
  expectAccepted,
  expectRefused,
  type Json,
  messages,
  open,
  png,
  result,
  said,
  tool,
  user,
} from "./openai-chat-fixture.ts";
import type { OpenAIChatOptions } from "./openai-chat-server.ts";
import { chatDialects } from "./openai-chat-server.ts";
import { send } from "./openai-client.ts";

afterEach(close);

describe("valid requests", () => {
  test.each<[string, Json, OpenAIChatOptions]>([
    [
      "every field of a message",
      {
        ...messages(
          { role: "system", content: "Be brief." },
          {
            role: "user",
            content: [
              { type: "text", text: "see" },
              png,
              { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERi0=" } },
            ],
          },
          calls("call_a", "call_b"),
          result("call_b"),
          { ...result("call_a"), content: [{ type: "text", text: "x" }] },
          said,
          user,
        ),
        tools: [tool({ type: "object", properties: {} })],
        tool_choice: "auto",
        parallel_tool_calls: true,
        max_tokens: 100,
        temperature: 0,
        stream_options: { include_usage: true },
      },
      {},
    ],
    [
      "OpenAI's reasoning models",
      { ...base, model: "gpt-5", reasoning_effort: "minimal", max_completion_tokens: 9 },
      {},
    ],
    [
      "reasoning sent back",
      { ...messages(user, { ...calls("c"), reasoning_content: "so" }, result("c")), model: "deepseek-reasoner" },
      chatDialects.deepseek,
    ],
    [
      "a model of the same provider that does not reason",
      { ...messages(user, calls("c"), result("c")), model: "deepseek-chat" },
      chatDialects.deepseek,
    ],
    [
      "alternating turns with calls",
      {
        ...messages({ role: "system", content: "x" }, user, calls("abcdefgh1"), result("abcdefgh1"), said, user),
        model: "devstral-medium-latest",
      },
      chatDialects.mistral,
    ],
  ])("%s", async (_name, body, options) => {
    await open(options);
    await expectAccepted(body);
  });
});

describe("rejected requests", () => {
  const unanswered = (ids: string) =>
    `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids}`;
  const torn = { ...calls(), tool_calls: [{ id: "c", type: "function", function: { name: "read", arguments: "[]" } }] };
  test.each<[string, Json, string, string | null, string | null]>([
    [
      "no messages",
      { model: "gpt-4.1" },
      "Missing required parameter: 'messages'.",
      "messages",
      "missing_required_parameter",
    ],
    [
      "an empty list",
      messages(),
      "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      "messages",
      "empty_array",
    ],
    [
      "an unknown parameter",
      { ...base, thinking: {} },
      "Unknown parameter: 'thinking'.",
      "thinking",
      "unknown_parameter",
    ],
    [
      "an unknown role",
      messages({ role: "model", content: "x" }),
      "Invalid value: 'model'. Supported values are: 'system', 'developer', 'user', 'assistant', and 'tool'.",
      "messages[0].role",
      "invalid_value",
    ],
    [
      "an unknown part",
      messages({ role: "user", content: [{ type: "image" }] }),
      "Invalid value: 'image'. Supported values are: 'text', 'image_url', 'input_audio', and 'file'.",
      "messages[0].content[0].type",
      "invalid_value",
    ],
    [
      "an unknown key",
      messages({ ...user, cache_control: {} }),
      "Unknown parameter: 'messages[0].cache_control'.",
      "messages[0].cache_control",
      "unknown_parameter",
    ],
    [
      "reasoning sent to a server that rejects it",
      messages(user, { ...said, reasoning_content: "x" }, user),
      "Unknown parameter: 'messages[1].reasoning_content'.",
      "messages[1].reasoning_content",
      "unknown_parameter",
    ],
    [
      "an empty list of calls",
      messages(user, { ...said, tool_calls: [] }, user),
      "Invalid 'messages[1].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      "messages[1].tool_calls",
      "empty_array",
    ],
    [
      "an empty list of tools",
      { ...base, tools: [] },
      "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      "tools",
      "empty_array",
    ],
    [
      "a call id that is too long",
      messages(user, calls("c".repeat(41)), result("c")),
      "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 41 instead.",
      "messages[1].tool_calls[0].id",
      "string_above_max_length",
    ],
    [
      "an invalid tool name",
      { ...base, tools: [tool({ type: "object" }, { name: "a.b" })] },
      "Invalid 'tools[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
      "tools[0].function.name",
      "invalid_value",
    ],
    [
      "a strict tool with an open schema",
      { ...base, tools: [tool({ type: "object" }, { strict: true })] },
      "Invalid schema for function 'read': In context=(), 'additionalProperties' is required to be supplied and to be false.",
      "tools[0].function.parameters",
      "invalid_function_parameters",
    ],
    [
      "a tool choice without tools",
      { ...base, tool_choice: "auto" },
      "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
      "tool_choice",
      null,
    ],
    [
      "parallel calls without tools",
      { ...base, parallel_tool_calls: true },
      "Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified.",
      "parallel_tool_calls",
      null,
    ],
    [
      "a result without a call",
      messages(user, result("c")),
      "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
      "messages.[1].role",
      null,
    ],
    [
      "a result of another call",
      messages(user, calls("c"), result("c"), result("d")),
      "Invalid parameter: 'tool_call_id' of 'd' not found in 'tool_calls' of previous message.",
      "messages.[3].tool_call_id",
      null,
    ],
    [
      "a duplicate result",
      messages(user, calls("c"), result("c"), result("c")),
      "Duplicate value for 'tool_call_id' of 'c'.",
      "messages.[3].tool_call_id",
      null,
    ],
    [
      "a call without a result, at the end",
      messages(user, calls("c", "d"), result("c")),
      unanswered("d"),
      "messages.[3].role",
      null,
    ],
    [
      "calls without results, before the user",
      messages(user, calls("c", "d"), user),
      unanswered("c, d"),
      "messages.[2].role",
      null,
    ],
    ["a result too late", messages(user, calls("c"), user, result("c")), unanswered("c"), "messages.[2].role", null],
    [
      "arguments that are not an object",
      messages(user, torn, result("c")),
      "Invalid 'messages[1].tool_calls[0].function.arguments': expected the JSON text of an object.",
      "messages[1].tool_calls[0].function.arguments",
      "invalid_value",
    ],
    [
      "an assistant message without text and calls",
      messages(user, { role: "assistant", content: null }, user),
      "Invalid value for 'content': expected a string, got null.",
      "messages.[1].content",
      null,
    ],
    [
      "an unsupported image type",
      messages({ role: "user", content: [{ type: "image_url", image_url: { url: "data:image/bmp;base64,AA==" } }] }),
      "You uploaded an unsupported image. Please make sure your image is one of the following formats: ['png', 'jpeg', 'gif', 'webp'].",
      "messages.[0].content.[0].image_url",
      "invalid_image_format",
    ],
    [
      "a file without a name",
      messages({ role: "user", content: [{ type: "file", file: { file_data: "data:application/pdf;base64,AA==" } }] }),
      "Invalid 'messages.[0].content.[0].file': expected 'file_id', or 'filename' with 'file_data' as a base64 data URL.",
      "messages.[0].content.[0].file",
      "invalid_value",
    ],
    [
      "stream options without a stream",
      { ...base, stream: false, stream_options: {} },
      "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
      "stream_options",
      null,
    ],
    [
      "an effort for a model without reasoning",
      { ...base, reasoning_effort: "low" },
      "Unrecognized request argument supplied: reasoning_effort",
      null,
      null,
    ],
    [
      "an effort that the model lacks",
      { ...base, model: "gpt-5.1", reasoning_effort: "minimal" },
      "Unsupported value: 'reasoning_effort' does not support 'minimal' with this model. Supported values are: 'none', 'low', 'medium', and 'high'.",
      "reasoning_effort",
      "unsupported_value",
    ],
    [
      "the old name of the output limit",
      { ...base, model: "gpt-5", max_tokens: 9 },
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      "max_tokens",
      "unsupported_parameter",
    ],
    [
      "a temperature",
      { ...base, model: "gpt-5", temperature: 0 },
      "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
      "temperature",
      "unsupported_value",
    ],
  ])("%s", async (_name, body, message, param, code) => {
    await open();
    await expectRefused(body, { error: { message, type: "invalid_request_error", param, code } });
  });

  test("rejects a wrong key, an unknown model, another path", async () => {
    const server = await open({ key: "right" });
    const url = `${server.url}/chat/completions`;
    const wrong = await send(url, { key: "gsk_0123456789abcdef", body: base });
    expect([wrong.status, JSON.parse(wrong.text).error]).toEqual([
      401,
      expect.objectContaining({ message: expect.stringContaining("gsk_0123********cdef."), code: "invalid_api_key" }),
    ]);
    expect((await send(`${server.url}/models`, { key: "wrong" })).status).toBe(401);
    expect((await send(`${server.url}/completions`, { key: "right", body: base })).status).toBe(404);
    const message = "The model `gpt-9` does not exist or you do not have access to it.";
    const error = { message, type: "invalid_request_error", param: null, code: "model_not_found" };
    await expectRefused({ ...base, model: "gpt-9" }, { error }, 404);
  });
});
