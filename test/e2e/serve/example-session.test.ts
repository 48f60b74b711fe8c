import { expect, onTestFinished, test } from "vitest";
import { type PlainClient, plainClient } from "./plain-client.ts";
import { type ServerOptions, startServer } from "./server.ts";

/** The scripted model does everything that the session needs, based on the user's text; the server has no special code. */
const replies = [
  { when: { user: "greet" }, times: "any", text: ["Good", " morning", "!"] },
  {
    when: { user: "look up" },
    times: "any",
    text: "One moment. ",
    tool_calls: [{ name: "Read", input: { file_path: "notes.txt" } }],
  },
  { when: { after_tool: "Read" }, times: "any", text: ["It says: ", "{{tool_result}}"] },
  { when: { user: "fall silent" }, times: "any", text: ["Well", "never said"], chunk_delay_ms: 600_000 },
  { when: { user: "break" }, times: "any", text: "I am", error: { status: 400, message: "inner words" } },
  {
    when: { user: "write" },
    times: "any",
    tool_calls: [{ name: "Create", input: { file_path: "made.txt", content: "by the model\n" } }],
  },
  { when: { after_tool: "Create" }, times: "any", text: "It is written." },
];

async function start(options: ServerOptions): Promise<Awaited<ReturnType<typeof startServer>>> {
  const server = await startServer({ replies, ...options });
  onTestFinished(() => server.remove());
  return server;
}

async function runExample(client: PlainClient): Promise<void> {
  const { sessionId, status } = await client.startSession("user-1", { language: "en", context: "a test" });
  expect([typeof sessionId, status]).toEqual(["string", 1]);
  expect(await client.status()).toEqual({ status: 1, reason: "started" });

  const message = await client.sendUserMessage(sessionId, "Please greet me.");
  expect([typeof message.messageId, message.status]).toEqual(["string", 0]);
  expect(await client.answer()).toEqual({ text: "Good morning!", chunks: 4 });

  await client.sendUserMessage(sessionId, "Please look up the notes.");
  const call = await client.toolCall();
  expect(call).toEqual({ ...call, toolName: "Read", arguments: { file_path: "notes.txt" } });
  expect(await client.provideToolResult(sessionId, call.toolCallId, "bring milk")).toEqual({ status: 0 });
  expect((await client.answer()).text).toBe("One moment. It says: bring milk");

  await client.sendUserMessage(sessionId, "Please fall silent.");
  expect((await client.answer()).text).toBe("Well");
  expect(await client.status()).toEqual({ status: 3, reason: "timeout" });

  await client.sendUserMessage(sessionId, "Please break.");
  expect((await client.answer()).text).toBe("I am");
  expect(await client.status()).toEqual({ status: 3, reason: "error" });
  const wrong = client.call("sendUserMessage", { sessionId: "nobody's", message: "hi" });
  await expect(wrong).rejects.toMatchObject({ code: -32602, message: "Invalid params" });

  await client.sendUserMessage(sessionId, "Now greet me again.");
  expect((await client.answer()).text).toBe("Good morning!");
  expect(await client.call("stopSession", { sessionId })).toEqual({ status: 2 });
  expect(await client.status()).toEqual({ status: 2, reason: "completed" });
  client.close();
}

const config = { interactive: { timeouts: { ai: "800ms" } } };

test("a client that only knows the API's description runs its example session", async () => {
  const { url, said } = await start({ config });
  expect(said).toBe(
    `tinman serve: listening on ${url.replace(/^ws(.*)\/ws$/, "http$1")} - API ${url} - NO TOKEN REQUIRED`,
  );
  await runExample(await plainClient(url));
});

test("the same client needs only the token header where one is required", async () => {
  const { url, token } = await start({ config, auth: true });
  await expect(plainClient(url)).rejects.toThrow("401");
  await runExample(await plainClient(url, { Authorization: `Bearer ${token}` }));
});

test("the same client gets a file written by a server that runs the tools", async () => {
  const { url, bench } = await start({ config: { interactive: { toolExecution: "server", autonomy: "low" } } });
  const client = await plainClient(url);
  const { sessionId } = await client.startSession("user-1");
  await client.sendUserMessage(sessionId, "Please write it.");
  expect(await client.toolCall()).toMatchObject({
    toolName: "Create",
    arguments: { file_path: "made.txt", content: "by the model\n" },
  });
  expect((await client.answer()).text).toBe("It is written.");
  expect(await bench.read("made.txt")).toBe("by the model\n");
  client.close();
});
