const { randomUUID } = require("node:crypto");
const { ask } = require("./bare-client.cjs");

/**
 * A minimal server for clients of `stream-jsonrpc`: it answers every request, calls the model and forwards the reply,
 * without history, tools or disk writes.
 * `node rpc-floor.cjs <port> <model>`.
 */

const [port = "", model = ""] = process.argv.slice(2);
const versions = { factoryApiVersion: "1.0.0", factoryProtocolVersion: "1.15.0" };
const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
let waiting = "";

/**
 * Batches lines into one write, because writes are the main cost.
 * @param {object} message
 */
function write(message) {
  if (waiting === "") process.nextTick(flush);
  waiting += `${JSON.stringify(message)}\n`;
}

function flush() {
  process.stdout.write(waiting);
  waiting = "";
}

/** @param {object} notification */
function notify(notification) {
  write({
    jsonrpc: "2.0",
    type: "notification",
    ...versions,
    method: "droid.session_notification",
    params: { notification },
    _meta: { traceparent },
  });
}

/**
 * @param {string} requestId
 * @param {string} prompt
 */
async function turn(requestId, prompt) {
  notify({ type: "droid_working_state_changed", newState: "streaming_assistant_message" });
  notify({ type: "create_message", message: message("user", prompt), requestId });
  const messageId = randomUUID();
  let answer = "";
  await ask({
    port,
    wire: "chat",
    model,
    onText(textDelta) {
      answer += textDelta;
      notify({ type: "assistant_text_delta", messageId, blockIndex: 0, textDelta });
    },
  });
  notify({ type: "assistant_text_complete", messageId, blockIndex: 0 });
  notify({ type: "create_message", message: { ...message("assistant", answer), id: messageId } });
  notify({ type: "droid_working_state_changed", newState: "idle" });
}

/**
 * @param {string} role
 * @param {string} text
 */
function message(role, text) {
  const now = Date.now();
  return { id: randomUUID(), role, content: [{ type: "text", text }], createdAt: now, updatedAt: now };
}

/** @param {string} line */
function handle(line) {
  const { id, method, params } = JSON.parse(line);
  const isNew = method === "droid.initialize_session";
  const result = isNew ? { sessionId: randomUUID(), session: { messages: [] }, settings: { modelId: model } } : {};
  write({ jsonrpc: "2.0", type: "response", ...versions, id, result });
  if (!isNew) void turn(id, params.text);
}

let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (piece) => {
  const lines = (rest + piece).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) handle(line);
});
process.stdin.on("end", () => process.exit());
