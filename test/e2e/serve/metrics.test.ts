import { expect, onTestFinished, test } from "vitest";
import { isFinal } from "../../frontends/interactive/served.ts";
import { replies } from "./replies.ts";
import { startServer } from "./server.ts";
import { isCall, isChunk, isStatus } from "./wire-client.ts";

test("counts what happens in sessions", async () => {
  const server = await startServer({ replies });
  onTestFinished(() => server.remove());
  const client = await server.connect();
  const [one, two] = [await client.start(), await client.start()];
  await client.ask(one, "hello");
  await client.ask(one, "fail later");
  await client.request("sendUserMessage", { sessionId: one, message: "one tool" });
  const { toolCallId } = (await client.until(isCall)).at(-1)?.params ?? {};
  await client.request("provideToolResult", { sessionId: one, toolCallId, result: "42" });
  await client.until(isFinal);
  await client.request("sendUserMessage", { sessionId: one, message: "hang" });
  await client.until(isChunk);
  await client.request("sendUserMessage", { sessionId: one, message: "hello" });
  await client.request("sendUserMessage", { sessionId: one, message: "hello" });
  await client.request("stopSession", { sessionId: two });
  await client.until(isStatus(2));
  const names = [
    "sessions",
    "sessions_started_total",
    "queued_messages",
    'connections{route="/ws"}',
    'connections_total{route="/ws"}',
    'turns_total{outcome="completed"}',
    'turns_total{outcome="failed"}',
    'errors_total{kind="model_bad_request"}',
    'tool_calls_total{status="ok"}',
    "turn_seconds_count",
    "first_chunk_seconds_count",
  ];
  const counted = await Promise.all(names.map(async (name) => [name, await server.metric(name)]));
  expect(Object.fromEntries(counted)).toEqual({
    sessions: 1,
    sessions_started_total: 2,
    queued_messages: 2,
    'connections{route="/ws"}': 1,
    'connections_total{route="/ws"}': 1,
    'turns_total{outcome="completed"}': 2,
    'turns_total{outcome="failed"}': 1,
    'errors_total{kind="model_bad_request"}': 1,
    'tool_calls_total{status="ok"}': 1,
    turn_seconds_count: 3,
    first_chunk_seconds_count: 4,
  });
  expect(await server.metric('tokens_total{kind="output"}')).toBeGreaterThan(0);
  await client.close();
});
