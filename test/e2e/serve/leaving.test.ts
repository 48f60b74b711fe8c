import { afterAll, beforeAll, expect, test } from "vitest";
import { isFinal, textIn } from "../../frontends/interactive/served.ts";
import { replies } from "./replies.ts";
import { type Server, startServer } from "./server.ts";
import { isChunk, isStatus } from "./wire-client.ts";

let server: Server;

beforeAll(async () => {
  server = await startServer({ replies, config: { interactive: { timeouts: { idleSession: "1s" } } } });
});
afterAll(() => server.remove());

function endOf(sessionId: string): Promise<Record<string, unknown>> {
  return server.logged((line) => line.event === "session.ended" && line.sessionId === sessionId);
}

test("sessions without clients are closed after a while, and leave nothing behind", async () => {
  const clients = await Promise.all(Array.from({ length: 6 }, () => server.connect()));
  const sessions = await Promise.all(clients.map((client) => client.start()));
  await Promise.all(clients.map((client, at) => client.ask(sessions[at] ?? "", "hello")));
  expect(await server.metric("sessions")).toBe(6);
  for (const client of clients) client.socket.terminate();
  for (const sessionId of sessions) {
    expect(await endOf(sessionId)).toMatchObject({ level: "info", status: 2, reason: "disconnected", user: "local" });
  }
  expect(await server.metric("sessions")).toBe(0);
  expect(await server.metric('connections{route="/ws"}')).toBe(0);
});

test("an answer running when its client leaves is finished, and available to clients that return in time", async () => {
  const gone = await server.connect();
  const sessionId = await gone.start();
  const { result } = await gone.request("sendUserMessage", { sessionId, message: "slow answer" });
  await gone.until(isChunk);
  gone.socket.terminate();
  await server.logged((line) => line.event === "turn.ended" && line.sessionId === sessionId);
  const back = await server.connect();
  expect((await back.request("resumeSession", { sessionId, afterSeq: result?.seq })).result).toMatchObject({
    sessionId,
    running: false,
  });
  const missed = await back.until(isFinal);
  expect(textIn(missed)).toBe("0 1 2 3 4 5 6 ");
  expect(missed.at(-1)?.params).toMatchObject({ messageId: result?.messageId, reason: "completed" });
  expect(textIn(await back.ask(sessionId, "hello"))).toBe("Hello you");
  await back.close();
  expect(await endOf(sessionId)).toMatchObject({ reason: "disconnected" });
});

test("a session with a connected client is not idle, however quiet", async () => {
  const quiet = await server.connect();
  const sessionId = await quiet.start();
  const left = await server.connect();
  const other = await left.start();
  left.socket.terminate();
  await endOf(other);
  expect(textIn(await quiet.ask(sessionId, "hello"))).toBe("Hello you");
  await quiet.request("stopSession", { sessionId });
  await quiet.until(isStatus(2));
  await quiet.close();
  expect(await endOf(sessionId)).toMatchObject({ reason: "completed" });
});
