import { createGoogleServer } from "./google-server.ts";
import { post } from "./post.ts";

/** A server and the client's requests to it. The caller closes the server. */
export async function createGoogleFixture() {
  const server = await createGoogleServer();

  const png = "iVBORw0KGgoAAAANSUhEUg==";
  const user = (...parts: object[]) => ({ role: "user", parts });
  const model = (...parts: object[]) => ({ role: "model", parts });
  const hello = user({ text: "Hello" });
  const plain = { contents: [hello] };
  const call = (name: string, more: object = {}) => ({ functionCall: { name, args: {} }, ...more });
  const answer = (name: string, more: object = {}) => ({
    functionResponse: { name, response: { output: "done" }, ...more },
  });
  const schema = (properties: object, more: object = {}) => ({ type: "OBJECT", properties, ...more });
  const declares = (...functionDeclarations: object[]) => ({ ...plain, tools: [{ functionDeclarations }] });
  const parameters = (one: object) => declares({ name: "Read", parameters: one });
  const thinks = (thinkingConfig: object) => ({ ...plain, generationConfig: { thinkingConfig } });

  async function send(body: unknown, name = "gemini-2.5-flash") {
    const headers = { "x-goog-api-key": server.key, "content-type": "application/json" };
    const { status, text } = await post(`${server.url}/v1beta/models/${name}:generateContent`, headers, body);
    return { status, body: JSON.parse(text), faults: server.requests.at(-1)?.faults };
  }

  server.enqueue({
    text: ["I look."],
    calls: [
      { name: "Read", input: { path: "/a" }, id: "c1" },
      { name: "Now", input: {}, id: "c2" },
    ],
  });
  const newest = "gemini-3-flash-preview";
  const first = await send(plain, newest);
  /** The first reply of a third-generation model: text, a signed call and a call. */
  const said: readonly Record<string, unknown>[] = first.body.candidates[0].content.parts;
  const results = user(answer("Read", { id: "c1" }), answer("Now", { id: "c2" }));

  /** A valid second request, as sent by a client with all features. */
  const full = {
    systemInstruction: { parts: [{ text: "Be brief." }] },
    contents: [user({ text: "Look." }, { inlineData: { mimeType: "image/png", data: png } }), model(...said), results],
    tools: [
      {
        functionDeclarations: [
          {
            name: "Read",
            description: "Reads.",
            parameters: schema(
              {
                path: { type: "string", minLength: "1" },
                kind: { type: "STRING", enum: ["a", "b"], format: "enum", nullable: true },
                lines: { type: "ARRAY", items: { anyOf: [{ type: "INTEGER", minimum: 1 }, { type: "NUMBER" }] } },
              },
              { required: ["path"], propertyOrdering: ["path", "kind", "lines"] },
            ),
          },
          { name: "Now", parametersJsonSchema: { $schema: "x", type: "object", additionalProperties: false } },
        ],
      },
    ],
    toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["Read"] } },
    generationConfig: {
      maxOutputTokens: 65_536,
      temperature: 2,
      thinkingConfig: { thinkingLevel: "low", includeThoughts: true },
    },
    safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
  };
  const continued = (...contents: object[]) => ({ ...full, contents });
  const old = (...contents: object[]) => ({ contents });
  const skipped = { thoughtSignature: "skip_thought_signature_validator" };

  return {
    server,
    png,
    user,
    model,
    hello,
    plain,
    call,
    answer,
    schema,
    declares,
    parameters,
    thinks,
    send,
    newest,
    said,
    results,
    full,
    continued,
    old,
    skipped,
  };
}
