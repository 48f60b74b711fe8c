#!/usr/bin/env node
// Sends a prompt, and asks the user at the terminal for permissions.
//
//   node permission.mjs [--yes|--no] [executable] [prompt]
//
// --yes allows everything once, --no refuses; the default asks. Questions are not answered here. The exit code is 0 if
// the turn completed.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const words = process.argv.slice(2).filter((word) => word !== "--yes" && word !== "--no");
const [executable = process.env.TINMAN ?? "tinman", text = "create file hello.txt with Hello!"] = words;
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

/** The call's effect, in one or a few lines. */
function describe({ toolUse, details }) {
  if (details.fullCommand !== undefined) return `${details.fullCommand}  (${details.impactLevel} impact)`;
  if (details.type === "exit_spec_mode") return `the plan:\n${details.plan}`;
  return `${toolUse.name} ${details.filePath}\n${details.newContent ?? details.content ?? details.patchContent ?? ""}`;
}

let terminal;
let typed;
async function choose({ toolUses, options }) {
  for (const one of toolUses) say(`\n> ${describe(one)}`);
  if (process.argv.includes("--yes")) return "proceed_once";
  if (process.argv.includes("--no")) return "cancel";
  options.forEach(({ label }, index) => {
    say(`  ${index + 1}. ${label}`);
  });
  terminal ??= createInterface({ input: process.stdin });
  typed ??= terminal[Symbol.asyncIterator]();
  // Anything but a listed number means no, as does a closed terminal.
  const { value = "" } = await typed.next();
  return options[Number(value) - 1]?.value ?? "cancel";
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
  if (method === "droid.request_permission") respond(id, { selectedOption: await choose(params) });
  if (method === "droid.ask_user") respond(id, { cancelled: true, answers: [] });
  if (news?.type === "assistant_text_delta") process.stdout.write(news.textDelta);
  if (news?.type === "assistant_text_complete") say("");
  if (news?.type === "agent_turn_completed") {
    say(`turn ended: ${news.reason}`);
    if (news.reason === "completed") process.exitCode = 0;
  }
  if (error || news?.newState === "idle") child.stdin.end();
}
terminal?.close();
