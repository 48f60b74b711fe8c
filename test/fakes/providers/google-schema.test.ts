import { afterAll, expect, test } from "vitest";
import { createGoogleFixture } from "./google-fixture.ts";

const {
  answer,
  call,
  continued,
  full,
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

test.each<[string, object, string]>([
  ["everything", full, newest],
  ["only a question, without a role", { contents: [{ parts: [{ text: "Hello" }] }] }, "gemini-2.5-pro"],
  [
    "calls of the second generation, without signatures",
    old(hello, model(call("Read")), user(answer("Read"))),
    "gemini-2.5-pro",
  ],
  [
    "an earlier turn without its signatures",
    continued(
      hello,
      model(...said.map(({ thoughtSignature: _, ...part }) => part)),
      results,
      model({ text: "Ok." }),
      hello,
    ),
    newest,
  ],
  [
    "another model's calls, with the placeholder signature",
    continued(hello, model(call("Read", skipped)), user(answer("Read"))),
    newest,
  ],
  [
    "a result with an image",
    old(
      hello,
      model(call("Read")),
      user(answer("Read", { parts: [{ inlineData: { mimeType: "image/png", data: png } }] })),
    ),
    "gemini-2.5-pro",
  ],
  ["thinking chosen by the model", thinks({ thinkingBudget: -1 }), "gemini-2.5-flash"],
  ["no thinking", thinks({ thinkingBudget: 0 }), "gemini-2.5-flash"],
])("accepts a valid request: %s", async (_, body, name) => {
  server.enqueue({ text: ["fine"] });
  expect(await send(body, name)).toMatchObject({ status: 200, faults: [] });
});

const unknown = (name: string, at: string) =>
  `Invalid JSON payload received. Unknown name "${name}"${at === "" ? "" : ` at '${at}'`}: Cannot find field.`;
const declared = "tools[0].function_declarations[0]";

test.each<[string, object, [field: string, description: string][]]>([
  ["an unknown field", { ...plain, stream: true }, [["", unknown("stream", "")]]],
  [
    "an unknown field of a part",
    { contents: [user({ text: "a", id: 1 })] },
    [["contents[0].parts[0]", unknown("id", "contents[0].parts[0]")]],
  ],
  [
    "keywords of JSON Schema",
    parameters({ $schema: "x", ...schema({ a: { type: "STRING", const: "x" } }), additionalProperties: false }),
    [
      [`${declared}.parameters.properties[0].value`, unknown("const", `${declared}.parameters.properties[0].value`)],
      [`${declared}.parameters`, unknown("$schema", `${declared}.parameters`)],
      [`${declared}.parameters`, unknown("additionalProperties", `${declared}.parameters`)],
    ],
  ],
  [
    "a list of types",
    parameters(schema({ a: { type: "STRING" }, b: { anyOf: [{ type: ["STRING", "NULL"] }] } })),
    [
      [
        `${declared}.parameters.properties[1].value.any_of[0]`,
        `Invalid JSON payload received. Unknown name "type" at '${declared}.parameters.properties[1].value.any_of[0]': Proto field is not repeating, cannot start list.`,
      ],
    ],
  ],
  [
    "an unknown type",
    parameters({ type: "STRUCT" }),
    [[`${declared}.parameters.type`, `Invalid value at '${declared}.parameters.type' (ENUM), "STRUCT"`]],
  ],
  [
    "a number as a string",
    { ...plain, generationConfig: { temperature: "hot" } },
    [["generation_config.temperature", `Invalid value at 'generation_config.temperature' (TYPE_DOUBLE), "hot"`]],
  ],
  [
    "invalid base64",
    { contents: [user({ inlineData: { mimeType: "image/png", data: "é" } })] },
    [
      [
        "contents[0].parts[0].inline_data.data",
        `Invalid value at 'contents[0].parts[0].inline_data.data' (TYPE_BYTES), Base64 decoding failed for "é"`,
      ],
    ],
  ],
  [
    "data without a media type",
    { contents: [user({ inlineData: { data: png } })] },
    [
      [
        "contents[0].parts[0].inline_data.mime_type",
        "Invalid value at 'contents[0].parts[0].inline_data.mime_type': the field is required.",
      ],
    ],
  ],
])("rejects a request that breaks the schema: %s", async (_, body, expected) => {
  const fieldViolations = expected.map(([field, description]) => ({ field, description }));
  const faults = expected.map(([, description]) => description);
  const details = [{ "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations }];
  expect(await send(body)).toEqual({
    status: 400,
    body: { error: { code: 400, message: faults.join("\n"), status: "INVALID_ARGUMENT", details } },
    faults,
  });
});
