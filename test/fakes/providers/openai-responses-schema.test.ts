import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ProviderServer } from "./base.ts";
import { send } from "./openai-client.ts";
import { createOpenAIResponsesServer } from "./openai-responses-server.ts";

type Json = Record<string, unknown>;

let server: ProviderServer;
beforeEach(async () => {
  server = await createOpenAIResponsesServer();
});
afterEach(() => server.close());

const user = { role: "user", content: "hello" };
const base = { model: "gpt-5", input: [user], store: false, stream: true };
const call = { type: "function_call", call_id: "call_1", name: "read", arguments: "{}" };
const output = { type: "function_call_output", call_id: "call_1", output: "done" };
const png = "data:image/png;base64,iVBORw0KGgo=";

function tool(parameters: unknown, more: Json = {}): Json {
  return { type: "function", name: "read", parameters, ...more };
}

async function ask(body: unknown, options: { key?: string; headers?: Record<string, string> } = {}) {
  return await send(`${server.url}/responses`, { key: server.key, body, ...options });
}

async function errorFor(body: unknown) {
  const { status, text } = await ask(body);
  return { status, ...JSON.parse(text).error };
}

async function expectAccepted(body: Json): Promise<void> {
  server.enqueue({ text: ["ok"] });
  const { status } = await ask(body);
  expect([server.requests.at(-1)?.faults, status]).toEqual([[], 200]);
}

describe("valid requests", () => {
  const objectSchema = { type: "object", properties: { a: { type: "array", items: { type: "string" } } } };
  test.each<[string, Json]>([
    ["a string", { ...base, input: "hello" }],
    [
      "every field of a message",
      {
        ...base,
        instructions: "Be brief.",
        input: [
          { role: "developer", content: "x" },
          {
            type: "message",
            role: "user",
            content: [
              { type: "input_text", text: "see" },
              { type: "input_image", image_url: png, detail: "auto" },
              { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERi0=" },
            ],
          },
          { role: "assistant", content: [{ type: "output_text", text: "a" }] },
          call,
          {
            ...output,
            output: [
              { type: "input_text", text: "a" },
              { type: "input_image", image_url: png },
            ],
          },
        ],
        max_output_tokens: 16,
        prompt_cache_key: "k",
        parallel_tool_calls: true,
        text: { verbosity: "low" },
        reasoning: { effort: "minimal", summary: "auto" },
        tools: [tool(objectSchema, { strict: false, description: "Reads." })],
        tool_choice: { type: "function", name: "read" },
      },
    ],
    [
      "parallel calls",
      { ...base, input: [user, call, { ...call, call_id: "b" }, { ...output, call_id: "b" }, output] },
    ],
    [
      "a strict tool",
      { ...base, tools: [tool({ ...objectSchema, required: ["a"], additionalProperties: false }, { strict: true })] },
    ],
    [
      "no reasoning, and then a temperature",
      { ...base, model: "gpt-5.1", reasoning: { effort: "none" }, temperature: 0 },
    ],
    ["a model without reasoning", { ...base, model: "gpt-4.1", temperature: 0.5, top_p: 0.9 }],
  ])("%s", async (_name, body) => await expectAccepted(body));
});

describe("rejected requests", () => {
  const content = (...parts: Json[]) => ({ ...base, input: [{ role: "user", content: parts }] });
  test.each<[string, Json, string, string | null, string | null]>([
    ["no model", { input: "x" }, "Missing required parameter: 'model'.", "model", "missing_required_parameter"],
    [
      "an unknown parameter",
      { ...base, max_tokens: 5 },
      "Unknown parameter: 'max_tokens'.",
      "max_tokens",
      "unknown_parameter",
    ],
    [
      "an input of the wrong type",
      { ...base, input: { a: 1 } },
      "Invalid type for 'input': expected one of a string or an array, but got an object instead.",
      "input",
      "invalid_type",
    ],
    [
      "an unknown item type",
      { ...base, input: [{ type: "tool_result" }] },
      "Invalid value: 'tool_result'. Supported values are: 'message', 'function_call', 'function_call_output', 'reasoning', and 'item_reference'.",
      "input[0].type",
      "invalid_value",
    ],
    [
      "an unknown role",
      { ...base, input: [{ role: "tool", content: "x" }] },
      "Invalid value: 'tool'. Supported values are: 'user', 'system', 'developer', and 'assistant'.",
      "input[0].role",
      "invalid_value",
    ],
    [
      "an unknown part",
      content({ type: "text", text: "x" }),
      "Invalid value: 'text'. Supported values are: 'input_text', 'input_image', and 'input_file'.",
      "input[0].content[0].type",
      "invalid_value",
    ],
    [
      "an assistant message with user content",
      { ...base, input: [{ role: "assistant", content: [{ type: "input_text", text: "x" }] }] },
      "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.",
      "input[0].content[0].type",
      "invalid_value",
    ],
    [
      "an unknown key of an item",
      { ...base, input: [{ ...user, cache_control: {} }] },
      "Unknown parameter: 'input[0].cache_control'.",
      "input[0].cache_control",
      "unknown_parameter",
    ],
    [
      "a reasoning item without a summary",
      { ...base, input: [{ type: "reasoning", id: "rs_1" }] },
      "Missing required parameter: 'input[0].summary'.",
      "input[0].summary",
      "missing_required_parameter",
    ],
    [
      "a call id that is too long",
      { ...base, input: [{ ...call, call_id: "c".repeat(65) }] },
      "Invalid 'input[0].call_id': string too long. Expected a string with maximum length 64, but got a string with length 65 instead.",
      "input[0].call_id",
      "string_above_max_length",
    ],
    [
      "an output limit that is too low",
      { ...base, max_output_tokens: 15 },
      "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 15 instead.",
      "max_output_tokens",
      "integer_below_min_value",
    ],
    [
      "a fractional output limit",
      { ...base, max_output_tokens: 16.5 },
      "Invalid type for 'max_output_tokens': expected an integer, but got a decimal instead.",
      "max_output_tokens",
      "invalid_type",
    ],
    [
      "an invalid tool name",
      { ...base, tools: [tool({ type: "object" }, { name: "a b" })] },
      "Invalid 'tools[0].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
      "tools[0].name",
      "invalid_value",
    ],
    [
      "a tool name that is too long",
      { ...base, tools: [tool({ type: "object" }, { name: "a".repeat(65) })] },
      "Invalid 'tools[0].name': string too long. Expected a string with maximum length 64, but got a string with length 65 instead.",
      "tools[0].name",
      "string_above_max_length",
    ],
  ])("%s", async (_name, body, message, param, code) => {
    expect(await errorFor(body)).toEqual({ status: 400, message, type: "invalid_request_error", param, code });
    expect(server.requests.at(-1)?.faults).toContain(message);
  });

  test("masks a wrong key, and requests a missing one", async () => {
    const wrong = await ask(base, { key: "sk-proj-abcdefghijklmnop" });
    expect([wrong.status, JSON.parse(wrong.text)]).toEqual([
      401,
      {
        error: {
          message:
            "Incorrect API key provided: sk-proj-************mnop. You can find your API key at https://platform.openai.com/account/api-keys.",
          type: "invalid_request_error",
          param: null,
          code: "invalid_api_key",
        },
      },
    ]);
    const missing = await send(`${server.url}/responses`, { body: base });
    expect([missing.status, JSON.parse(missing.text).error.code]).toEqual([401, null]);
  });

  test("rejects an unknown model, another path, another method, another body", async () => {
    expect(await errorFor({ ...base, model: "gpt-9" })).toMatchObject({ status: 404, code: "model_not_found" });
    const key = server.key;
    const elsewhere = await send(`${server.url}/respond`, { key, body: base });
    const got = await send(`${server.url}/responses`, { key });
    const plain = await ask(base, { headers: { "content-type": "text/plain" } });
    const torn = await ask("{");
    expect([elsewhere, got, plain, torn].map(({ status }) => status)).toEqual([404, 405, 400, 400]);
    expect(server.requests.map(({ faults }) => faults.length)).toEqual([1, 1, 1, 1, 1]);
  });
});
