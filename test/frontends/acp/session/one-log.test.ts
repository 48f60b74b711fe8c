import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Bench, createBench } from "../../../e2e/tinman.ts";
import { openWire } from "../../../fakes/rpc/wire.ts";
import { type Editor, openEditor, textOf, type Update } from "../fakes/raw-editor.ts";

/* Sessions are independent of front ends: each one finds the whole session and appends to the same log. */

const secrets = { alpha: "DOLPHIN-1", beta: "DOLPHIN-2", gamma: "DOLPHIN-3", delta: "DOLPHIN-4" } as const;

/** Only a model that gets the earlier text can answer. */
const replies = [
  ...Object.entries(secrets).map(([name, secret]) => {
    return { when: { user: `What is ${name}?`, contains: secret }, times: "any", text: `${name} is known. ` };
  }),
  { when: { user: "What is" }, times: "any", text: "Nobody told me." },
  { when: { user: "alpha" }, tool_calls: [{ name: "LS", input: { directory_path: "." } }] },
  { when: { after_tool: "LS" }, text: "Noted: alpha." },
  { times: "any", text: "Noted." },
];

let bench: Bench;
let model: string;
let agent: Editor;
let adapter: Editor;

beforeAll(async () => {
  bench = await createBench();
  model = await bench.script(replies);
  agent = openEditor(bench);
  adapter = openEditor(bench, { args: ["--backend", join(bench.root, "bin", "tinman")] });
  await Promise.all([agent.hello(), adapter.hello()]);
});

afterAll(async () => {
  await Promise.all([agent.leave(), adapter.leave()]);
  await bench.remove();
});

const tell = (name: keyof typeof secrets): string => `The password of ${name} is ${secrets[name]}.`;
const endTurn = { result: { stopReason: "end_turn" } };

/** A loaded session's output, as lines. */
async function loaded(editor: Editor, sessionId: string): Promise<readonly string[]> {
  const from = editor.wire.received.length;
  const answer = await editor.request("session/load", { sessionId, cwd: bench.cwd, mcpServers: [] });
  expect(answer).toHaveProperty("result.modes");
  // All of it comes before the response.
  const until = editor.wire.received.findIndex(({ result }, at) => at >= from && result !== undefined);
  const updates = editor.wire.received.slice(from, until).map(({ params }) => params?.update as Update);
  return updates.map((update) => {
    const { sessionUpdate, title, status } = update;
    return sessionUpdate.startsWith("tool_call")
      ? [sessionUpdate, title, status].filter((each) => each !== undefined).join(" ")
      : `${sessionUpdate}: ${textOf([update], sessionUpdate)}`;
  });
}

const beginning = [
  `user_message_chunk: ${tell("alpha")}`,
  "tool_call List . pending",
  "tool_call_update completed",
  "agent_message_chunk: Noted: alpha.",
];
const said = (name: keyof typeof secrets) => [`user_message_chunk: ${tell(name)}`, "agent_message_chunk: Noted."];

it("moves from one front end to the next without losing anything", async () => {
  const first = await bench.tinman(["exec", "-m", model, "-o", "json", tell("alpha")]);
  const { session_id: sessionId } = JSON.parse(first.stdout) as { session_id: string };

  expect(await loaded(agent, sessionId)).toEqual(beginning);
  expect(await agent.prompt(sessionId, tell("beta"))).toEqual(endTurn);
  await agent.request("session/close", { sessionId });

  const wire = openWire(bench);
  const { result } = await wire.request("droid.load_session", { sessionId });
  expect(JSON.stringify(result)).toContain(secrets.beta);
  await wire.request("droid.add_user_message", { text: tell("gamma") });
  await wire.waitForNotice("droid_working_state_changed", 0, { newState: "idle" });
  wire.eof();
  await wire.exit();

  const fourth = await bench.tinman(["exec", "-s", sessionId, "-o", "json", tell("delta")]);
  expect(JSON.parse(fourth.stdout)).toMatchObject({ session_id: sessionId, result: "Noted." });

  const whole = [...beginning, ...said("beta"), ...said("gamma"), ...said("delta")];
  expect(await loaded(adapter, sessionId)).toEqual(whole);
  await adapter.request("session/close", { sessionId });
  expect(await loaded(agent, sessionId)).toEqual(whole);

  const from = agent.updates(sessionId).length;
  for (const name of Object.keys(secrets)) await agent.prompt(sessionId, `What is ${name}?`);
  const known = Object.keys(secrets).map((name) => `${name} is known. `);
  expect(textOf(agent.updates(sessionId).slice(from))).toBe(known.join(""));

  const files = readdirSync(join(bench.home, ".tinman", "sessions"), { recursive: true }).map(String);
  expect(files.filter((file) => file.endsWith(".jsonl"))).toEqual([expect.stringContaining(sessionId)]);

  await agent.request("session/close", { sessionId });
  const fork = await bench.tinman(["exec", "--fork", sessionId, "-o", "json", "What is gamma?"]);
  const copy = JSON.parse(fork.stdout) as { session_id: string; result: string };
  expect([copy.session_id === sessionId, copy.result]).toEqual([false, "gamma is known."]);
  const copied = await loaded(agent, copy.session_id);
  expect(copied.slice(0, whole.length)).toEqual(whole);
  expect(copied.at(-1)).toBe("agent_message_chunk: gamma is known. ");
});
