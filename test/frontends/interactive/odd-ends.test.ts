import { expect, test } from "vitest";
import { AgentError } from "../../../src/engine/errors.ts";
import type { ModelEvent } from "../../../src/engine/ports.ts";
import { InteractiveConnection } from "../../../src/frontends/interactive/connection.ts";
import { createLinkedPair } from "../../../src/rpc/transport.ts";
import { calls, says } from "../../fakes/kit.ts";
import { ann, serve, textIn } from "./served.ts";

const ada = { user: "ada", role: "admin" } as const;
const isCall = ({ method }: { readonly method?: string }): boolean => method === "ToolCallNotification";

test("an answer without text is complete, with a code", async () => {
  const client = serve([[{ type: "end", stop: "end" }], says("Here I am.")]).connect();
  const sessionId = await client.start();
  const [final, ...more] = await client.ask(sessionId, "say nothing");
  expect(more).toEqual([]);
  expect(final?.params).toMatchObject({ chunk: "", isFinal: true, reason: "completed", code: "model_empty" });
  // No status 3 in between.
  const [first] = await client.ask(sessionId, "and now?");
  expect(first?.params).toMatchObject({ chunk: "Here I am." });
  await client.close();
});

test("a server without tools can show another front end's session, but takes no messages for it", async () => {
  const { kit, connect } = serve([says("One.")]);
  const session = await kit.open();
  await session.close();
  const client = connect(ada);
  const { result } = await client.request("resumeSession", { sessionId: session.id });
  expect(result).toMatchObject({ status: 1, running: false, toolExecution: "server" });
  const { error } = await client.request("sendUserMessage", { sessionId: session.id, message: "hi" });
  expect(error).toMatchObject({ code: -32000, data: { reason: "tool_execution" } });
  await client.close();
});

test("the server answers a call whose arguments are not JSON, and the model reads why", async () => {
  const broken: ModelEvent[] = [
    { type: "tool_call", id: "call_1", name: "Read", inputText: '{"file_path": ' },
    { type: "end", stop: "tool_calls" },
  ];
  const { kit, connect } = serve([broken, says("Sorry.")]);
  const client = connect();
  const sessionId = await client.start();
  const frames = await client.ask(sessionId, "read it");
  expect([frames.some(isCall), textIn(frames)]).toEqual([false, "Sorry."]);
  expect(kit.requests[1]?.messages.at(-1)?.content).toEqual([
    expect.objectContaining({ status: "failed", text: "Error: The arguments of Read are not valid JSON." }),
  ]);
  await client.close();
});

test("rounds numbers beyond JavaScript's range, in echo and in arguments", async () => {
  const [call, ...rest] = calls(["Read", {}]);
  const { server } = serve([[{ ...call, inputText: '{"n": 9007199254740993}' } as ModelEvent, ...rest]]);
  const [near, far] = createLinkedPair();
  const connection = new InteractiveConnection(server, { transport: far, close: () => far.close() }, ann);
  const texts: string[] = [];
  near.send('{"jsonrpc":"2.0","id":1,"method":"echo","params":{"message":9007199254740993}}');
  near.send('{"jsonrpc":"2.0","id":2,"method":"startSession","params":{"userId":"u"}}');
  // As text, because parsing would also round them here.
  for await (const frame of near.incoming) {
    const text = frame.type === "line" ? frame.text : "";
    const [, sessionId] = /"id":2,"result":\{"sessionId":"([^"]+)"/.exec(text) ?? [];
    if (sessionId !== undefined)
      near.send(
        `{"jsonrpc":"2.0","id":3,"method":"sendUserMessage","params":{"sessionId":"${sessionId}","message":"x"}}`,
      );
    if (text.includes("900719925474099")) texts.push(text);
    if (text.includes("ToolCallNotification")) break;
  }
  expect(texts).toEqual([
    '{"jsonrpc":"2.0","id":1,"result":9007199254740992}',
    expect.stringContaining('"arguments":{"n":9007199254740992}'),
  ]);
  near.close();
  await connection.closed();
});

const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, thinking: 0 };

test.each([
  ["says so only in its message, as older versions did", {}],
  ["has that cause", { cause: "process_ended" } as const],
])("reports an answer whose process ended as interrupted if its record %s", async (_, cause) => {
  const { kit, connect } = serve([]);
  const session = await kit.open();
  await session.close();
  const log = await kit.store.acquire(session.id);
  const failure = { code: "interrupted", message: "The process that ran this turn ended." } as const;
  const bodies = [
    { type: "prompt.accepted", messageId: "p1", content: [{ type: "text", text: "go" }] },
    { type: "turn.started", turnId: "t1", model: "fake", prompts: ["p1"] },
    { type: "prompt.taken", messageId: "p1", reminders: [] },
    { type: "turn.ended", turnId: "t1", reason: "interrupted", failure, usage, durationMs: 1, ...cause },
  ] as const;
  await log.append(bodies.map((body, index) => ({ at: 1, sessionId: session.id, seq: index + 2, ...body })));
  await log.release();
  const client = connect(ada);
  await client.request("resumeSession", { sessionId: session.id });
  const [end] = await client.until(({ params }) => params?.isFinal === true).then((frames) => frames.slice(-1));
  expect(end?.params).toMatchObject({ messageId: "p1", reason: "interrupted" });
  await client.close();
});

test("an answer ended by a stopping server is interrupted, and one stopped by a client is cancelled", async () => {
  const { kit, connect } = serve([calls(["Slow", {}]), calls(["Slow", {}])]);
  const client = connect();
  const reasons: unknown[] = [];
  for (const cause of [new AgentError("interrupted", "The server stops."), undefined]) {
    const sessionId = await client.start();
    client.post("m", "sendUserMessage", { sessionId, message: "go" });
    await client.until(isCall);
    const [session] = kit.engine.sessions().filter(({ id }) => id === sessionId);
    await session?.interrupt(cause);
    const frames = await client.until(({ params }) => params?.isFinal === true);
    reasons.push(frames.at(-1)?.params?.reason);
  }
  expect(reasons).toEqual(["interrupted", "cancelled"]);
  await client.close();
});
