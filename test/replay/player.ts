import { execFile } from "node:child_process";
import { copyFile, mkdir, realpath, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { Bench } from "../e2e/tinman.ts";
import { createBench } from "../e2e/tinman.ts";
import type { Received, Wire } from "../fakes/rpc/wire.ts";
import { noticesIn, openWire } from "../fakes/rpc/wire.ts";
import type { MarkReader, Marks } from "./marks.ts";
import { createMarkReader } from "./marks.ts";
import type { ScriptedModel } from "./model.ts";
import { startScriptedModel } from "./model.ts";
import type { Pairing } from "./pairing.ts";
import { createPairing } from "./pairing.ts";
import type { End, Run, Step, Trace } from "./trace.ts";
import { clientMessages, writesOf } from "./trace.ts";

export interface PlayedRun {
  readonly received: readonly Received[];
  readonly end: End;
}

export interface Played {
  readonly runs: readonly PlayedRun[];
  /** Values in our lines that the traces have a name for. */
  readonly places: Readonly<Record<string, string>>;
}

/** Maximum wait for anything. */
const patienceMs = 20_000;

/** Plays the client's side of a trace to the built program, in its own workspace and with its own model. */
export async function play(trace: Trace): Promise<Played> {
  const bench = await createBench();
  const model = await startScriptedModel();
  try {
    const cwd = await prepare(bench, trace.name, model);
    const places = { "<cwd>": cwd, "<home>": bench.home, "<root>": bench.root, "127.0.0.1:18081": model.address };
    const runs: PlayedRun[] = [];
    for (const [index, run] of trace.runs.entries()) {
      const sessions = sessionsOf(trace.runs.slice(0, index + 1), runs);
      runs.push(await playRun(run, { bench, cwd, model, places, sessions }));
    }
    return { runs, places };
  } finally {
    await model.close();
    await bench.remove();
  }
}

const nothing = "  0     0    0     0    0     0      0      0 --:--:-- --:--:-- --:--:--     0";
const curlSays = `  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current
                                 Dload  Upload   Total   Spent    Left  Speed
\\r${nothing}\\r${nothing}
curl: (7) Failed to connect to 127.0.0.1 port 1 after 0 ms: Couldn'\\''t connect to server
`;

/** Programs in the traces that need a network, or whose output varies with their version. */
const standIns = {
  /** Waits for a registry's response that never comes. */
  npm: "exec sleep 60",
  curl: `printf '${curlSays.replaceAll("%", "%%")}' >&2; exit 7`,
};

/** The workspace that the traces imply, and the model under their clients' name. */
async function prepare(bench: Bench, name: string, model: ScriptedModel): Promise<string> {
  const cwd = join(bench.root, "ws", name);
  await makeFolder(cwd, name);
  if (name === "09_load") await makeFolder(`${cwd}_other`, name);
  await mkdir(join(bench.home, ".tinman"));
  const entry = { id: "custom:Fake-0", provider: "openai-compatible", model: "fake-1", displayName: "Fake" };
  const connection = { baseUrl: `http://${model.address}/v1`, apiKey: "none", thinkingField: "reasoning_content" };
  const models = { entries: [{ ...entry, ...connection, images: true, documents: true }] };
  const config = { model: entry.id, models, fetch: { allowPrivate: ["127.0.0.1"] } };
  await writeFile(join(bench.home, ".tinman", "config.yaml"), JSON.stringify(config));
  await copyFile(new URL("./tiny-server.mjs", import.meta.url), join(bench.root, "mcp.mjs"));
  for (const [name, script] of Object.entries(standIns)) {
    await writeFile(join(bench.root, "bin", name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  return await realpath(cwd);
}

async function makeFolder(folder: string, name: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "README.md"), "hello\n");
  if (name === "01_init_nogit") return;
  const identity = "-c user.name=a -c user.email=a@example.com";
  const git = [
    "git init --quiet --template= --initial-branch=master",
    "git add README.md",
    `git ${identity} commit --quiet --message first`,
    ...(name === "01_init_git_remote" ? ["git remote add origin https://github.com/acme/widget.git"] : []),
  ].join(" && ");
  const env = { PATH: process.env.PATH, HOME: dirname(folder), GIT_CONFIG_NOSYSTEM: "1" };
  await promisify(execFile)("sh", ["-c", git], { cwd: folder, env });
}

/** Session ids of the trace -> ours, both from the response that opened the session. */
function sessionsOf(theirs: readonly Run[], ours: readonly PlayedRun[]): Map<string, string> {
  const sessions = new Map<string, string>();
  for (const [index, run] of ours.entries()) {
    const messages = (theirs[index]?.steps ?? []).flatMap((step) => (step.by === "server" ? [step.message] : []));
    pairSessions(sessions, messages, run.received);
  }
  return sessions;
}

function pairSessions(into: Map<string, string>, theirs: readonly Received[], ours: readonly Received[]): void {
  for (const { id, result } of theirs) {
    const mine = ours.find((message) => message.id === id && message.result !== undefined);
    if (typeof result?.sessionId === "string" && typeof mine?.result?.sessionId === "string") {
      into.set(result.sessionId, mine.result.sessionId);
    }
  }
}

interface Stage {
  readonly bench: Bench;
  readonly cwd: string;
  readonly model: ScriptedModel;
  readonly places: Readonly<Record<string, string>>;
  readonly sessions: Map<string, string>;
}

async function playRun({ steps }: Run, { bench, cwd, model, places, sessions }: Stage): Promise<PlayedRun> {
  const wire = openWire(bench, { cwd, patienceMs });
  const sentIds = clientMessages(steps).flatMap(({ id, type }) => (type === "request" ? [id] : []));
  const theirs = createMarkReader((id) => sentIds.filter((one) => one === id).length);
  const ours = createMarkReader();
  const seen: Received[] = [];
  const inOurPlaces = (text: string): string => {
    let own = text;
    for (const [name, place] of Object.entries(places)) own = own.replaceAll(name, place);
    for (const [id, mine] of [...sessions, ...pairing.requests]) own = own.replaceAll(id, mine);
    return own;
  };
  const pairing = createPairing(steps, inOurPlaces);
  wire.subscribe((message) => {
    if (message.type === "request" && !pairing.take(message)) sayYes(wire, message);
    ours.read(message);
  });

  let end: End | undefined;
  try {
    for (const step of steps) {
      if (step.by === "server") {
        theirs.read(step.message);
        seen.push(step.message);
        continue;
      }
      const goal = theirs.marks();
      const prompt = inOurPlaces(goal.prompt);
      // What is already held stays held until everything sent so far has its response.
      if (!isUnderWay(ours.marks(), prompt) && goal.pieces > 0) model.holdAfter(prompt, goal.pieces);
      await reach(wire, "its answers", () => ours.marks().responses >= goal.responses);
      if (goal.pieces > 0) model.holdAfter(prompt, goal.pieces);
      else model.release();
      await reach(wire, JSON.stringify(goal), () => isReached(goal, ours.marks(), pairing));
      pairSessions(sessions, seen, wire.received);
      await serversSettled(wire);
      perform(step, { wire, ours, pairing, inOurPlaces });
    }
    model.release();
    end = await wire.exit();
  } finally {
    if (end === undefined) wire.kill("SIGKILL");
  }
  return { received: wire.received, end: { code: end.code, signal: end.signal } };
}

const isUnderWay = ({ prompt, pieces }: Marks, expected: string): boolean => prompt === expected && pieces > 0;

/** Whether we have come as far as the trace's server had, or never will because our turn is over. */
function isReached(goal: Marks, ours: Marks, pairing: Pairing): boolean {
  const idles = goal.idles - [...goal.taken].filter((id) => ours.refused.has(id)).length;
  if (ours.idles < idles) return false;
  if (ours.idles > idles) return true;
  return (
    goal.asked.every((id) => pairing.requests.has(id)) &&
    ours.pieces >= goal.pieces &&
    (!goal.isWorking || (ours.isWorking && ours.isUsageTold)) &&
    (!goal.hasPrinted || ours.hasPrinted)
  );
}

/** Their clients gave servers a second to connect after each change. */
async function serversSettled(wire: Wire): Promise<void> {
  const method = wire.sent.at(-1)?.method;
  if (typeof method !== "string" || !/_mcp_(?:server|tool)$/.test(method)) return;
  await sleep(300);
  const isSettled = (): boolean => {
    const last = noticesIn(wire.received).findLast(({ type }) => type === "mcp_status_changed");
    return (last?.summary as { readonly connecting?: number } | undefined)?.connecting === 0;
  };
  await reach(wire, "its servers", isSettled);
}

async function reach(wire: Wire, what: string, holds: () => boolean): Promise<void> {
  if (!holds()) await wire.waitFor(holds, what, wire.received.length);
}

interface Scene {
  readonly wire: Wire;
  readonly ours: MarkReader;
  readonly pairing: Pairing;
  inOurPlaces(text: string): string;
}

function perform(step: Exclude<Step, { by: "server" }>, { wire, ours, pairing, inOurPlaces }: Scene): void {
  if (step.by === "driver") {
    if (step.event === "end of input") wire.eof();
    // A driver that ran out of patience: here nothing waits for a running command.
    else if (ours.marks().isWorking) wire.kill("SIGKILL");
    return;
  }
  const { sent } = step;
  if (!("message" in sent)) {
    for (const write of writesOf(sent)) wire.sendRaw(write);
    return;
  }
  const { type, id } = sent.message;
  // Requests that we did not make are not answered.
  if (type === "response" && !pairing.requests.has(String(id))) return;
  wire.send(JSON.parse(inOurPlaces(JSON.stringify(sent.message))) as object);
}

/** To requests that only we make. */
function sayYes(wire: Wire, request: Received): void {
  const isQuestion = request.method === "droid.ask_user";
  wire.answer(request, isQuestion ? { cancelled: true, answers: [] } : { selectedOption: "proceed_once" });
}
