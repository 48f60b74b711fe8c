import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isFinal, textIn } from "../../frontends/interactive/served.ts";
import { madeUp } from "../tinman.ts";
import { replies } from "./replies.ts";
import { type Server, startServer, tokens, users } from "./server.ts";
import { isCall, isStatus } from "./wire-client.ts";

let server: Server;

beforeAll(async () => {
  server = await startServer({ replies, auth: true, config: { serve: { users } }, args: ["--log-level", "debug"] });
});
afterAll(() => server.remove());

test("no user can use, follow, cancel or stop another's session, which continues undisturbed", async () => {
  const [ann, bob] = [await server.connect(tokens.ann), await server.connect(tokens.bob)];
  const sessionId = await ann.start();
  await ann.request("sendUserMessage", { sessionId, message: "one tool" });
  const { toolCallId } = (await ann.until(isCall)).at(-1)?.params ?? {};
  const params = { sessionId, message: "x", toolCallId, result: "forged" };
  for (const method of ["sendUserMessage", "provideToolResult", "cancel", "resumeSession"]) {
    const { error } = await bob.request(method, params);
    expect(error).toEqual((await bob.request(method, { ...params, sessionId: "nonexistent" })).error);
    expect(error).toMatchObject({ code: -32602, data: { reason: "unknown_session" } });
  }
  expect((await bob.request("stopSession", { sessionId })).result).toEqual({ status: 2 });
  expect((await bob.request("listSessions")).result).toEqual({ sessions: [] });
  await ann.request("provideToolResult", { sessionId, toolCallId, result: "hers" });
  expect(textIn(await ann.until(isFinal))).toBe("It says: hers");
  expect(bob.frames.filter(({ method }) => method !== undefined)).toEqual([]);
  expect(ann.frames.filter(isStatus(2))).toEqual([]);
  await Promise.all([ann.close(), bob.close()]);
});

test("a session is its user's on all of their connections", async () => {
  const [one, other] = [await server.connect(tokens.ann), await server.connect(tokens.ann)];
  const sessionId = await one.start();
  expect(textIn(await other.ask(sessionId, "hello"))).toBe("Hello you");
  expect(textIn(await one.until(isFinal))).toBe("Hello you");
  await other.request("stopSession", { sessionId });
  expect((await one.until(isStatus(2))).at(-1)?.params).toMatchObject({ sessionId, reason: "completed" });
  await Promise.all([one.close(), other.close()]);
});

test("of two connections that see a tool call, the first answer counts, and both see the result", async () => {
  const [one, other] = [await server.connect(tokens.ann), await server.connect(tokens.ann)];
  const sessionId = await one.start();
  await other.request("resumeSession", { sessionId });
  await one.request("sendUserMessage", { sessionId, message: "one tool" });
  const [mine, theirs] = [await one.until(isCall), await other.until(isCall)].map((frames) => frames.at(-1)?.params);
  expect(mine).toEqual(theirs);
  const { toolCallId } = mine ?? {};
  expect((await other.request("provideToolResult", { sessionId, toolCallId, result: "first" })).result).toBeDefined();
  const second = await one.request("provideToolResult", { sessionId, toolCallId, result: "second" });
  expect(second.error).toMatchObject({ code: -32602, data: { reason: "unexpected_tool_result" } });
  for (const client of [one, other]) {
    if (!client.frames.some(isFinal)) await client.until(isFinal);
    expect(textIn(client.frames)).toBe("Looking. It says: first");
    expect(client.frames.filter(isFinal)).toHaveLength(1);
  }
  await Promise.all([one.close(), other.close()]);
});

test("a watcher can follow, and nothing else", async () => {
  const [ann, vic] = [await server.connect(tokens.ann), await server.connect(tokens.vic)];
  const sessionId = await ann.start();
  const params = { userId: "v", sessionId, message: "x", toolCallId: "x", result: "x" };
  for (const method of ["startSession", "sendUserMessage", "provideToolResult", "stopSession", "cancel"]) {
    expect((await vic.request(method, params)).error).toMatchObject({ code: -32000, data: { reason: "forbidden" } });
  }
  expect((await vic.request("resumeSession", { sessionId, afterSeq: 1 })).result).toMatchObject({ sessionId });
  await ann.ask(sessionId, "hello");
  const seen = await vic.until(isFinal);
  expect(seen[0]).toMatchObject({ method: "UserMessageNotification", params: { sessionId, message: "hello" } });
  expect(textIn(seen)).toBe("Hello you");
  await Promise.all([ann.close(), vic.close()]);
});

test("the session's log and the list record who started it, and for whom", async () => {
  const ann = await server.connect(tokens.ann);
  const sessionId = await ann.start({}, "customer 7");
  await ann.ask(sessionId, "hello");
  const listed = async (): Promise<unknown> => {
    const { sessions = [] } = (await ann.request("listSessions")).result ?? {};
    return (sessions as Record<string, unknown>[]).find((each) => each.sessionId === sessionId);
  };
  expect(await listed()).toMatchObject({ userId: "customer 7", status: 1, title: expect.any(String) });
  const isStart = (line: Record<string, unknown>): boolean => line.event === "session.started";
  const line = await server.logged((each) => isStart(each) && each.sessionId === sessionId);
  expect(line).toMatchObject({ user: "ann", userId: "customer 7" });
  const { stdout } = await server.bench.shell(`grep -rl ${sessionId} "$HOME/.tinman/sessions"`);
  const [file = ""] = stdout.split("\n");
  const [opened = "{}"] = (await readFile(file, "utf8")).split("\n");
  expect(opened).toContain('"userId":"customer 7"');
  expect(opened).toContain('"owner":"ann"');
  await ann.request("stopSession", { sessionId });
  await ann.until(isStatus(2));
  expect(await listed()).toMatchObject({ userId: "customer 7", status: 2 });
  await ann.close();
});

test("the log has what happened, and never contents, even at its highest level", async () => {
  const [said, context, result, broken] = [madeUp(), madeUp(), madeUp(), madeUp()];
  const ann = await server.connect(tokens.ann);
  const sessionId = await ann.start({ context });
  await ann.ask(sessionId, said);
  await ann.request("sendUserMessage", { sessionId, message: "one tool" });
  const { toolCallId } = (await ann.until(isCall)).at(-1)?.params ?? {};
  await ann.request("provideToolResult", { sessionId, toolCallId, result });
  await ann.until(isFinal);
  await ann.request("sendUserMessage", { sessionId, message: { [broken]: broken } });
  ann.raw(broken);
  await ann.request("stopSession", { sessionId });
  await server.logged((line) => line.event === "session.ended" && line.sessionId === sessionId);
  const log = JSON.stringify(server.log);
  for (const secret of [said, context, result, broken, ...Object.values(tokens), server.token]) {
    expect(log).not.toContain(secret);
  }
  expect(server.log.some(({ level }) => level === "debug")).toBe(true);
  await ann.close();
});
