#!/usr/bin/env node
// Sends a prompt that makes the agent ask a question, and answers it.
//
//   node question.mjs [executable] [answer …]
//
// Answers are used in order; further questions are asked at the terminal. Nothing is permitted here. The exit code is
// 0 if the turn completed.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const [executable = process.env.TINMAN ?? "tinman", ...prepared] = process.argv.slice(2);
const text = "ask me which colour I want: red or blue";
const formats = ["--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"];
const versions = { jsonrpc: "2.0", factoryApiVersion: "1.0.0", factoryProtocolVersion: "1.15.0" };
const say = (line) => process.stdout.write(`${line}\n`);

/** Lines end at LF only; text can contain other characters that some readers treat as line ends. */
async function* messages(stream) {
  let rest = "";
  for await (const piece of stream.setEncoding("utf8")) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line.trim() !== "") yield JSON.parse(line);
  }
}

let terminal;
let typed;
/** Undefined if the terminal was closed. */
async function answerTo({ topic, question, options }) {
  say(`\n[${topic}] ${question} ${options.join(" / ")}`);
  if (prepared.length > 0) return prepared.shift();
  terminal ??= createInterface({ input: process.stdin });
  typed ??= terminal[Symbol.asyncIterator]();
  return (await typed.next()).value;
}

/** All answers or none, because an incomplete set is an error for the agent. */
async function answersTo(questions) {
  const answers = [];
  for (const one of questions) {
    const answer = await answerTo(one);
    if (answer === undefined) return { cancelled: true, answers: [] };
    answers.push({ index: one.index, question: one.question, answer });
  }
  return { cancelled: false, answers };
}

const child = spawn(executable, ["exec", ...formats], { stdio: ["pipe", "pipe", "inherit"] });
child.on("error", (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
process.exitCode = 1; // Until the turn completes.
const send = (message) => child.stdin.write(`${JSON.stringify({ ...versions, ...message })}\n`);
const request = (id, method, params) => send({ type: "request", id, method: `droid.${method}`, params });
const respond = (id, result) => send({ type: "response", id, result });

request("open", "initialize_session", { machineId: "example", cwd: process.cwd(), autonomyLevel: "off" });
for await (const message of messages(child.stdout)) {
  const { id, method, params, error } = message;
  const news = params?.notification;
  if (error || news?.type === "error") process.stderr.write(`${(error ?? news).message}\n`);
  if (id === "open" && !error) request("say", "add_user_message", { text });
  if (method === "droid.ask_user") respond(id, await answersTo(params.questions));
  if (method === "droid.request_permission") respond(id, { selectedOption: "cancel" });
  if (news?.type === "assistant_text_delta") process.stdout.write(news.textDelta);
  if (news?.type === "assistant_text_complete") say("");
  if (news?.type === "agent_turn_completed") {
    if (news.reason === "completed") process.exitCode = 0;
    else process.stderr.write(`turn ended: ${news.reason}\n`);
  }
  if (error || news?.newState === "idle") child.stdin.end();
}
terminal?.close();
