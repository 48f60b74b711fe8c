import { writeFileSync } from "node:fs";
import { Socket } from "node:net";
import { createInterface } from "node:readline";

/*
 * A backend that sends as fast as its pipe takes it. A prompt is JSON: number and size of deltas, and deltas per
 * message. PROGRESS names a file with the number sent. With IS_DEAF it writes like Node's own stdout, and reads nothing
 * while its output is not read.
 */

/** @typedef {{ deltas: number, size: number, perMessage: number }} Flood */

const { PROGRESS, IS_DEAF } = process.env;
const versions = { jsonrpc: "2.0", factoryApiVersion: "1.0.0" };
const settings = { modelId: "m", reasoningEffort: "none", interactionMode: "auto", autonomyLevel: "off" };
const output = IS_DEAF ? process.stdout : new Socket({ fd: 1 });
output.on("error", () => process.exit());
let isInterrupted = false;

/** @param {object} message */
async function send(message) {
  if (output.write(`${JSON.stringify({ ...versions, ...message })}\n`)) return;
  await new Promise((resolve) => output.once("drain", resolve));
}

/** @param {object} notification */
function notify(notification) {
  return send({ type: "notification", method: "droid.session_notification", params: { notification } });
}

/** @param {number} number */
function note(number) {
  if (PROGRESS !== undefined) writeFileSync(PROGRESS, String(number));
}

/**
 * @param {string} turnId
 * @param {Flood} flood
 */
async function turn(turnId, { deltas, size, perMessage }) {
  isInterrupted = false;
  await notify({ type: "droid_working_state_changed", newState: "streaming_assistant_message" });
  const filling = "x".repeat(size);
  let text = "";
  for (let number = 1; number <= deltas && !isInterrupted; number++) {
    const messageId = `m-${turnId}-${Math.ceil(number / perMessage)}`;
    const textDelta = `${number} `.padEnd(size, filling);
    text += textDelta;
    await notify({ type: "assistant_text_delta", messageId, blockIndex: 0, textDelta });
    if (number % 100 === 0) {
      note(number);
      // Requests in the meantime are answered.
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (number % perMessage !== 0 && number !== deltas) continue;
    const content = [{ type: "text", text }];
    await notify({ type: "create_message", message: { id: messageId, role: "assistant", content } });
    text = "";
  }
  note(deltas);
  const reason = isInterrupted ? "cancelled" : "completed";
  await notify({ type: "agent_turn_completed", turnId, reason });
  await notify({ type: "droid_working_state_changed", newState: "idle" });
}

/** @type {Readonly<Record<string, (params: { messageId: string, text: string }) => object>>} */
const answers = {
  "droid.initialize_session": () => ({ sessionId: `s-${process.pid}`, session: { messages: [] }, settings }),
  "droid.list_models": () => ({ models: [] }),
  "droid.interrupt_session": () => {
    isInterrupted = true;
    return {};
  },
  "droid.add_user_message": ({ messageId, text }) => {
    setImmediate(() => void turn(messageId, JSON.parse(text)));
    return {};
  },
};

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    void send({ type: "response", id, result: answers[method]?.(params) ?? {} });
  })
  .on("close", () => process.exit());
