import { afterAll, expect, test } from "vitest";
import { createGoogleFixture } from "./google-fixture.ts";

const {
  answer,
  call,
  continued,
  declares,
  hello,
  model,
  newest,
  old,
  parameters,
  plain,
  png,
  results,
  said,
  schema,
  send,
  server,
  skipped,
  thinks,
  user,
} = await createGoogleFixture();
afterAll(() => server.close());

const afterUser =
  "Please ensure that function call turn comes immediately after a user turn or after a function response turn.";
const afterCall = "Please ensure that function response turn comes immediately after a function call turn.";
const sameNumber =
  "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";
const missing = (name: string, position: number) =>
  `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${name}\` , position ${position}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`;
const at = "GenerateContentRequest.tools[0].function_declarations[0]";
const list = (...lines: string[]) => lines.map((line) => `* ${line}\n`).join("");
const signed = said[1] ?? {};

test.each<[string, object, string, string?]>([
  ["nothing said", { contents: [] }, "* GenerateContentRequest.contents: contents is not specified\n"],
  [
    "an unknown role",
    { contents: [{ role: "assistant", parts: [{ text: "a" }] }] },
    "Please use a valid role: user, model.",
  ],
  [
    "no parts",
    { contents: [user()] },
    list("GenerateContentRequest.contents[0].parts: contents.parts must not be empty."),
  ],
  [
    "an empty part",
    { contents: [user({ thought: true })] },
    list(
      "GenerateContentRequest.contents[0].parts[0].data: required oneof field 'data' must have one initialized field",
    ),
  ],
  [
    "a part with two fields",
    { contents: [user({ text: "a", ...answer("b") })] },
    "Invalid value at 'contents[0].parts[0]' (oneof), oneof field 'data' is already set. Cannot set 'functionResponse'",
  ],
  [
    "an unsupported image type",
    { contents: [user({ inlineData: { mimeType: "image/gif", data: png } })] },
    "Unsupported MIME type: image/gif",
  ],
  [
    "a system instruction that is not text",
    { ...plain, systemInstruction: user({ inlineData: { mimeType: "image/png", data: png } }) },
    "System instruction only supports text parts.",
  ],
  [
    "only a model message",
    { contents: [model({ text: "a" })] },
    "Please ensure that single turn requests end with a user role or the role field is empty.",
  ],
  ["a call at the beginning", old(model(call("Read")), user(answer("Read"))), afterUser],
  [
    "a call after a model's words",
    old(hello, model({ text: "a" }), model(call("Read")), user(answer("Read"))),
    afterUser,
  ],
  ["a result without a call", old(hello, model({ text: "a" }), user(answer("Read"))), afterCall],
  ["too few results", old(hello, model(call("Read"), call("Now")), user(answer("Read"))), sameNumber],
  ["a call without a result", old(hello, model(call("Read")), hello), sameNumber],
  ["a call at the end", old(hello, model(call("Read"))), sameNumber],
  [
    "a result with another name",
    old(hello, model(call("Read")), user(answer("Now"))),
    "Please ensure that the function response parts have the names of the function call parts: Now are not Read.",
  ],
  [
    "a result with another id",
    old(hello, model(call("Read")), user(answer("Read", { id: "x" }))),
    "Please ensure that the id of a function response is that of its function call: x is of none.",
  ],
  [
    "a result without a name",
    old(hello, model(call("")), user({ functionResponse: { response: {} } })),
    list(
      "GenerateContentRequest.contents[1].parts[0].function_call.name: Name cannot be empty.",
      "GenerateContentRequest.contents[2].parts[0].function_response.name: Name cannot be empty.",
    ),
  ],
  [
    "a result without a response",
    old(hello, model(call("Read")), user({ functionResponse: { name: "Read" } })),
    list("GenerateContentRequest.contents[2].parts[0].function_response.response: Response cannot be empty."),
  ],
  [
    "a call without its signature",
    continued(hello, model(call("Read")), user(answer("Read"))),
    missing("Read", 2),
    newest,
  ],
  [
    "a later call without its signature",
    continued(hello, model(...said), results, model(call("Now")), user(answer("Now"))),
    missing("Now", 4),
    newest,
  ],
  [
    "another signature",
    continued(hello, model(call("Read", { thoughtSignature: png })), user(answer("Read"))),
    "Corrupted thought signature.",
    newest,
  ],
  [
    "another call's signature",
    continued(hello, model(call("Now", { thoughtSignature: signed.thoughtSignature })), user(answer("Now"))),
    "Corrupted thought signature.",
    newest,
  ],
  [
    "an invalid function name",
    declares({ name: "1 a" }),
    list(
      `${at}.name: [FieldIssue] Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 128.`,
    ),
  ],
  ["two functions with one name", declares({ name: "a" }, { name: "a" }), "Duplicate function declaration found: a"],
  [
    "two kinds of parameters",
    declares({ name: "a", parameters: { type: "OBJECT" }, parametersJsonSchema: {} }),
    list(`${at}: parameters and parameters_json_schema are mutually exclusive.`),
  ],
  ["no properties", parameters(schema({})), list(`${at}.parameters.properties: should be non-empty for OBJECT type`)],
  [
    "an array without items",
    parameters(schema({ a: { type: "ARRAY" } })),
    list(`${at}.parameters.properties[a].items: missing field.`),
  ],
  [
    "no type",
    parameters(schema({ a: { description: "x" } })),
    list(`${at}.parameters.properties[a].type: must be specified.`),
  ],
  [
    "properties of a string",
    parameters(schema({ a: { type: "STRING", properties: { b: { type: "STRING" } } } })),
    list(`${at}.parameters.properties[a].properties: only allowed for OBJECT type`),
  ],
  [
    "an enum of non-strings",
    parameters(schema({ a: { type: "INTEGER", enum: ["1"] } })),
    list(`${at}.parameters.properties[a].enum: only allowed for STRING type`),
  ],
  [
    "an empty enum value",
    parameters(schema({ a: { type: "STRING", enum: ["a", ""] } })),
    list(`${at}.parameters.properties[a].enum[1]: cannot be empty`),
  ],
  [
    "an unknown format",
    parameters(schema({ a: { type: "STRING", format: "uri" } })),
    list(`${at}.parameters.properties[a].format: only 'enum' and 'date-time' are supported for STRING type`),
  ],
  [
    "an undeclared required property",
    parameters(schema({ a: { type: "STRING" } }, { required: ["b"] })),
    list(`${at}.parameters.required[0]: property is not defined`),
  ],
  [
    "a mode without functions",
    { ...plain, toolConfig: { functionCallingConfig: { mode: "AUTO" } } },
    "Function calling config is set without function_declarations.",
  ],
  [
    "allowed names without a mode",
    {
      ...declares({ name: "a" }),
      toolConfig: { functionCallingConfig: { mode: "AUTO", allowedFunctionNames: ["a"] } },
    },
    "Function calling config: allowed_function_names is only allowed with the modes ANY and VALIDATED.",
  ],
  [
    "allowed names of unknown functions",
    { ...declares({ name: "a" }), toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["b"] } } },
    "allowed_function_names has names that are not declared: b",
  ],
  [
    "functions and JSON",
    { ...declares({ name: "a" }), generationConfig: { responseMimeType: "application/json" } },
    "Function calling with a response mime type: 'application/json' is unsupported",
  ],
  [
    "more than the model's output limit",
    { ...plain, generationConfig: { maxOutputTokens: 65_537 } },
    "Unable to submit request because it has a maxOutputTokens value of 65537 but the supported range is from 1 (inclusive) to 65537 (exclusive). Update the value and try again.",
  ],
  [
    "too hot",
    { ...plain, generationConfig: { temperature: 2.1 } },
    list("GenerateContentRequest.generation_config.temperature: temperature must be in the range [0.0, 2.0]."),
  ],
  [
    "too many candidates",
    { ...plain, generationConfig: { candidateCount: 9 } },
    list("GenerateContentRequest.generation_config.candidate_count: candidate_count must be in the range [1, 8]."),
  ],
  [
    "too many stop sequences",
    { ...plain, generationConfig: { stopSequences: ["1", "2", "3", "4", "5", "6"] } },
    list("GenerateContentRequest.generation_config.stop_sequences: at most 5 stop sequences are supported."),
  ],
  [
    "a budget and a level",
    thinks({ thinkingBudget: 1024, thinkingLevel: "low" }),
    "You can only set only one of thinking budget and thinking level.",
    newest,
  ],
  [
    "a thinking level for a second-generation model",
    thinks({ thinkingLevel: "low" }),
    "Thinking level is not supported for this model.",
  ],
  [
    "a level that the model lacks",
    thinks({ thinkingLevel: "minimal" }),
    "Thinking level MINIMAL is not supported for this model. Please retry with other thinking level.",
    "gemini-3.1-pro-preview",
  ],
  [
    "thinking disabled for a model that always thinks",
    thinks({ thinkingBudget: 0 }),
    "Budget 0 is invalid. This model only works in thinking mode.",
    "gemini-2.5-pro",
  ],
  [
    "a budget above the maximum",
    thinks({ thinkingBudget: 40_000 }),
    "The thinking budget 40000 is invalid. Please choose a value between 128 and 32768.",
    "gemini-2.5-pro",
  ],
  [
    "a budget below the minimum",
    thinks({ thinkingBudget: -2 }),
    "The thinking budget -2 is invalid. Please choose a value between 1 and 24576.",
  ],
  [
    "thoughts without thinking",
    thinks({ thinkingBudget: 0, includeThoughts: true }),
    "Unable to submit request because Thinking_config.include_thoughts is only enabled when thinking is enabled.",
  ],
])("rejects a request that breaks a rule: %s", async (_, body, message, name = "gemini-2.5-flash") => {
  const sent = await send(body, name);
  expect(sent).toMatchObject({ status: 400, body: { error: { code: 400, message, status: "INVALID_ARGUMENT" } } });
  expect(sent.faults?.[0]).toBe(message.startsWith("* ") ? message.split("\n")[0] : message);
});

test("answers but records a lost signature replaced by the documented placeholder", async () => {
  server.enqueue({ text: ["fine"] });
  const replayed = said.map((part) => ("thoughtSignature" in part ? { ...part, ...skipped } : part));
  expect(await send(continued(hello, model(...replayed), results), newest)).toMatchObject({
    status: 200,
    faults: ["the signature of the call of Read was given, but skip_thought_signature_validator came back"],
  });
});
