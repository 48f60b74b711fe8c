import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Bench } from "../e2e/tinman.ts";
import { createBench } from "../e2e/tinman.ts";
import type { Received, Wire } from "../fakes/rpc/wire.ts";
import { noticesIn, openWire } from "../fakes/rpc/wire.ts";
import { isFullRun } from "../full-run.ts";
import { drawsFor, figures, forEach, hangMs, ownHome, seed } from "./form.ts";
import type { Extent, Killing, Moment, Outcome } from "./kills.ts";
import { addKill, drawMoment, killAt, newTally } from "./kills.ts";
import { keptOf, nothingWrong, toldOver, verdictOf } from "./told.ts";

const kills = isFullRun ? 250 : 8;
const extent: Extent = { ms: 1_800, lines: 75, writes: 40, commands: [2, 5, 5] };
const protocolVersion = "1.15.0";

let bench: Bench;
beforeAll(async () => {
  bench = await createBench();
  await bench.file("a.txt", "hello\n");
});
afterAll(() => bench.remove());

function scenario(marks: string): readonly object[] {
  const run = (n: number, more: string) => ({
    name: "Execute",
    input: { command: `echo ${n} >> ${marks}; ${more}`, timeout: 600 },
  });
  const look = [
    { name: "LS", input: {} },
    { name: "Read", input: { file_path: "a.txt" } },
  ];
  return [
    { when: { user: "and now" }, text: "Here again.", times: "any" },
    {
      reasoning: ["Thinking ", "about it."],
      text: ["One ", "begins."],
      chunk_delay_ms: 10,
      tool_calls: [...look, run(1, "sleep 0.1")],
    },
    {
      text: ["More ", "x".repeat(5_000)],
      chunk_delay_ms: 10,
      tool_calls: [run(2, "sleep 600 & setsid sleep 600 & :")],
    },
    { text: "One is done." },
    { text: ["Two ", "begins."], chunk_delay_ms: 10, tool_calls: [run(3, "sleep 0.02"), run(4, "exit 3")] },
    { text: "Two is done." },
    { text: "Three begins.", tool_calls: [run(5, "sleep 600 & (setsid sleep 600 &); sleep 600")] },
  ];
}

/** Settings and titles in order of their requests: the stored ones must not be older than the reported ones. */
const levels = ["off", "low", "medium", "high"];
const titles = ["one", "Named", "Named again"];

/**
 * A client that grants permissions once and always, queues a prompt behind a command, and changes title and settings
 * during turns and between them. With `goesOn`, a final command runs until it is killed.
 */
async function converse(wire: Wire, modelId: string, goesOn: boolean): Promise<void> {
  const open = { machineId: "m", cwd: bench.cwd, modelId, autonomyLevel: "off" };
  const { result } = await wire.request("droid.initialize_session", open);
  if (result === undefined) return;
  const say = (text: string) => wire.request("droid.add_user_message", { text, messageId: `${text}-of-${wire.pid}` });
  const answers = ["proceed_once", "proceed_always", "proceed_once", "proceed_once"];
  wire.subscribe((message) => {
    if (message.method === "droid.request_permission") wire.answer(message, { selectedOption: answers.shift() });
  });
  await say("one");
  await wire.waitForNotice("permission_resolved");
  await say("two");
  await wire.request("droid.rename_session", { title: titles[1] });
  await wire.request("droid.update_session_settings", { autonomyLevel: "low" });
  await wire.waitForNotice("agent_turn_completed", 0, { turnId: `two-of-${wire.pid}` });
  await wire.request("droid.update_session_settings", { autonomyLevel: "high" });
  await wire.request("droid.rename_session", { title: titles[2] });
  if (goesOn) await say("three");
}

/** The latest settings and title reported to the client. */
function standing({ received, sent }: Wire): { level: number; title: number; sessionId: string | undefined } {
  const notices = noticesIn(received);
  const of = (type: string) => notices.filter((notice) => notice.type === type);
  const granted = new Set(received.flatMap(({ id, result }) => (result === undefined ? [] : [id])));
  const params = sent.flatMap((one) => (granted.has(String(one.id)) ? [one.params as Record<string, unknown>] : []));
  const furthest = (order: readonly string[], told: readonly unknown[]): number =>
    Math.max(-1, ...told.map((each) => order.indexOf(String(each))));
  const settings = of("settings_updated").map((notice) => notice.settings as { autonomyLevel: string });
  const opened = received.find(({ result }) => result?.sessionId !== undefined)?.result;
  return {
    level: furthest(
      levels,
      [...settings, ...params].map(({ autonomyLevel }) => autonomyLevel),
    ),
    title: furthest(
      titles,
      [...of("session_title_updated"), ...params].map(({ title }) => title),
    ),
    sessionId: opened?.sessionId as string | undefined,
  };
}

/** Loads the session in a new process, and sends another prompt. */
async function goOn(sessionId: string): Promise<{ loaded: NonNullable<Received["result"]>; wrong: string[] }> {
  const wire = openWire(bench, { protocolVersion });
  const { result: loaded, error } = await wire.request("droid.load_session", { sessionId });
  if (loaded === undefined) throw new Error(`it cannot be loaded: ${error?.message}`);
  const { error: refused } = await wire.request("droid.add_user_message", { text: "and now" });
  if (refused === undefined) await wire.waitForNotice("droid_working_state_changed", 0, { newState: "idle" });
  const ends = noticesIn(wire.received).flatMap(({ type, reason }) =>
    type === "agent_turn_completed" ? [reason] : [],
  );
  wire.eof();
  const { code } = await wire.exit();
  return { loaded, wrong: String(ends) === "completed" && code === 0 ? [] : [`it went on with ${ends}, ${code}`] };
}

async function killed(moment: Moment, marks: string, goesOn: boolean): Promise<{ wire: Wire; killing: Killing }> {
  const model = await bench.script(scenario(marks));
  const killing = killAt(moment, join(bench.cwd, marks), () => wire.kill("SIGKILL"));
  const wire = openWire(bench, { protocolVersion, env: { ...killing.env, TMPDIR: bench.root } });
  wire.subscribe(() => killing.line());
  // The awaited message cannot come once the program is killed.
  await converse(wire, model, goesOn).catch(() => undefined);
  return { wire, killing };
}

async function killAndLoad(moment: Moment, marks: string, goesOn: boolean): Promise<Outcome> {
  const { wire, killing } = await killed(moment, marks, goesOn);
  // A truncated line does not count as reported.
  const signal = await wire.exit().then(
    (exit) => exit.signal,
    () => "SIGKILL" as const,
  );
  const orphans = killing.stop();
  const told = toldOver(wire);
  const { sessionId, level, title } = standing(wire);
  if (sessionId === undefined) return { signal, phase: undefined, verdict: nothingWrong, orphans: await orphans };
  const phase = (await keptOf(ownHome(bench), sessionId)).types.at(-1);
  const { loaded, wrong } = await goOn(sessionId);
  const kept = await keptOf(ownHome(bench), sessionId);
  const verdict = verdictOf(told, kept, await bench.read(marks).catch(() => ""));
  const {
    session,
    settings,
    queuedMessages = [],
  } = loaded as {
    session: { messages: { id: string }[]; title?: string };
    settings: { autonomyLevel: string };
    queuedMessages?: { text: string }[];
  };
  const shown = session.messages.map(({ id }) => id);
  const isTorn = moment.at === "write" && moment.place === "torn";
  const lost = [
    ...verdict.lost,
    ...[...told.messages.keys()].filter((id) => !shown.includes(id)).map((id) => `${id} is not shown`),
    ...(levels.indexOf(settings.autonomyLevel) < level ? [`the level is ${settings.autonomyLevel} again`] : []),
    ...(titles.indexOf(session.title ?? "") < title ? [`the title is ${session.title} again`] : []),
  ];
  const duplicates = [
    ...verdict.duplicates,
    ...queuedMessages.filter(({ text }) => shown.includes(`${text}-of-${wire.pid}`)).map(({ text }) => `${text} waits`),
  ];
  const odd = kept.damagedLines > (isTorn ? 1 : 0) ? ["damaged lines"] : [];
  return {
    signal,
    phase,
    verdict: { lost, duplicates, wrong: [...verdict.wrong, ...wrong, ...odd] },
    orphans: await orphans,
  };
}

test(`stream-jsonrpc, killed with -9 at ${kills} moments: loses nothing it reported, does nothing twice, leaves nothing behind`, {
  timeout: hangMs,
}, async () => {
  const tally = newTally();
  await forEach(kills, (nth) => {
    const random = drawsFor(nth);
    const moment = drawMoment(nth, random, extent);
    const where = `kill ${nth} of seed ${seed}, ${JSON.stringify(moment)}`;
    return addKill(tally, where, () =>
      killAndLoad(moment, `marks-${nth}.txt`, moment.at === "command" || random.chance(0.5)),
    );
  });
  figures("kill -9, stream-jsonrpc", { ...tally.counts, phases: tally.phases });
  expect(tally.findings).toEqual([]);
  expect(tally.counts.kills).toBe(kills);
  expect(tally.counts.reached).toBeGreaterThan(kills / 3);
});
