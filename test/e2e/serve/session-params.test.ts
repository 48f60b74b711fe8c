import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { ProviderServer } from "../../fakes/providers/base.ts";
import { createOpenAIChatServer } from "../../fakes/providers/openai-chat-server.ts";
import { isFinal, textIn } from "../../frontends/interactive/served.ts";
import { type Server, startServer } from "./server.ts";
import { isCall, type WireClient } from "./wire-client.ts";

interface ChatBody {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools: readonly { readonly function: { readonly name: string } }[];
}

let provider: ProviderServer;
let server: Server;
let client: WireClient;

beforeAll(async () => {
  provider = await createOpenAIChatServer({ models: ["model-one", "model-two"] });
  const entry = { provider: "openai-compatible", baseUrl: provider.url, apiKey: provider.key };
  const entries = [
    { ...entry, id: "first", model: "model-one" },
    { ...entry, id: "second", model: "model-two" },
  ];
  server = await startServer({
    config: { models: { entries, aliases: { best: "second" } }, interactive: { toolExecutionChoices: ["server"] } },
    args: ["-m", "first"],
  });
});
afterAll(async () => {
  await server.remove();
  await provider.close();
});
beforeEach(async () => {
  client = await server.connect();
});
afterEach(() => client.close());

/** The last request to the model. */
function lastSent(): ChatBody {
  const { body } = provider.requests.at(-1) ?? {};
  if (body === undefined) throw new Error("the model was sent nothing");
  return body as ChatBody;
}

/** The request to the model for the first message of a session started with these params. */
async function sentFor(sessionParams?: object): Promise<ChatBody> {
  provider.enqueue({ text: ["Fine."] });
  const sessionId = await client.start(sessionParams);
  expect(textIn(await client.ask(sessionId, "How are you?"))).toBe("Fine.");
  return lastSent();
}

function system({ messages }: ChatBody): string {
  return JSON.stringify(messages.filter(({ role }) => role === "system" || role === "developer"));
}

test("without any, the model is the server's, with no language and no context", async () => {
  const body = await sentFor();
  expect(body.model).toBe("model-one");
  expect(system(body)).not.toMatch(/Answer in this language|What the client says/);
  expect(body.messages.at(-1)).toMatchObject({ role: "user" });
  expect(JSON.stringify(body.messages.at(-1))).toContain("How are you?");
});

test.each([
  ["second", "model-two"],
  ["best", "model-two"],
  ["first", "model-one"],
  ["", "model-one"],
])("model %j requests %j", async (model, asked) => {
  expect((await sentFor({ model })).model).toBe(asked);
});

test("rejects an unknown model, and names the available ones", async () => {
  const { error } = await client.request("startSession", { userId: "u", sessionParams: { model: "third" } });
  expect(error).toMatchObject({ code: -32602, data: { reason: "model_unknown" } });
  expect(error?.message).toMatch(/^Invalid params: .*third/);
  for (const id of ["first", "second"]) expect(error?.message).toContain(id);
  const { models } = (await client.request("capabilities")).result ?? {};
  expect((models as { id: string }[]).map(({ id }) => id)).toEqual(expect.arrayContaining(["first", "second"]));
});

test("passes language and context to the model", async () => {
  const words = system(await sentFor({ language: "Plattdüütsch", context: "The user is a sailor." }));
  expect(words).toContain("Plattdüütsch");
  expect(words).toContain("The user is a sailor.");
});

test("offers a client's tools in addition to the usual ones, and calls them with the model's arguments", async () => {
  const inputSchema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  const tools = [{ name: "weather", description: "Says how the weather is.", inputSchema }, { name: "plain" }];
  provider.enqueue({ calls: [{ name: "weather", input: { city: "Kiel" } }] }, { text: ["It rains."] });
  const sessionId = await client.start({ tools });
  await client.request("sendUserMessage", { sessionId, message: "How is the weather?" });
  const call = (await client.until(isCall)).at(-1)?.params;
  expect(call).toMatchObject({ toolName: "weather", arguments: { city: "Kiel" }, execution: "client" });
  const offered = lastSent().tools;
  expect(offered.find((tool) => tool.function.name === "weather")).toMatchObject({
    function: { description: "Says how the weather is.", parameters: inputSchema },
  });
  expect(offered.map((tool) => tool.function.name)).toEqual(expect.arrayContaining(["Read", "Execute", "plain"]));
  await client.request("provideToolResult", { sessionId, toolCallId: call?.toolCallId, result: "rain" });
  expect(textIn(await client.until(isFinal))).toBe("It rains.");
  expect(lastSent().messages.at(-1)).toMatchObject({ role: "tool", content: "rain" });
});

test("the client runs its tools even if the server runs the others", async () => {
  provider.enqueue(
    { calls: [{ name: "LS", input: { directory_path: "." } }] },
    { calls: [{ name: "mine", input: {} }] },
  );
  provider.enqueue({ text: ["Done."] });
  await server.bench.file("seen-by-the-server.txt", "");
  const sessionId = await client.start({ toolExecution: "server", tools: [{ name: "mine" }] });
  await client.request("sendUserMessage", { sessionId, message: "Look." });
  const frames = await client.until((frame) => isCall(frame) && frame.params?.toolName === "mine");
  expect(frames.filter(isCall).map(({ params }) => [params?.toolName, params?.execution])).toEqual([
    ["LS", "server"],
    ["mine", "client"],
  ]);
  expect(frames.find(({ method }) => method === "ToolResultNotification")?.params).toMatchObject({
    toolName: "LS",
    status: 0,
    result: expect.stringContaining("seen-by-the-server.txt"),
  });
  const { toolCallId } = frames.at(-1)?.params ?? {};
  await client.request("provideToolResult", { sessionId, toolCallId, result: "yes" });
  expect(textIn(await client.until(isFinal))).toBe("Done.");
});

test("rejects two tools with one name", async () => {
  const sessionParams = { tools: [{ name: "twice" }, { name: "twice" }] };
  expect((await client.request("startSession", { userId: "u", sessionParams })).error).toMatchObject({
    code: -32602,
    data: { reason: "tools" },
  });
});

test("every request to the provider was valid", () => {
  expect(provider.requests.flatMap(({ faults }) => faults)).toEqual([]);
});
