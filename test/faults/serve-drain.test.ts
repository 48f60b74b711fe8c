import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { thatStay } from "../e2e/processes.ts";
import type { Bench } from "../e2e/tinman.ts";
import { createBench } from "../e2e/tinman.ts";
import { loggedOf } from "../fakes/ws/log-oracle.ts";
import { leaksIn, type Program, type SocketClient, startProgram } from "../fakes/ws/program.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await createBench();
  await bench.script([
    { when: { user: "quick" }, text: "One ", tool_calls: [{ name: "gate", input: {} }] },
    { when: { after_tool: "gate" }, text: "two three." },
    { when: { user: "long" }, text: Array(400).fill("word "), chunk_delay_ms: 50, times: "any" },
    { text: "Here again.", times: "any" },
  ]);
});
afterAll(() => bench.remove());

const homes = { next: 0 };

async function serving(drain: string): Promise<{ program: Program; home: string; again: () => Promise<Program> }> {
  homes.next += 1;
  const home = join(bench.root, `home-${homes.next}`);
  const start = (): Promise<Program> =>
    startProgram(bench, {
      model: "script:../script-1.json",
      config: { serve: { timeouts: { drain } } },
      env: { TINMAN_HOME: home },
    });
  return { program: await start(), home, again: start };
}

async function begin(program: Program): Promise<{ client: SocketClient; sessionId: string }> {
  const client = await program.connect();
  const { result } = await client.request("startSession", { userId: "u" });
  return { client, sessionId: String(result?.sessionId) };
}

const stopping = { code: -32000, message: "The server is stopping.", data: { reason: "draining" } };
const goingAway = { code: 1001, reason: "server is stopping" };
const isFinal = ({ params }: { readonly params?: Readonly<Record<string, unknown>> }): boolean =>
  params?.isFinal === true;
const isStopping = ({ method }: { readonly method?: string }): boolean => method === "ErrorNotification";

test("SIGTERM while idle: notifies every client, closes with 1001, and exits with 0", async () => {
  const { program, home } = await serving("20s");
  const clients = [await program.connect(), await program.connect({ path: "/rpc" }), (await begin(program)).client];
  program.kill("SIGTERM");
  expect(await program.exit).toEqual({ code: 0, signal: null });
  for (const client of clients) expect(await client.closed).toEqual(goingAway);
  expect([clients[0], clients[2]].map((client) => client?.frames.at(-1)?.params)).toEqual([stopping, stopping]);
  expect(await thatStay(home)).toEqual([]);
});

test("a running turn ends within the limit, and is reported; nothing new begins", async () => {
  const { program } = await serving("20s");
  const { client, sessionId } = await begin(program);
  await client.request("sendUserMessage", { sessionId, message: "quick" });
  const { toolCallId } = (await client.until(({ method }) => method === "ToolCallNotification")).params ?? {};
  const other = await program.connect();
  program.kill("SIGTERM");
  await client.until(isStopping);
  expect(await program.get("/readyz")).toEqual({ code: 503, body: expect.stringContaining("draining") });
  await expect(program.connect()).rejects.toThrow("503");
  for (const [method, params] of [
    ["startSession", { userId: "u" }],
    ["sendUserMessage", { sessionId, message: "x" }],
    ["resumeSession", { sessionId }],
  ] as const) {
    expect((await other.request(method, params)).error).toEqual(stopping);
  }
  await client.request("provideToolResult", { sessionId, toolCallId, result: "open" });
  const { params } = await client.until(isFinal);
  expect([params?.reason, params?.offset]).toEqual(["completed", "One two three.".length]);
  expect([await program.exit, await client.closed, await other.closed]).toEqual([
    { code: 0, signal: null },
    goingAway,
    goingAway,
  ]);
  expect(leaksIn([...client.frames, ...other.frames], bench.root)).toEqual([]);
});

test("a longer turn is interrupted and reported so; the next server answers the messages that waited", async () => {
  const { program, home, again } = await serving("0.3s");
  const { client, sessionId } = await begin(program);
  const send = (message: string) => client.request("sendUserMessage", { sessionId, message });
  await send("long");
  const queued = [await send("second"), await send("third")].map(({ result }) => result?.messageId);
  await client.until(({ params }) => params?.chunk === "word ");
  program.kill("SIGTERM");
  const { params } = await client.until(isFinal);
  expect(params).toMatchObject({ chunk: "", reason: "interrupted" });
  expect([await program.exit, await client.closed]).toEqual([{ code: 0, signal: null }, goingAway]);
  expect(client.frames.filter(isFinal)).toHaveLength(1);
  const logged = loggedOf(home, sessionId);
  const [answer] = [...logged.answers.values()];
  expect([logged.waiting, answer?.ends, answer?.text.length]).toEqual([queued, ["interrupted"], params?.offset]);

  const next = await again();
  const back = await next.connect();
  const resumed = await back.request("resumeSession", { sessionId, afterSeq: params?.seq });
  expect(resumed.result).toMatchObject({ running: false, waiting: queued, seq: params?.seq });
  const last = await back.request("sendUserMessage", { sessionId, message: "go on" });
  for (const messageId of [...queued, last.result?.messageId]) {
    expect((await back.until(isFinal)).params).toMatchObject({ messageId, reason: "completed" });
  }
  expect(loggedOf(home, sessionId).waiting).toEqual([]);
  next.kill("SIGINT");
  expect(await next.exit).toEqual({ code: 0, signal: null });
});

test("a client that does not answer the close does not delay the exit or the log", async () => {
  const { program } = await serving("1.5s");
  const { client, sessionId } = await begin(program);
  await client.request("sendUserMessage", { sessionId, message: "long" });
  const stuck = await program.connect();
  stuck.socket.pause();
  program.kill("SIGTERM");
  expect(await program.exit).toEqual({ code: 0, signal: null });
  stuck.socket.terminate();
  expect(program.log().map(({ event }) => event)).toEqual([
    "auth.off",
    "server.started",
    "session.started",
    "server.stopping",
    "turn.ended",
    "server.stopped",
  ]);
});

test("a second signal stops it at once, and nothing acknowledged is lost", async () => {
  const { program, home } = await serving("60s");
  const { client, sessionId } = await begin(program);
  const { result } = await client.request("sendUserMessage", { sessionId, message: "long" });
  program.kill("SIGTERM");
  await client.until(isStopping);
  program.kill("SIGTERM");
  expect(await program.exit).toEqual({ code: 143, signal: null });
  expect(loggedOf(home, sessionId).accepted).toEqual([result?.messageId]);
  expect(await thatStay(home)).toEqual([]);
});
