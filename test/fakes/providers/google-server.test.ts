import { afterEach, beforeEach, expect, test } from "vitest";
import type { ProviderServer, Turn } from "./base.ts";
import { createGoogleServer } from "./google-server.ts";
import { eventsOf, post } from "./post.ts";

let server: ProviderServer;

beforeEach(async () => {
  server = await createGoogleServer();
});
afterEach(() => server.close());

const hello = { contents: [{ role: "user", parts: [{ text: "Hello" }] }] };
const thoughts = { ...hello, generationConfig: { thinkingConfig: { includeThoughts: true } } };
const headers = () => ({ "x-goog-api-key": server.key, "content-type": "application/json" });
const send = (model: string, body: unknown, method = "streamGenerateContent?alt=sse") =>
  post(`${server.url}/v1beta/models/${model}:${method}`, headers(), body);
const stream = async (turn: Turn, body: object = hello, model = "gemini-2.5-flash") => {
  server.enqueue(turn);
  const answer = await send(model, body);
  expect(server.requests.at(-1)?.faults).toEqual([]);
  return eventsOf(answer.text).map(({ data }) => data);
};

const signature = expect.stringMatching(/^[A-Za-z0-9+/]{100,}=*$/);
const count = (tokenCount: number) => [{ modality: "TEXT", tokenCount }];
const chunk = (candidate: object, usageMetadata: object, modelVersion = "gemini-2.5-flash") => ({
  candidates: [candidate],
  usageMetadata,
  modelVersion,
  responseId: expect.stringMatching(/^[A-Za-z0-9]{22}$/),
});
const part = (one: object, more: object = {}) => ({ content: { parts: [one], role: "model" }, index: 0, ...more });

test("streams every kind of content, like the real service", async () => {
  const model = "gemini-3-flash-preview";
  const chunks = await stream(
    {
      thinking: ["Let me see."],
      text: ["I ", "look."],
      calls: [
        { name: "Read", input: { path: "/a" } },
        { name: "Now", input: {} },
      ],
      usage: { input: 12, cacheRead: 8, output: 25, thinking: 5 },
    },
    thoughts,
    model,
  );
  const usage = (spoken: number) => ({
    promptTokenCount: 20,
    ...(spoken > 0 ? { candidatesTokenCount: spoken } : {}),
    totalTokenCount: 25 + spoken,
    cachedContentTokenCount: 8,
    promptTokensDetails: count(20),
    cacheTokensDetails: count(8),
    thoughtsTokenCount: 5,
  });
  const id = expect.stringMatching(/^[a-z0-9]{8}$/);
  expect(chunks).toEqual([
    chunk(part({ text: "Let me see.", thought: true }), usage(0), model),
    chunk(part({ text: "I " }), usage(5), model),
    chunk(part({ text: "look." }), usage(10), model),
    chunk(
      part({ functionCall: { name: "Read", args: { path: "/a" }, id }, thoughtSignature: signature }),
      usage(15),
      model,
    ),
    chunk(part({ functionCall: { name: "Now", args: {}, id } }), usage(20), model),
    chunk(part({ text: "" }, { finishReason: "STOP" }), usage(20), model),
  ]);
});

test("frames and spaces events like the real service", async () => {
  server.enqueue({ text: ["a\nb"], usage: { input: 1, output: 2 } });
  const { text, headers: sent } = await send("gemini-2.5-flash", hello);
  expect(sent["content-type"]).toBe("text/event-stream; charset=utf-8");
  const [first = "", second = "", rest] = text.split("\r\n\r\n");
  expect(first.replace(/"[A-Za-z0-9]{22}"/, '"id"')).toBe(
    'data: {"candidates": [{"content": {"parts": [{"text": "a\\nb"}],"role": "model"},"index": 0}],"usageMetadata": {"promptTokenCount": 1,"candidatesTokenCount": 2,"totalTokenCount": 3,"promptTokensDetails": [{"modality": "TEXT","tokenCount": 1}]},"modelVersion": "gemini-2.5-flash","responseId": "id"}',
  );
  expect([second.startsWith('data: {"candidates": '), rest]).toEqual([true, ""]);
});

test.each<[Turn, object]>([
  [{ text: ["a"] }, part({ text: "" }, { finishReason: "STOP" })],
  [{ text: ["a"], stop: "length" }, part({ text: "" }, { finishReason: "MAX_TOKENS" })],
  [
    { text: ["a"], stop: "refusal" },
    {
      finishReason: "SAFETY",
      index: 0,
      safetyRatings: [{ category: "HARM_CATEGORY_DANGEROUS_CONTENT", probability: "HIGH", blocked: true }],
    },
  ],
  [{ nativeStop: "PROHIBITED_CONTENT" }, { finishReason: "PROHIBITED_CONTENT", index: 0 }],
  [
    { nativeStop: "MALFORMED_FUNCTION_CALL" },
    {
      finishReason: "MALFORMED_FUNCTION_CALL",
      index: 0,
      finishMessage: expect.stringMatching(/^Malformed function call: /),
    },
  ],
  [
    { fault: "empty-answer", text: ["dropped"] },
    { content: { role: "model" }, finishReason: "STOP", index: 0 },
  ],
])("%j ends with %j", async (turn, expected) => {
  const last = (await stream(turn)).at(-1) as { candidates: unknown[] };
  expect(last.candidates).toEqual([expected]);
});

test("a blocked prompt has no candidates", async () => {
  const usageMetadata = { promptTokenCount: 25, totalTokenCount: 25, promptTokensDetails: count(25) };
  const { candidates: _, ...rest } = chunk({}, usageMetadata);
  expect(await stream({ blocked: "PROHIBITED_CONTENT" })).toEqual([
    { ...rest, promptFeedback: { blockReason: "PROHIBITED_CONTENT" } },
  ]);
});

test.each<[string, string, object, boolean, boolean]>([
  ["sends requested thoughts", "gemini-2.5-flash", thoughts, true, false],
  ["omits thoughts that were not requested", "gemini-2.5-flash", hello, false, false],
  ["signs words from the third generation on", "gemini-3.1-pro-preview", hello, false, true],
])("%s", async (_, model, body, shown, signed) => {
  const text = JSON.stringify(await stream({ thinking: ["hmm"], text: ["x"] }, body, model));
  expect([text.includes("hmm"), text.includes("thoughtSignature")]).toEqual([shown, signed]);
});

test("calls of the second generation have no id, and a signature only after thinking", async () => {
  const calls = [{ name: "Read", input: {} }];
  const [thoughtless] = await stream({ calls });
  const [thoughtful] = await stream({ calls, thinking: ["hm"] });
  expect(thoughtless).toMatchObject({ candidates: [part({ functionCall: { name: "Read", args: {} } })] });
  expect(thoughtful).toMatchObject({
    candidates: [part({ functionCall: { name: "Read", args: {} }, thoughtSignature: signature })],
  });
});

test("an error inside the stream is an event, or bare JSON", async () => {
  const fault = { streamError: { after: 1 } };
  const error = { code: 503, message: "The model is overloaded. Please try again later.", status: "UNAVAILABLE" };
  server.enqueue({ text: ["a", "b"], fault });
  const events = eventsOf((await send("gemini-2.5-flash", hello)).text);
  expect(events.map(({ data }) => data)).toEqual([
    expect.objectContaining({ modelVersion: "gemini-2.5-flash" }),
    { error },
  ]);
  const bare = await createGoogleServer({ bareStreamErrors: true, key: server.key });
  try {
    bare.enqueue({ text: ["a", "b"], fault });
    const url = `${bare.url}/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse`;
    const { text } = await post(url, headers(), hello);
    expect(text.split("\r\n\r\n").map((piece) => piece.slice(0, 5))).toEqual(["data:", '{\n  "']);
    expect(JSON.parse(text.split("\r\n\r\n")[1] ?? "")).toEqual({ error });
  } finally {
    await bare.close();
  }
});

test("without streaming there is one response, and without events a list of chunks", async () => {
  const turn = { thinking: ["h", "m"], text: ["a", "b"], calls: [{ name: "Read", input: { p: 1 }, id: "c" }] };
  server.enqueue(turn, turn);
  const one = await send("gemini-3-flash-preview", thoughts, "generateContent");
  expect(JSON.parse(one.text).candidates).toEqual([
    {
      content: {
        parts: [
          { text: "hm", thought: true },
          { text: "ab" },
          { functionCall: { name: "Read", args: { p: 1 }, id: "c" }, thoughtSignature: signature },
        ],
        role: "model",
      },
      finishReason: "STOP",
      index: 0,
    },
  ]);
  const list = await send("gemini-3-flash-preview", thoughts, "streamGenerateContent");
  expect(JSON.parse(list.text)).toHaveLength(6);
  expect(server.requests.flatMap(({ faults }) => faults)).toEqual([]);
});

const info = {
  "@type": "type.googleapis.com/google.rpc.ErrorInfo",
  reason: "API_KEY_INVALID",
  domain: "googleapis.com",
  metadata: { service: "generativelanguage.googleapis.com" },
};

test("rejects wrong and missing keys, unknown models and paths, and malformed bodies", async () => {
  const url = (model: string, more = "") => `${server.url}/v1beta/models/${model}:generateContent${more}`;
  const json = { "content-type": "application/json" };
  const wrong = await post(url("gemini-2.5-pro"), { ...json, "x-goog-api-key": "nope" }, hello);
  const words = "API key not valid. Please pass a valid API key.";
  const localized = { "@type": "type.googleapis.com/google.rpc.LocalizedMessage", locale: "en-US", message: words };
  expect({ status: wrong.status, body: JSON.parse(wrong.text) }).toEqual({
    status: 400,
    body: { error: { code: 400, message: words, status: "INVALID_ARGUMENT", details: [info, localized] } },
  });
  server.enqueue({ text: ["fine"] });
  const answers = [
    await post(url("gemini-2.5-pro"), json, hello),
    await post(url("gemini-2.5-pro", `?key=${server.key}`), json, hello),
    await post(url("gemini-9"), headers(), hello),
    await post(url("gemini-2.5-pro"), headers(), "{"),
    await post(url("gemini-2.5-pro"), { ...headers(), "content-type": "text/plain" }, hello),
  ];
  expect(answers.map(({ status, text }) => [status, JSON.parse(text).error?.status])).toEqual([
    [403, "PERMISSION_DENIED"],
    [200, undefined],
    [404, "NOT_FOUND"],
    [400, "INVALID_ARGUMENT"],
    [400, "INVALID_ARGUMENT"],
  ]);
  expect(JSON.parse(answers[2]?.text ?? "").error.message).toBe(
    "models/gemini-9 is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.",
  );
  const page = await post(`${server.url}/v1/models/gemini-2.5-pro:generateContent`, headers(), hello);
  expect([page.status, page.headers["content-type"]]).toEqual([404, "text/html; charset=UTF-8"]);
  expect(server.requests.map(({ faults }) => faults.length)).toEqual([0, 0, 0, 0, 1, 1, 1]);
});

test("sends an error as a list where the response is a list", async () => {
  const answer = await send("gemini-9", hello, "streamGenerateContent");
  expect(JSON.parse(answer.text)).toEqual([{ error: expect.objectContaining({ code: 404 }) }]);
});

test.each([
  [403, "PERMISSION_DENIED"],
  [429, "RESOURCE_EXHAUSTED"],
  [500, "INTERNAL"],
  [503, "UNAVAILABLE"],
  [504, "DEADLINE_EXCEEDED"],
])("status %i is %s", async (code, status) => {
  server.enqueue({ fault: { status: code } });
  const answer = await send("gemini-2.5-flash", hello);
  const retry = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "17s" };
  const details = code === 429 ? { details: [retry] } : {};
  expect([answer.status, JSON.parse(answer.text)]).toEqual([
    code,
    { error: { code, message: expect.any(String), status, ...details } },
  ]);
});
