/**
 * A backend for measuring clients: it answers every request, and a prompt with the requested number of pieces, all
 * prepared before the first is sent.
 */

const versions = { jsonrpc: "2.0", factoryApiVersion: "1.0.0", factoryProtocolVersion: "1.15.0" };
const perMessage = 1_000;

/** @param {object} message */
function line(message) {
  return `${JSON.stringify({ ...versions, ...message })}\n`;
}

/** @param {object} notification */
function notice(notification) {
  return line({ type: "notification", method: "droid.session_notification", params: { notification } });
}

/**
 * @param {string} turnId
 * @param {number} pieces
 */
function turn(turnId, pieces) {
  const lines = [notice({ type: "droid_working_state_changed", newState: "streaming_assistant_message" })];
  let text = "";
  for (let piece = 1; piece <= pieces; piece++) {
    const messageId = `${turnId}-${Math.ceil(piece / perMessage)}`;
    const textDelta = `word ${piece} `;
    text += textDelta;
    lines.push(notice({ type: "assistant_text_delta", messageId, blockIndex: 0, textDelta }));
    if (piece % perMessage !== 0 && piece !== pieces) continue;
    const content = [{ type: "text", text }];
    lines.push(notice({ type: "create_message", message: { id: messageId, role: "assistant", content } }));
    text = "";
  }
  lines.push(notice({ type: "agent_turn_completed", turnId, reason: "completed" }));
  lines.push(notice({ type: "droid_working_state_changed", newState: "idle" }));
  process.stdout.write(lines.join(""));
}

let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (text) => {
  const lines = (rest + text).split("\n");
  rest = lines.pop() ?? "";
  for (const each of lines) {
    const { id, method, params } = JSON.parse(each);
    process.stdout.write(line({ type: "response", id, result: { sessionId: "s", session: { messages: [] } } }));
    if (method === "droid.add_user_message") turn(params.messageId, Number(params.text));
  }
});
process.stdin.on("end", () => process.exit());
