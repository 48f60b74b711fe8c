#!/usr/bin/env node
// One session in two processes: the first learns a password, the second loads the session and recalls it.
//
//   node resume.mjs [executable]
import { spawn } from "node:child_process";

const executable = process.argv[2] ?? process.env.TINMAN ?? "tinman";
const formats = ["--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"];
const versions = { jsonrpc: "2.0", factoryApiVersion: "1.0.0", factoryProtocolVersion: "1.15.0" };

function fail(why) {
  process.stderr.write(`${why}\n`);
  process.exit(1);
}

/** Lines end at LF only; text can contain other characters that some readers treat as line ends. */
async function* messages(stream) {
  let rest = "";
  for await (const text of stream.setEncoding("utf8")) {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line.trim() !== "") yield JSON.parse(line);
  }
}

/** One process and one turn: opens a session with this request, sends the text, and returns both responses. */
async function converse(method, params, text) {
  const child = spawn(executable, ["exec", ...formats], { stdio: ["pipe", "pipe", "inherit"] });
  child.on("error", (error) => fail(error.message));
  const send = (message) => child.stdin.write(`${JSON.stringify({ ...versions, ...message })}\n`);
  const request = (id, name, given) => send({ type: "request", id, method: `droid.${name}`, params: given });
  let opened;
  let answer = "";
  request("open", method, params);
  for await (const message of messages(child.stdout)) {
    if (message.error) fail(message.error.message);
    if (message.id === "open") {
      opened = message.result;
      request("say", "add_user_message", { text });
    }
    // No user to ask: declines permissions and questions.
    const no = { selectedOption: "cancel", cancelled: true, answers: [] };
    if (message.type === "request") send({ type: "response", id: message.id, result: no });
    const news = message.params?.notification;
    if (news?.type === "assistant_text_delta") answer += news.textDelta;
    if (news?.type === "error") fail(news.message);
    const hasEnded = news?.type === "agent_turn_completed";
    if (hasEnded && news.reason !== "completed") fail(`turn ended: ${news.reason}`);
    // Closing its input ends the process.
    if (news?.newState === "idle") child.stdin.end();
  }
  return opened === undefined ? fail("The program exited without a response.") : { opened, answer };
}

const say = (line) => process.stdout.write(`${line}\n`);
const first = { machineId: "example", cwd: process.cwd(), autonomyLevel: "off" };
const turn1 = await converse("initialize_session", first, "The password is DOLPHIN-2288. Just reply OK.");
const { sessionId } = turn1.opened;
say(`sessionId ${sessionId}`);
say(`turn 1: ${turn1.answer}`);

const question = "What password did I tell you? Reply ONLY the password.";
const turn2 = await converse("load_session", { sessionId }, question);
say(`load_session -> ${turn2.opened.session.messages.length} history messages`);
say(`turn 2: ${turn2.answer}`);

const isRemembered = turn2.answer.includes("DOLPHIN-2288");
say(`RESULT: ${isRemembered ? "SUCCESS" : "FAILED"}`);
process.exitCode = isRemembered ? 0 : 1;
