import { expect, onTestFinished, test } from "vitest";
import type { PermissionRequest, Session, TurnEvent } from "../../../src/sdk/node.ts";
import { createSession, resumeSession } from "../../../src/sdk/node.ts";
import { over } from "./over-rpc.ts";
import { type Server, startServer, tokens, users } from "./server.ts";

const replies = [
  {
    when: { user: "write" },
    times: "any",
    tool_calls: [{ name: "Create", input: { file_path: "a.txt", content: "x" } }],
  },
  { when: { after_tool: "Create" }, times: "any", text: "Written." },
  { when: { user: "slowly" }, times: "any", text: ["One ", "by ", "one."], chunk_delay_ms: 100 },
  { when: { user: "hello" }, times: "any", text: "Yes." },
];

async function start(): Promise<Server> {
  const server = await startServer({ replies, auth: true, config: { serve: { users } } });
  onTestFinished(() => server.remove());
  return server;
}

const textOf = (events: readonly TurnEvent[]): string =>
  events.map((event) => (event.type === "text" ? event.text : "")).join("");

test("several connections share one session: the first answer wins, and all see it", async () => {
  const server = await start();
  const asked: string[] = [];
  let answerSecond: (answer: "proceed_once") => void = () => undefined;
  const seen: TurnEvent[] = [];
  const first = await createSession({
    ...over(server, tokens.ann),
    cwd: server.bench.cwd,
    onPermission: ({ calls }: PermissionRequest) => {
      asked.push(`first ${calls[0]?.name}`);
      return new Promise(() => undefined);
    },
    onEvent: (event: TurnEvent) => void seen.push(event),
  });
  const second: Session = await resumeSession(first.id, {
    ...over(server, tokens.ann),
    onPermission: () => {
      asked.push("second");
      return new Promise((resolve) => {
        answerSecond = resolve;
      });
    },
  });
  const turn = first.send("write it");
  while (asked.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  answerSecond("proceed_once");
  expect(await turn).toMatchObject({ status: "completed", text: "Written." });
  expect(asked.sort()).toEqual(["first Create", "second"]);
  expect(seen.map(({ type }) => type)).toContain("tool_result");
  expect(await server.bench.read("a.txt")).toBe("x");
  await first.close();
  expect(await second.send("hello, still there?")).toMatchObject({ status: "completed", text: "Yes." });
  await second.close();
});

test("a session of /rpc is also one of /ws", async () => {
  const server = await start();
  const session = await createSession({ ...over(server, tokens.ann), cwd: server.bench.cwd });
  const events: TurnEvent[] = [];
  const turn = (async () => {
    for await (const event of session.stream("slowly")) events.push(event);
  })();
  const client = await server.connect(tokens.ann);
  const { result } = await client.request("resumeSession", { sessionId: session.id });
  expect(result).toMatchObject({ sessionId: session.id, toolExecution: "server" });
  const frames = await client.until(({ params }) => params?.isFinal === true);
  await turn;
  expect(textOf(events)).toBe("One by one.");
  const chunks = frames.filter(({ method }) => method === "AIMessageChunkNotification");
  expect(chunks.map(({ params }) => params?.chunk).join("")).toBe("One by one.");
  const foreign = await server.connect(tokens.bob);
  expect((await foreign.request("resumeSession", { sessionId: session.id })).error?.code).toBe(-32602);
  await session.close();
});

test("a viewer sees the session, and can do nothing in it", async () => {
  const server = await start();
  const session = await createSession({ ...over(server, tokens.ann), cwd: server.bench.cwd });
  const viewer = await resumeSession(session.id, over(server, tokens.vic));
  await expect(viewer.send("let me")).rejects.toThrow("viewer");
  await expect(viewer.updateSettings({ autonomyLevel: "high" })).rejects.toThrow("viewer");
  expect(await session.send("hello")).toMatchObject({ status: "completed", text: "Yes." });
  await expect(resumeSession(session.id, over(server, tokens.bob))).rejects.toThrow("not found");
  await viewer.close();
  expect(await session.send("hello")).toMatchObject({ status: "completed" });
  await session.close();
});

test("loads a history larger than the limit for unsent data", async () => {
  const mebibyte = 1024 * 1024;
  const limits = { payloadBytes: 8 * mebibyte, unsentBytes: 2 * mebibyte };
  const server = await startServer({ replies, auth: true, config: { serve: { users, limits } } });
  onTestFinished(() => server.remove());
  const first = await createSession({ ...over(server, tokens.ann), cwd: server.bench.cwd });
  const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const images = [1, 2, 3].map((byte) => Buffer.concat([png, Buffer.alloc(4_500_000, byte)]).toString("base64"));
  for (const data of images) await first.send("hello", { images: [{ mediaType: "image/png", data }] });
  const second = await resumeSession(first.id, over(server, tokens.ann));
  const loaded = second.history.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === "image" ? [block.source.data] : [])),
  );
  expect(loaded.map((data, at) => data === images[at])).toEqual([true, true, true]);
  await Promise.all([first.close(), second.close()]);
});

test("rate-limits repeated copies of sessions", async () => {
  const interactive = { limits: { sessionsPerMinute: 3 } };
  const server = await startServer({ replies, auth: true, config: { serve: { users }, interactive } });
  onTestFinished(() => server.remove());
  const session = await createSession({ ...over(server, tokens.ann), cwd: server.bench.cwd });
  await session.send("hello");
  const copy = () => session.call("droid.fork_session", {});
  await copy();
  await copy();
  await expect(copy()).rejects.toThrow("Rate limit reached (3 sessions per minute)");
  await session.close();
});
