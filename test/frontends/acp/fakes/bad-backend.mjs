/*
 * A backend that behaves in each of its lives as the next line of the file `lives` says (the last line repeats). It
 * records what it receives in `heard`, each line after the number of its life.
 */
import { appendFileSync, readFileSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";

const read = (/** @type {string} */ file) => {
  try {
    return readFileSync(file, "utf8").trim().split("\n");
  } catch {
    return [];
  }
};
const plans = read("lives");
const life = read("pids").length;
appendFileSync("pids", `${process.pid}\n`);
const [what, step] = (plans[Math.min(life, plans.length - 1)] ?? "good").split(":");

/** @type {(fields: object) => unknown} */
const say = (fields) => writeSync(1, `${JSON.stringify({ jsonrpc: "2.0", factoryApiVersion: "1.0.0", ...fields })}\n`);
/** @type {(notification: object) => unknown} */
const notify = (notification) =>
  say({ type: "notification", method: "droid.session_notification", params: { notification } });
/** @type {(id: string, result: object) => unknown} */
const answer = (id, result) => say({ type: "response", id, result });
/** @type {(newState: string) => unknown} */
const state = (newState) => notify({ type: "droid_working_state_changed", newState });

const autonomyLevel = what === "bold" ? "high" : "off";
const settings = { modelId: "m", reasoningEffort: "none", interactionMode: "auto", autonomyLevel };
const sessionId = `of-${process.cwd().split("/").at(-1)}`;
const session = { messages: [] };

/** @param {string} place */
function reached(place) {
  if (what !== "dies" || step !== place) return;
  writeSync(2, `last words of ${place}\n`);
  process.exit(3);
}

const toolUse = { type: "tool_use", id: "c", name: "Execute", input: { command: "ls" } };
const exec = { toolUse, confirmationType: "exec", details: { type: "exec", fullCommand: "ls", impactLevel: "low" } };
const hidden = "rm -rf /\n\u202ekcehc # \u001b[2K\u200b";
const yesOrNo = ["proceed_once", "proceed_always", "cancel"].map((value) => ({ value, label: value }));

/** @type {Readonly<Record<string, object>>} */
const questions = {
  plain: { toolUses: [exec], options: yesOrNo },
  "no-calls": { toolUses: [], options: yesOrNo },
  "no-options": { toolUses: [exec], options: [] },
  "only-yes": { toolUses: [exec], options: yesOrNo.slice(0, 1) },
  "strange-option": { toolUses: [exec], options: [{ value: "proceed_like_mad", label: "Yes" }] },
  hidden: {
    toolUses: [
      {
        ...exec,
        toolUse: { ...toolUse, input: { command: hidden } },
        details: { ...exec.details, fullCommand: hidden },
      },
    ],
    options: [{ value: "proceed_once", label: hidden }],
  },
  unreadable: { toolUses: [{ toolUse: { ...toolUse, input: "ls" } }], options: yesOrNo },
};

/** @type {(id: string, question: object | undefined) => unknown} */
const ask = (id, question) => say({ type: "request", id, method: "droid.request_permission", params: question ?? {} });

function finish() {
  const content = [{ type: "text", text: `Life ${life}.` }];
  notify({ type: "create_message", message: { id: `m${life}`, role: "assistant", content } });
  state("idle");
}

/** @param {string} id */
function turn(id) {
  answer(id, {});
  state("streaming_assistant_message");
  notify({ type: "assistant_text_delta", messageId: `m${life}`, blockIndex: 0, textDelta: "Life" });
  reached("turn");
  if (what === "asks" || what === "asks-and-dies") {
    ask("q", questions[step ?? "plain"]);
    if (what === "asks-and-dies") process.exit(3);
    return;
  }
  if (what === "stubborn" || what === "deaf") return;
  finish();
  reached("idle");
}

/** @type {Readonly<Record<string, (id: string) => unknown>>} */
const readers = {
  "droid.initialize_session"(id) {
    reached("open");
    if (what === "asks-early") ask("early", questions.plain);
    if (what === "mute" || step === "mute") return;
    answer(id, { sessionId, session, settings });
  },
  "droid.load_session"(id) {
    reached("open");
    if (what === "mute" || step === "mute") return;
    answer(id, { session, settings, cwd: process.cwd() });
  },
  "droid.list_models"(id) {
    if (what === "ignorant") return;
    answer(id, { models: [] });
    reached("opened");
  },
  "droid.add_user_message": turn,
  // A stubborn one ignores it.
  "droid.interrupt_session"(id) {
    answer(id, {});
    if (what === "asks") state("idle");
  },
};

if (what === "deaf") {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => undefined);
  setInterval(() => undefined, 60_000);
}
reached("start");
createInterface({ input: process.stdin }).on("line", (line) => {
  appendFileSync("heard", `${life} ${line}\n`);
  const { id, method, type } = JSON.parse(line);
  if (type === "response") return id === "q" ? finish() : undefined;
  const reader = readers[method];
  if (reader !== undefined) reader(id);
  else if (what !== "ignorant")
    say({ type: "response", id, error: { code: -32601, message: `There is no ${method}.` } });
});
