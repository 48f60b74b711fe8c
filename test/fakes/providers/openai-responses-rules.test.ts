import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ProviderServer, Turn } from "./base.ts";
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

function tool(parameters: unknown, more: Json = {}): Json {
  return { type: "function", name: "read", parameters, ...more };
}

async function ask(body: unknown, options: { key?: string; headers?: Record<string, string> } = {}) {
  return await send(`${server.url}/responses`, { key: server.key, body, ...options });
}

/** A turn's output, as a client can send it back. */
async function answerOf(turn: Turn, more: Json = {}): Promise<Json[]> {
  const include = ["reasoning.encrypted_content"];
  server.enqueue(turn);
  const answer = await ask({ ...base, input: "go", include, stream: false, ...more });
  return JSON.parse(answer.text).output as Json[];
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

describe("rejected requests", () => {
  const strict = (parameters: Json) => ({ ...base, tools: [tool(parameters, { strict: true })] });
  const effort = (model: string, value: string) => ({ ...base, model, reasoning: { effort: value } });
  const content = (...parts: Json[]) => ({ ...base, input: [{ role: "user", content: parts }] });
  test.each<[string, Json, string, string | null, string | null]>([
    [
      "no input",
      { model: "gpt-5" },
      "One of 'input' or 'previous_response_id' must be provided.",
      "input",
      "missing_required_parameter",
    ],
    [
      "an id with the wrong prefix",
      { ...base, input: [{ ...call, id: "call_1" }, output] },
      "Invalid 'input[0].id': 'call_1'. Expected an ID that begins with 'fc'.",
      "input[0].id",
      "invalid_value",
    ],
    [
      "arguments that are not JSON",
      { ...base, input: [{ ...call, arguments: "{" }, output] },
      "Invalid 'input[0].arguments': expected the JSON text of an object.",
      "input[0].arguments",
      "invalid_value",
    ],
    [
      "an output without its call",
      { ...base, input: [output, call] },
      "No tool call found for function call output with call_id call_1.",
      "input",
      null,
    ],
    [
      "a call without its output",
      { ...base, input: [user, call] },
      "No tool output found for function call call_1.",
      "input",
      null,
    ],
    [
      "an unsupported image type",
      content({ type: "input_image", image_url: "data:image/bmp;base64,AA==" }),
      "You uploaded an unsupported image. Please make sure your image is one of the following formats: ['png', 'jpeg', 'gif', 'webp'].",
      "input[0].content[0].image_url",
      "invalid_image_format",
    ],
    [
      "an image that is not a URL",
      content({ type: "input_image", image_url: "iVBORw0KGgo=" }),
      "Invalid 'input[0].content[0].image_url'. Expected a valid URL, but got a value with an invalid format.",
      "input[0].content[0].image_url",
      "invalid_value",
    ],
    [
      "no image",
      content({ type: "input_image" }),
      "Missing required parameter: 'input[0].content[0].image_url'.",
      "input[0].content[0].image_url",
      "missing_required_parameter",
    ],
    [
      "a file without a name",
      content({ type: "input_file", file_data: "data:application/pdf;base64,AA==" }),
      "Missing required parameter: 'input[0].content[0].filename'.",
      "input[0].content[0].filename",
      "missing_required_parameter",
    ],
    [
      "a file that is not a data URL",
      content({ type: "input_file", filename: "a.pdf", file_data: "AA==" }),
      "Invalid 'input[0].content[0].file_data'. Expected a base64-encoded data URL with a MIME type.",
      "input[0].content[0].file_data",
      "invalid_value",
    ],
    [
      "a file without a source",
      content({ type: "input_file", filename: "a.pdf" }),
      "Expected exactly one of 'file_data', 'file_id' and 'file_url' in 'input[0].content[0]'.",
      "input[0].content[0]",
      "invalid_value",
    ],
    [
      "minimal, later",
      effort("gpt-5.1", "minimal"),
      "Unsupported value: 'minimal' is not supported with the 'gpt-5.1' model. Supported values are: 'none', 'low', 'medium', and 'high'.",
      "reasoning.effort",
      "unsupported_value",
    ],
    [
      "none, before",
      effort("gpt-5", "none"),
      "Unsupported value: 'none' is not supported with the 'gpt-5' model. Supported values are: 'minimal', 'low', 'medium', and 'high'.",
      "reasoning.effort",
      "unsupported_value",
    ],
    [
      "xhigh, before",
      effort("o3", "xhigh"),
      "Unsupported value: 'xhigh' is not supported with the 'o3' model. Supported values are: 'low', 'medium', and 'high'.",
      "reasoning.effort",
      "unsupported_value",
    ],
    [
      "max, before",
      effort("gpt-5.2", "max"),
      "Unsupported value: 'max' is not supported with the 'gpt-5.2' model. Supported values are: 'none', 'low', 'medium', 'high', and 'xhigh'.",
      "reasoning.effort",
      "unsupported_value",
    ],
    [
      "an effort for a model without reasoning",
      effort("gpt-4.1", "low"),
      "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
      "reasoning.effort",
      "unsupported_parameter",
    ],
    [
      "a summary for a model without reasoning",
      { ...base, model: "gpt-4.1", reasoning: { summary: "auto" } },
      "Unsupported parameter: 'reasoning.summary' is not supported with this model.",
      "reasoning.summary",
      "unsupported_parameter",
    ],
    [
      "encrypted reasoning for a model without reasoning",
      { ...base, model: "gpt-4.1", include: ["reasoning.encrypted_content"] },
      "Encrypted content is not supported with this model.",
      "include",
      null,
    ],
    [
      "a temperature",
      { ...base, temperature: 0 },
      "Unsupported parameter: 'temperature' is not supported with this model.",
      "temperature",
      null,
    ],
    [
      "a top_p",
      { ...base, top_p: 0.5 },
      "Unsupported parameter: 'top_p' is not supported with this model.",
      "top_p",
      null,
    ],
    [
      "a tool whose schema is not an object",
      { ...base, tools: [tool({})] },
      "Invalid schema for function 'read': schema must be a JSON Schema of 'type: \"object\"', got 'type: \"None\"'.",
      "tools[0].parameters",
      "invalid_function_parameters",
    ],
    [
      "a union at the top of a schema",
      { ...base, tools: [tool({ type: "object", anyOf: [] })] },
      "Invalid schema for function 'read': schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.",
      "tools[0].parameters",
      "invalid_function_parameters",
    ],
    [
      "an array without items",
      { ...base, tools: [tool({ type: "object", properties: { a: { type: "array" } } })] },
      "Invalid schema for function 'read': In context=('properties', 'a'), array schema missing items.",
      "tools[0].parameters",
      "invalid_function_parameters",
    ],
    [
      "a strict tool with an open schema",
      strict({ type: "object", properties: {} }),
      "Invalid schema for function 'read': In context=(), 'additionalProperties' is required to be supplied and to be false.",
      "tools[0].parameters",
      "invalid_function_parameters",
    ],
    [
      "a strict tool with optional fields",
      strict({ type: "object", properties: { a: {} }, required: [], additionalProperties: false }),
      "Invalid schema for function 'read': In context=(), 'required' is required to be supplied and to be an array including every key in properties. Missing 'a'.",
      "tools[0].parameters",
      "invalid_function_parameters",
    ],
    [
      "a required call without tools",
      { ...base, tool_choice: "required" },
      "Tool choice 'required' must be specified with 'tools' parameter.",
      "tool_choice",
      null,
    ],
    [
      "a choice of an unknown tool",
      { ...base, tools: [tool({ type: "object" })], tool_choice: { type: "function", name: "b" } },
      "Tool choice 'b' not found in 'tools' parameter.",
      "tool_choice",
      null,
    ],
    [
      "an unknown response",
      { ...base, previous_response_id: "resp_1" },
      "Previous response with id 'resp_1' not found.",
      "previous_response_id",
      "previous_response_not_found",
    ],
  ])("%s", async (_name, body, message, param, code) => {
    expect(await errorFor(body)).toEqual({ status: 400, message, type: "invalid_request_error", param, code });
    expect(server.requests.at(-1)?.faults).toContain(message);
  });
});

describe("returned reasoning", () => {
  const turn: Turn = { thinking: ["t"], calls: [{ name: "read", input: {}, id: "call_1" }] };
  const missing = (id: unknown) =>
    `Item '${String(id)}' of type 'reasoning' was provided without its required following item.`;

  test("is accepted with its proof and the item that followed it", async () => {
    const items = await answerOf(turn);
    await expectAccepted({ ...base, input: [user, ...items, output] });
    const second = await answerOf({ redacted: true, text: ["said"] });
    await expectAccepted({ ...base, input: [user, ...items, output, ...second, user] });
    const withoutId = second.map(({ id, ...rest }) =>
      rest.type === "message" ? { role: "assistant", content: "said" } : { id, ...rest },
    );
    await expectAccepted({ ...base, input: [user, ...withoutId, user] });
  });

  test("is accepted at another server with the same secret, but at no other", async () => {
    const items = await answerOf(turn);
    await server.close();
    server = await createOpenAIResponsesServer();
    await expectAccepted({ ...base, input: [user, ...items, output] });
    await server.close();
    server = await createOpenAIResponsesServer({ secret: "other" });
    expect(await errorFor({ ...base, input: [user, ...items, output] })).toMatchObject({
      status: 400,
      message: expect.stringMatching(
        /^The encrypted content gAAA\.\.\.\S+ could not be verified\. Reason: Encrypted content could not be decrypted/,
      ),
      code: "invalid_encrypted_content",
    });
  });

  test("is not found without its proof, or by reference", async () => {
    const [reasoning, fc] = await answerOf(turn);
    const { encrypted_content: _, ...bare } = reasoning as Json;
    const words = `Item with id '${String(reasoning?.id)}' not found. Items are not persisted when \`store\` is set to false.`;
    const gone = { status: 404, message: expect.stringContaining(words), param: "input", code: null };
    expect(await errorFor({ ...base, input: [user, bare, fc, output] })).toMatchObject(gone);
    const reference = { type: "item_reference", id: reasoning?.id };
    expect(await errorFor({ ...base, input: [user, reference, fc, output] })).toMatchObject(gone);
  });

  test("is rejected with a changed proof, or another item's", async () => {
    const [first, fc] = await answerOf(turn);
    const [second] = await answerOf(turn);
    const changed = { ...first, encrypted_content: `${String(first?.encrypted_content).slice(0, -6)}AAAA==` };
    expect(await errorFor({ ...base, input: [user, changed, fc, output] })).toMatchObject({
      status: 400,
      code: "invalid_encrypted_content",
    });
    const swapped = { ...first, encrypted_content: second?.encrypted_content };
    expect((await errorFor({ ...base, input: [user, swapped, fc, output] })).message).toContain(
      "did not match the target item id",
    );
  });

  test("is rejected without the item that followed it", async () => {
    const [reasoning, fc] = await answerOf(turn);
    const other = { ...call, call_id: "call_2" };
    const words = missing(reasoning?.id);
    for (const input of [
      [user, reasoning],
      [user, reasoning, user],
      [user, reasoning, { role: "assistant", content: "x" }, fc, output],
      [user, reasoning, other, { ...output, call_id: "call_2" }],
    ]) {
      expect(await errorFor({ ...base, input })).toMatchObject({
        status: 400,
        message: words,
        param: "input",
        code: null,
      });
    }
    const [alone] = await answerOf({ thinking: ["t"], stop: "length" });
    expect((await errorFor({ ...base, input: [user, alone, user] })).message).toBe(missing(alone?.id));
  });

  test("stored items can be references, but not without their reasoning", async () => {
    const items = await answerOf(turn, { store: true });
    const [reasoning, fc] = items;
    const references = items.map(({ id }) => ({ type: "item_reference", id }));
    await expectAccepted({ ...base, store: true, input: [user, ...references, output] });
    expect(await errorFor({ ...base, store: true, input: [user, fc, output] })).toMatchObject({
      status: 400,
      message: `Item '${String(fc?.id)}' of type 'function_call' was provided without its required 'reasoning' item: '${String(reasoning?.id)}'.`,
    });
  });

  test("a stored answer continues by its id", async () => {
    server.enqueue({ calls: [{ name: "read", input: {}, id: "call_1" }] });
    const first = JSON.parse((await ask({ model: "gpt-5", input: "go" })).text);
    const next = { model: "gpt-5", previous_response_id: first.id };
    expect((await errorFor({ ...next, input: [user] })).message).toBe("No tool output found for function call call_1.");
    await expectAccepted({ ...next, input: [output] });
  });
});
