import { once } from "node:events";
import { type Server, startServer, tokens, users } from "../e2e/serve/server.ts";
import { type Said, type Talk, talkTo } from "./ws-talk.ts";

/** A conversation of the page on `/ws`: what both sides sent, in the client's order. */
export type Conversation = (server: Server) => Promise<readonly Said[]>;

const final = { isFinal: true };
const chunk = "AIMessageChunkNotification";
const toolCall = "ToolCallNotification";
const status = "SessionStatusNotification";

const replies = [
  {
    when: { user: "umbrella" },
    times: "any",
    text: "Let me see. ",
    tool_calls: [{ name: "get_weather", input: { city: "Bergen" } }],
  },
  { when: { after_tool: "get_weather" }, times: "any", text: "It says: {{tool_result}}" },
  { when: { user: "story" }, times: "any", text: ["Once upon a time", " there was"], chunk_delay_ms: 3_600_000 },
  { when: { user: "again" }, times: "any", error: { status: 400, message: "No." } },
  { when: { user: "busy" }, error: { status: 429, message: "Slow down.", retry_after_ms: 10 } },
  { times: "any", text: "Here I am." },
];

/** By prefix of the conversations' names. */
const servers: Readonly<Record<string, () => Promise<Server>>> = {
  offline: () =>
    startServer({ config: { interactive: { toolExecutionChoices: ["client", "server"], autonomy: "low" } } }),
  scripted: () => startServer({ replies, config: { interactive: { timeouts: { ai: "1h" } } } }),
  hasty: () =>
    startServer({
      replies,
      config: {
        interactive: {
          timeouts: { ai: "2s", toolResult: "200ms" },
          limits: { queuedMessages: 1, sessionsPerMinute: 2 },
        },
      },
    }),
  named: () => startServer({ auth: true, config: { serve: { users } } }),
};

export async function serverOf(name: string): Promise<Server> {
  const start = servers[name.split("-")[0] ?? ""];
  if (start === undefined) throw new Error(`no server is meant by "${name}"`);
  return start();
}

function talk(about: (talk: Talk, server: Server) => Promise<unknown>, token?: string): Conversation {
  return async (server) => {
    const one = await talkTo(server.url, token);
    await about(one, server);
    await one.leave();
    return one.said;
  };
}

/** By their names on the page: the server, and the subject. */
export const conversations: Readonly<Record<string, Conversation>> = {
  "offline-plain": talk(async ({ start, ask, call, until }) => {
    const sessionId = await start({ language: "English", context: "The user is new here." });
    ask("sendUserMessage", { sessionId, message: "Just reply OK." });
    await until(chunk, final);
    await call("stopSession", { sessionId });
    await until(status, { status: 2 });
  }),
  "offline-tool": talk(async ({ start, ask, call, until }) => {
    const sessionId = await start();
    ask("sendUserMessage", { sessionId, message: "read notes.txt" });
    const { toolCallId } = await until(toolCall);
    await call("provideToolResult", { sessionId, toolCallId, result: "bring milk" });
    await until(chunk, final);
    await call("provideToolResult", { sessionId, toolCallId, result: "bring tea" });
  }),
  "offline-server": talk(async ({ start, ask, until }) => {
    const sessionId = await start({ toolExecution: "server" });
    ask("sendUserMessage", { sessionId, message: "create file hello.txt with Hello!" });
    await until(chunk, final);
    ask("sendUserMessage", { sessionId, message: "run `curl http://127.0.0.1`" });
    await until(chunk, final);
  }),
  "offline-cancel": talk(async ({ start, ask, call, until }) => {
    const sessionId = await start();
    ask("sendUserMessage", { sessionId, message: "read notes.txt" });
    await until(toolCall);
    await call("sendUserMessage", { sessionId, message: "Just reply LATER." });
    await call("cancel", { sessionId });
    await until(chunk, final);
    await until(chunk, final);
  }),
  "offline-resume": async (server) => {
    const one = await talkTo(server.url);
    const sessionId = await one.start();
    one.ask("sendUserMessage", { sessionId, message: "Just reply OK." });
    await one.until(chunk, final);
    one.ask("sendUserMessage", { sessionId, message: "read notes.txt" });
    await one.until(toolCall);
    await one.leave();
    const two = await talkTo(server.url, undefined, one.said);
    two.ask("resumeSession", { sessionId, afterSeq: 8 });
    const { toolCallId } = await two.until(toolCall);
    await two.call("provideToolResult", { sessionId, toolCallId, result: "bring milk" });
    await two.until(chunk, final);
    await two.leave();
    return one.said;
  },
  "offline-others": talk(async ({ start, call }) => {
    await call("echo", { message: "Is anybody there?" });
    await start();
    await call("listSessions", { limit: 1 });
    await call("capabilities");
  }),
  "offline-errors": talk(async ({ start, call, raw, until }) => {
    const sessionId = await start();
    for (const text of ["{", "[]", '{"jsonrpc":"2.0","method":"echo"}', '{"jsonrpc":"1.0","id":"a","method":"echo"}'])
      raw(text);
    await call("startsession", {});
    await call("startSession", {});
    await call("startSession", { userId: "user-1", sessionParams: { model: "gpt-none" } });
    await call("startSession", { userId: "user-1", sessionParams: { tools: [{ name: "a" }, { name: "a" }] } });
    await call("sendUserMessage", { sessionId: "nobody's", message: "Hello" });
    await call("sendUserMessage", { sessionId, message: 5 });
    await until(status, { status: 3 });
    await call("stopSession", { sessionId: "nobody's" });
  }),
  "scripted-declared": talk(async ({ start, ask, call, until }) => {
    const properties = { city: { type: "string" } };
    const inputSchema = { type: "object", properties, required: ["city"] };
    const sessionId = await start({
      tools: [{ name: "get_weather", description: "The weather in a city.", inputSchema }],
    });
    ask("sendUserMessage", { sessionId, message: "Do I need an umbrella?" });
    const { toolCallId } = await until(toolCall);
    await call("provideToolResult", { sessionId, toolCallId, result: "the station is closed", isError: true });
    await until(chunk, final);
  }),
  "scripted-partial": async (server) => {
    const one = await talkTo(server.url);
    const sessionId = await one.start();
    one.ask("sendUserMessage", { sessionId, message: "Tell me a story." });
    await one.until(chunk);
    await one.leave();
    const two = await talkTo(server.url, undefined, one.said);
    await two.call("resumeSession", { sessionId, afterSeq: 2 });
    await two.until(chunk, { snapshot: true });
    await two.call("cancel", { sessionId });
    await two.until(chunk, final);
    await two.leave();
    return one.said;
  },
  "scripted-failure": talk(async ({ start, ask, until }) => {
    const sessionId = await start();
    ask("sendUserMessage", { sessionId, message: "Are you busy?" });
    await until(chunk, final);
    ask("sendUserMessage", { sessionId, message: "And again?" });
    await until(status, { status: 3 });
  }),
  "hasty-timeout": talk(async ({ start, ask, call, until }) => {
    const sessionId = await start();
    ask("sendUserMessage", { sessionId, message: "Tell me a story." });
    await until(chunk);
    await call("sendUserMessage", { sessionId, message: "Are you there?" });
    await call("sendUserMessage", { sessionId, message: "Hello?" });
    await until(status, { status: 3 });
    await until(chunk, final);
    const other = await start({ tools: [{ name: "get_weather" }] });
    ask("sendUserMessage", { sessionId: other, message: "Do I need an umbrella?" });
    await until(chunk, final);
    await call("startSession", { userId: "user-1" });
  }),
  "named-viewer": talk(async ({ call }) => {
    await call("capabilities");
    await call("startSession", { userId: "user-1" });
  }, tokens.vic),
  /** The last one of its server. */
  "named-stop": async (server) => {
    const one = await talkTo(server.url, server.token);
    await one.start();
    server.process.kill("SIGTERM");
    await one.until("ErrorNotification");
    await once(server.process, "exit");
    return one.said;
  },
};
