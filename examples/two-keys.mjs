#!/usr/bin/env node
// One session with two keys: created with KEY1, loaded and continued with KEY2. Sessions are independent of keys.
//
//   KEY1=… KEY2=… node two-keys.mjs [executable]
//
// KEY_VARIABLE names the variable that the model's provider reads, such as ANTHROPIC_API_KEY. FACTORY_API_KEY is also set.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";

const executable = process.argv[2] ?? process.env.TINMAN ?? "tinman";
const { KEY1, KEY2, KEY_VARIABLE = "FACTORY_API_KEY" } = process.env;
const fail = (why, code) => {
  process.stderr.write(`${why}\n`);
  process.exit(code);
};
if (!KEY1 || !KEY2) fail("Set KEY1 and KEY2.", 2);
const formats = ["--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"];
const versions = { jsonrpc: "2.0", factoryApiVersion: "1.0.0", factoryProtocolVersion: "1.15.0" };

/** Lines end at LF only; text can contain other characters that some readers treat as line ends. */
async function* messages(stream) {
  let rest = "";
  for await (const text of stream.setEncoding("utf8")) {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line.trim() !== "") yield JSON.parse(line);
  }
}

/** One process with this key, and one turn. `opened` is the response to the request that opens the session. */
async function converse(key, method, params, text) {
  const env = { ...process.env, FACTORY_API_KEY: key, [KEY_VARIABLE]: key };
  const child = spawn(executable, ["exec", ...formats], { env, stdio: ["pipe", "pipe", "inherit"] });
  child.on("error", (error) => fail(error.message, 1));
  const send = (message) => child.stdin.write(`${JSON.stringify({ ...versions, ...message })}\n`);
  const request = (id, name, given) => send({ type: "request", id, method: `droid.${name}`, params: given });
  let opened = {};
  let answer = "";
  request("open", method, params);
  for await (const message of messages(child.stdout)) {
    if (message.id === "open") {
      opened = message;
      if (message.result) request("say", "add_user_message", { text });
    }
    // No user to ask: declines permissions and questions.
    const no = { selectedOption: "cancel", cancelled: true, answers: [] };
    if (message.type === "request") send({ type: "response", id: message.id, result: no });
    const news = message.params?.notification;
    if (news?.type === "assistant_text_delta") answer += news.textDelta;
    if (message.error || news?.type === "error") process.stderr.write(`${(message.error ?? news).message}\n`);
    const hasEnded = news?.type === "agent_turn_completed";
    if (hasEnded && news.reason !== "completed") process.stderr.write(`turn ended: ${news.reason}\n`);
    if (message.error || news?.newState === "idle") child.stdin.end();
  }
  return { opened, answer };
}

const say = (line) => process.stdout.write(`${line}\n`);
const token = `TOKEN-${randomBytes(6).toString("hex")}`;
const first = { machineId: "example", cwd: process.cwd(), autonomyLevel: "off" };
const turn1 = await converse(KEY1, "initialize_session", first, `The token is ${token}. Just reply OK.`);
const sessionId = turn1.opened.result?.sessionId;
say(`turn1.sessionId ${sessionId}`);

const question = "What token did I tell you? Reply ONLY the token.";
const turn2 = await converse(KEY2, "load_session", { sessionId }, question);
const isFound = turn2.answer.includes(token);
say(`turn2.load_session.ok ${turn2.opened.result !== undefined}`);
say(`token.found_in_turn2 ${isFound ? "True" : "False"}`);
process.exitCode = isFound ? 0 : 1;
