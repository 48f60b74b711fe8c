import { once } from "node:events";
import { readFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { isFinal, textIn } from "../../frontends/interactive/served.ts";
import { replies } from "./replies.ts";
import { type Server, startServer, tokens, users } from "./server.ts";
import { connectTo, isCall, isChunk, isStatus, type WireClient } from "./wire-client.ts";

/** Two servers cover most of the keys, each with a non-default value. */
let impatient: Server;
let strict: Server;
const clients: WireClient[] = [];

beforeAll(async () => {
  [impatient, strict] = await Promise.all([
    startServer({
      replies,
      config: {
        serve: {
          hosts: ["agent.example.org"],
          origins: ["https://page.example.org"],
          rpc: "nobody",
          limits: { payloadBytes: 900_000 },
          timeouts: { stalled: "500ms" },
        },
        interactive: {
          toolExecutionChoices: ["server"],
          autonomy: "low",
          timeouts: { ai: "700ms", toolResult: "700ms", idleSession: "500ms" },
          limits: { queuedMessages: 2 },
        },
      },
    }),
    startServer({
      replies,
      auth: true,
      config: {
        serve: {
          users,
          rpc: "admins",
          limits: { connections: 4, connectionsPerUser: 3, unsentBytes: 100_000 },
          timeouts: { ping: "1s" },
        },
        interactive: { toolExecution: "server", limits: { sessionsPerMinute: 3, messagesPerMinute: 4 } },
      },
    }),
  ]);
});
afterAll(() => Promise.all([impatient.remove(), strict.remove()]));
// Connections of one test must not count in the next.
afterEach(async () => {
  for (const client of clients.splice(0)) client.socket.terminate();
  while ((await strict.metric('connections{route="/ws"}')) > 0) await new Promise((resolve) => setTimeout(resolve, 10));
});

async function connected(to: Server, token?: string): Promise<WireClient> {
  const client = await to.connect(token);
  clients.push(client);
  return client;
}

/** A client that requests much and reads nothing; resolves with the server's log of it. */
async function cutOff(server: Server): Promise<unknown> {
  const client = await connected(server);
  client.socket.pause();
  const text = "x".repeat(800_000);
  for (let at = 0; at < 30; at += 1) client.post(at, "echo", { text });
  return (await server.logged(({ event }) => event === "connection.cut")).reason;
}

const effects: Readonly<Record<string, () => Promise<void>>> = {
  async "serve.hosts"() {
    const codes = ["agent.example.org", "agent.example.org:443", "other.example.org"].map(
      async (Host) => (await impatient.get("/healthz", { Host })).code,
    );
    expect(await Promise.all(codes)).toEqual([200, 200, 403]);
  },

  async "serve.origins"() {
    const client = await connectTo(impatient.url, { Origin: "https://page.example.org" });
    client.socket.terminate();
    await expect(connectTo(impatient.url, { Origin: "https://other.example.org" })).rejects.toThrow("403");
  },

  async "serve.users"() {
    const client = await connected(strict, tokens.vic);
    expect((await client.request("capabilities")).result).toMatchObject({ user: "vic", role: "viewer" });
    await expect(strict.connect("a-token-of-nobody")).rejects.toThrow("401");
  },

  async "serve.rpc"() {
    const codeFor = async (token: string): Promise<number> =>
      (await strict.get("/rpc", { Authorization: `Bearer ${token}` })).code;
    expect([await codeFor(strict.token), await codeFor(tokens.ann), await codeFor(tokens.vic)]).toEqual([
      426, 403, 403,
    ]);
    const rpc = ({ url }: Server): string => url.replace(/ws$/, "rpc");
    await expect(connectTo(rpc(strict), { Authorization: `Bearer ${tokens.ann}` })).rejects.toThrow("403");
    await expect(connectTo(rpc(impatient))).rejects.toThrow("404");
  },

  async "serve.limits.connections"() {
    for (const token of [tokens.vic, tokens.vic, tokens.ann, tokens.ann]) await connected(strict, token);
    await expect(strict.connect(tokens.bob)).rejects.toThrow("503");
  },

  async "serve.limits.connectionsPerUser"() {
    for (let at = 0; at < 3; at += 1) await connected(strict, tokens.vic);
    await expect(strict.connect(tokens.vic)).rejects.toThrow("503");
    await connected(strict, tokens.ann);
  },

  async "serve.limits.payloadBytes"() {
    const client = await connected(impatient);
    client.raw(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "echo", params: { message: "x".repeat(800_000) } }));
    await client.next();
    client.raw("x".repeat(900_001));
    expect((await client.closedWith).code).toBe(1009);
  },

  async "serve.limits.unsentBytes"() {
    expect(await cutOff(strict)).toBe("unsent");
  },

  async "serve.timeouts.ping"() {
    const deaf = new WebSocket(strict.url, {
      headers: { Authorization: `Bearer ${tokens.vic}` },
      autoPong: false,
    });
    const [code] = await once(deaf, "close");
    expect(code).toBe(1006);
  },

  async "serve.timeouts.stalled"() {
    expect(await cutOff(impatient)).toBe("stalled");
  },

  async "serve.timeouts.drain"() {
    const server = await startServer({ replies, config: { serve: { timeouts: { drain: "300ms" } } } });
    onTestFinished(() => server.remove());
    const client = await server.connect();
    const sessionId = await client.start();
    await client.request("sendUserMessage", { sessionId, message: "hang" });
    await client.until(isChunk);
    const ended = once(server.process, "exit");
    server.process.kill("SIGTERM");
    const frames = await client.until(isFinal);
    expect(frames[0]).toMatchObject({ method: "ErrorNotification", params: { data: { reason: "draining" } } });
    expect(frames.at(-1)?.params).toMatchObject({ reason: "interrupted" });
    expect([(await client.closedWith).code, await ended]).toEqual([1001, [0, null]]);
  },

  async "interactive.toolExecution"() {
    const client = await connected(strict);
    const sessionId = await client.start();
    const frames = await client.ask(sessionId, "make a file");
    expect(frames.find(isCall)?.params).toMatchObject({ toolName: "Create", execution: "server" });
    // Without a user to ask, it was denied.
    expect(textIn(frames)).toMatch(/^Made: Error/);
    await expect(strict.bench.read("made.txt")).rejects.toThrow("ENOENT");
  },

  async "interactive.toolExecutionChoices"() {
    const [free, bound] = [await connected(impatient), await connected(strict, tokens.ann)];
    const chosen = { userId: "u", sessionParams: { toolExecution: "server" } };
    expect((await free.request("startSession", chosen)).result).toMatchObject({ status: 1 });
    const other = { userId: "u", sessionParams: { toolExecution: "client" } };
    // The default can always be chosen, even if the list lacks it.
    expect((await free.request("startSession", other)).result).toMatchObject({ status: 1 });
    expect((await bound.request("startSession", other)).error).toMatchObject({
      code: -32602,
      data: { reason: "tool_execution" },
    });
  },

  async "interactive.autonomy"() {
    const client = await connected(impatient);
    const sessionId = await client.start({ toolExecution: "server" });
    const frames = await client.ask(sessionId, "make a file");
    expect(frames.find(({ method }) => method === "ToolResultNotification")?.params).toMatchObject({ status: 0 });
    expect(await impatient.bench.read("made.txt")).toBe("by the model\n");
  },

  async "interactive.timeouts.ai"() {
    const client = await connected(impatient);
    const sessionId = await client.start();
    await client.request("sendUserMessage", { sessionId, message: "stay silent" });
    expect((await client.until(isStatus(3))).at(-1)?.params).toMatchObject({ reason: "timeout" });
  },

  async "interactive.timeouts.toolResult"() {
    const client = await connected(impatient);
    const sessionId = await client.start();
    expect(textIn(await client.ask(sessionId, "one tool"))).toMatch(/^Looking\. It says: Error: /);
  },

  async "interactive.timeouts.idleSession"() {
    const client = await connected(impatient);
    const sessionId = await client.start();
    client.socket.terminate();
    const line = await impatient.logged((each) => each.event === "session.ended" && each.sessionId === sessionId);
    expect(line).toMatchObject({ reason: "disconnected" });
  },

  async "interactive.limits.queuedMessages"() {
    const client = await connected(impatient);
    const sessionId = await client.start();
    // One is answered, two wait, and one is too many.
    const ids = ["a", "b", "c", "d"];
    for (const id of ids) client.post(id, "sendUserMessage", { sessionId, message: id === "a" ? "hang" : "hello" });
    let ends = 0;
    const frames = await client.until((frame) => isFinal(frame) && ++ends === 3);
    expect(frames.find(({ id }) => id === "d")?.error).toEqual({
      code: -32000,
      message: "Message queue full (2 waiting). Wait for an answer.",
      data: { reason: "queue_full" },
    });
    expect(ids.slice(0, 3).map((id) => frames.find((frame) => frame.id === id)?.result?.status)).toEqual([0, 0, 0]);
    expect(textIn(await client.ask(sessionId, "hello"))).toBe("Hello you");
  },

  async "interactive.limits.openSessions"() {
    const server = await startServer({ config: { interactive: { limits: { openSessions: 1 } } } });
    onTestFinished(() => server.remove());
    const client = await connected(server);
    await client.start();
    expect((await client.request("startSession", { userId: "u" })).error).toEqual({
      code: -32000,
      message: "Session limit reached (1). Stop one first.",
      data: { reason: "too_many_sessions" },
    });
  },

  async "interactive.limits.sessionsPerMinute"() {
    const [client, other] = [await connected(strict, tokens.bob), await connected(strict, tokens.ann)];
    for (let at = 0; at < 3; at += 1) await client.start();
    expect((await client.request("startSession", { userId: "somebody else" })).error).toEqual({
      code: -32000,
      message: expect.stringMatching(/^Rate limit reached \(3 sessions per minute\)\. Try again in \d+ s\.$/),
      data: { reason: "rate_limited", limit: "sessions", retryAfterMs: expect.any(Number) },
    });
    expect(await other.start()).toEqual(expect.any(String));
  },

  async "interactive.limits.messagesPerMinute"() {
    const [client, other] = [await connected(strict), await connected(strict, tokens.ann)];
    const sessionId = await client.start();
    let refused: unknown;
    // Other tests' messages also count towards the user's limit.
    for (let at = 0; at < 5 && refused === undefined; at += 1) {
      refused = (await client.request("sendUserMessage", { sessionId, message: "hello" })).error;
    }
    expect(refused).toEqual({
      code: -32000,
      message: expect.stringMatching(/^Rate limit reached \(4 messages per minute\)\. Try again in \d+ s\.$/),
      data: { reason: "rate_limited", limit: "messages", retryAfterMs: expect.any(Number) },
    });
    expect(textIn(await other.ask(await other.start(), "hello"))).toBe("Hello you");
  },
};

interface Described {
  readonly properties?: Readonly<Record<string, Described>>;
}

function keysIn({ properties }: Described, path: string): string[] {
  if (properties === undefined) return [path];
  return Object.entries(properties).flatMap(([name, inner]) => keysIn(inner, `${path}.${name}`));
}

test("every configuration key has a row in the documentation and a test here", () => {
  const { properties } = JSON.parse(readFileSync("schema/config.schema.json", "utf8")) as Described;
  const keys = ["serve", "interactive"].flatMap((name) => keysIn(properties?.[name] ?? {}, name));
  expect(Object.keys(effects)).toEqual(keys);
  const rows = readFileSync("docs/configuration.md", "utf8").matchAll(/^\| `((?:serve|interactive)\.[^`]*)` \|/gm);
  expect([...rows].map(([, key]) => key)).toEqual(keys);
});

test.each(Object.entries(effects))("%s has an effect", (_, show) => show());
