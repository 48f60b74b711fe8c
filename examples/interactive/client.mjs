// node client.mjs [message]: one session of tinman serve, one message, and the streamed answer.
import { WebSocket } from "ws";

const [message = "Hello"] = process.argv.slice(2);
const { TINMAN_URL = "ws://127.0.0.1:8000/ws", TINMAN_TOKEN } = process.env;
const headers = TINMAN_TOKEN ? { Authorization: `Bearer ${TINMAN_TOKEN}` } : {};
const socket = new WebSocket(TINMAN_URL, { headers });
const tools = new Map([["clock", () => new Date().toISOString()]]);
const run = (call) => tools.get(call.toolName)?.(call.arguments) ?? "There is no such tool here.";
let lastId = 0;
const send = (method, params) => socket.send(JSON.stringify({ jsonrpc: "2.0", id: ++lastId, method, params }));
const fail = (words) => {
  process.stderr.write(`${words}\n`);
  process.exitCode = 1;
};

socket.on("open", () => send("startSession", { userId: "example", sessionParams: { tools: [{ name: "clock" }] } }));
socket.on("error", (error) => fail(error.message));
socket.on("close", (code) => code === 1005 || fail(`The connection was closed (${code}).`));
socket.on("message", (data) => {
  const { method, params = {}, result, error } = JSON.parse(data);
  const { sessionId, toolCallId, chunk, isFinal, status, reason } = params;
  if (result?.sessionId) send("sendUserMessage", { sessionId: result.sessionId, message });
  if (method === "ToolCallNotification") send("provideToolResult", { sessionId, toolCallId, result: run(params) });
  if (method === "AIMessageChunkNotification") process.stdout.write(isFinal ? `${chunk}\n` : chunk);
  if (isFinal) send("stopSession", { sessionId });
  if (method === "SessionStatusNotification" && status === 3) fail(reason);
  if (error) fail(error.message);
  if (error || (method === "SessionStatusNotification" && status === 2)) socket.close();
});
