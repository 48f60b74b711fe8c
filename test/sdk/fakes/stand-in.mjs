/*
 * A backend that misbehaves in one way, named by its last argument: "<what>" or "<what>:<step>:<exit>". It speaks just
 * enough of the protocol to get there. `exit` is a code, or a signal's name.
 */
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";

const [what, step, exit = "0"] = (process.argv.at(-1) ?? "").split(":");
/** @type {(text: string) => unknown} */
const say = (text) => writeSync(1, text);
/** @type {(fields: object) => string} */
const message = (fields) => `${JSON.stringify({ jsonrpc: "2.0", factoryApiVersion: "1.0.0", ...fields })}\n`;
/** @type {(notification: object) => unknown} */
const notify = (notification) =>
  say(message({ type: "notification", method: "droid.session_notification", params: { notification } }));
/** @type {(id: string, result: object) => unknown} */
const answer = (id, result) => say(message({ type: "response", id, result }));
/** @type {(id: string | null, code: number, words: string) => unknown} */
const fail = (id, code, words) => say(message({ type: "response", id, error: { code, message: words } }));
/** @type {(newState: string) => unknown} */
const state = (newState) => notify({ type: "droid_working_state_changed", newState });
/** @type {(textDelta: string) => unknown} */
const delta = (textDelta) => notify({ type: "assistant_text_delta", messageId: "m", blockIndex: 0, textDelta });
const settings = { modelId: "m", reasoningEffort: "none", interactionMode: "auto", autonomyLevel: "off" };

/** @param {string} place */
function reached(place) {
  if (what !== "dies" || step !== place) return;
  writeSync(2, `first words\nlast words of ${place}\n`);
  if (/^\d+$/.test(exit)) process.exit(Number(exit));
  process.kill(process.pid, exit);
  // The signal takes a moment; nothing more is sent before it.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

function reply() {
  const content = [{ type: "text", text: "Hello" }];
  notify({ type: "create_message", message: { id: "m", role: "assistant", content } });
}

function permission() {
  const toolUse = { type: "tool_use", id: "c", name: "Execute", input: { command: "ls" } };
  const details = { type: "exec", fullCommand: "ls" };
  const options = ["proceed_once", "cancel"].map((value) => ({ value, label: value }));
  const params = { toolUses: [{ toolUse, confirmationType: "exec", details }], options };
  say(message({ type: "request", id: "q", method: "droid.request_permission", params }));
}

/** @param {string} id */
function turn(id) {
  reached("before-ack");
  if (what === "null-id") return fail(null, -32600, "Invalid request format");
  answer(id, {});
  if (what === "twice") {
    answer(id, {});
    answer("nobody", {});
  }
  reached("after-ack");
  state("streaming_assistant_message");
  reached("busy");
  if (what === "quiet-turn") return;
  delta("Hel");
  if (step === "mid-line") say('{"jsonrpc":"2.0","type":"notification","method":"droid.session_no');
  reached("mid-line");
  reached("mid-delta");
  if (step === "asking") permission();
  reached("asking");
  if (what === "garbage") say('\u0000\u0001\n}{\n[[[\n{"type":\n\u{feff}\n{"id":"1"}\n{"method":7}\n');
  if (what === "flood") for (let nth = 0; nth < 20_000; nth += 1) delta(`${nth} `);
  reply();
  if (what === "twice") reply();
  state("idle");
  reached("idle");
}

/** @param {{ readonly id: string }} request */
const unknown = ({ id }) => fail(what === "null-id" ? null : id, -32601, "no such method");

/** @type {Readonly<Record<string, (request: { readonly id: string }) => unknown>>} */
const readers = {
  "droid.initialize_session"({ id }) {
    reached("before-open");
    if (what === "mute") return;
    answer(id, { sessionId: "s", session: { messages: [] }, settings });
    if (what === "twice") answer(id, { sessionId: "other", session: { messages: [] }, settings });
    reached("opened");
  },
  "droid.add_user_message": ({ id }) => turn(id),
  "droid.interrupt_session": ({ id }) => answer(id, {}),
  "droid.list_models": unknown,
  "droid.list_commands": unknown,
  "droid.get_context_stats": unknown,
};

if (what === "garbage") say("Welcome!\n\n\u001b[32mready\u001b[0m\n");
reached("start");
createInterface({ input: process.stdin }).on("line", (line) => {
  const request = JSON.parse(line);
  const read = readers[request.method];
  if (read !== undefined) read(request);
  else if (what === "null-id") fail(null, -32601, `no ${request.method}`);
  reached("answered");
});
