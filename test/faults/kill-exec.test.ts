import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Bench } from "../e2e/tinman.ts";
import { createBench, lines } from "../e2e/tinman.ts";
import { isFullRun } from "../full-run.ts";
import { drawsFor, figures, forEach, hangMs, ownHome, seed } from "./form.ts";
import type { Extent, Moment, Outcome } from "./kills.ts";
import { addKill, drawMoment, killAt, newTally } from "./kills.ts";
import type { Told } from "./told.ts";
import { keptOf, nothingWrong, verdictOf } from "./told.ts";

const kills = isFullRun ? 250 : 8;
const extent: Extent = { ms: 1_400, lines: 16, writes: 26, commands: [2, 4, 4] };

let bench: Bench;
beforeAll(async () => {
  bench = await createBench();
  await bench.file("a.txt", "hello\n");
});
afterAll(() => bench.remove());

/** Text, thinking, sequential and parallel tools; finally a command that runs until it is killed. */
function scenario(marks: string): readonly object[] {
  const run = (n: number, more: string) => ({
    name: "Execute",
    input: { command: `echo ${n} >> ${marks}; ${more}`, timeout: 600 },
  });
  return [
    {
      reasoning: ["Thinking ", "about it."],
      text: ["Step ", "one ", "begins."],
      chunk_delay_ms: 10,
      tool_calls: [run(1, "sleep 0.02"), run(2, "sleep 600 & setsid sleep 600 & sleep 0.02")],
    },
    {
      text: ["Step ", "two ", "x".repeat(5_000)],
      chunk_delay_ms: 10,
      tool_calls: [{ name: "LS", input: {} }, { name: "Read", input: { file_path: "a.txt" } }, run(3, "exit 3")],
    },
    {
      text: ["Step ", "three."],
      chunk_delay_ms: 10,
      tool_calls: [run(4, "sleep 600 & (setsid sleep 600 &); sleep 600")],
    },
    { when: { user: "and now" }, text: "Here again.", times: "any" },
  ];
}

interface Killed {
  readonly sessionId: string | undefined;
  readonly told: Told;
  readonly signal: NodeJS.Signals | null;
  readonly orphans: Promise<readonly number[]>;
}

async function killed(moment: Moment, model: string, marks: string): Promise<Killed> {
  const killing = killAt(moment, join(bench.cwd, marks), () => child.kill("SIGKILL"));
  const child = bench.start(["exec", "-o", "stream-json", "--auto", "high", "-m", model, "go"], {
    env: { ...killing.env, TMPDIR: bench.root },
  });
  child.stdin?.end();
  let output = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    for (const _ of text.matchAll(/\n/g)) killing.line();
    output += text;
  });
  const signal = await new Promise<NodeJS.Signals | null>((resolve) => child.on("close", (_, by) => resolve(by)));
  const events = lines(output.slice(0, output.lastIndexOf("\n") + 1));
  const texts = (type: string, key: string): ReadonlyMap<string, string> =>
    new Map(events.filter((event) => event.type === type).map((event) => [String(event.id), String(event[key])]));
  const told = { messages: texts("message", "text"), results: texts("tool_result", "value"), prompts: [] };
  const sessionId = events[0]?.session_id as string | undefined;
  return { sessionId, told: { ...told, answered: new Set() }, signal, orphans: killing.stop() };
}

/** Kills a run, continues its session, and compares. */
async function killAndContinue(moment: Moment, marks: string): Promise<Outcome> {
  const model = await bench.script(scenario(marks));
  const { sessionId, told, signal, orphans } = await killed(moment, model, marks);
  if (sessionId === undefined) return { signal, phase: undefined, verdict: nothingWrong, orphans: await orphans };
  const phase = (await keptOf(ownHome(bench), sessionId)).types.at(-1);
  const continued = await bench.tinman(["exec", "-s", sessionId, "-o", "json", "-m", model, "and now"]);
  const kept = await keptOf(ownHome(bench), sessionId);
  const verdict = verdictOf(told, kept, await bench.read(marks).catch(() => ""));
  const isTorn = moment.at === "write" && moment.place === "torn";
  const wrong = [
    ...verdict.wrong,
    ...(continued.code === 0 && JSON.parse(continued.stdout).result === "Here again." ? [] : [continued.stderr]),
    ...(kept.damagedLines > (isTorn ? 1 : 0) ? ["damaged lines"] : []),
  ];
  return { signal, phase, verdict: { ...verdict, wrong }, orphans: await orphans };
}

test(`exec, killed with -9 at ${kills} moments: loses nothing it reported, does nothing twice, leaves nothing behind`, {
  timeout: hangMs,
}, async () => {
  const tally = newTally();
  await forEach(kills, (nth) => {
    const moment = drawMoment(nth, drawsFor(nth), extent);
    const where = `kill ${nth} of seed ${seed}, ${JSON.stringify(moment)}`;
    return addKill(tally, where, () => killAndContinue(moment, `marks-${nth}.txt`));
  });
  figures("kill -9, exec", { ...tally.counts, phases: tally.phases });
  expect(tally.findings).toEqual([]);
  expect(tally.counts.kills).toBe(kills);
  expect(tally.counts.reached).toBeGreaterThan(kills / 3);
});
