import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Message } from "../../src/core/message.ts";
import { isFullRun } from "../full-run.ts";
import type { Bench } from "./tinman.ts";
import { createBench, lines } from "./tinman.ts";

const moments = isFullRun ? 200 : 24;
const atOnce = 4;
/** Long enough to be past the end of the scripted session. */
const longestMs = 900;

let bench: Bench;
beforeAll(async () => {
  bench = await createBench();
});
afterAll(() => bench.remove());

interface Told {
  readonly sessionId: string | undefined;
  readonly messages: ReadonlySet<string>;
  readonly results: ReadonlySet<string>;
}

/** A session with text, thinking and tools, killed after some time; and what it had told by then. */
async function killAfter(ms: number, model: string, nth: number): Promise<Told> {
  const child = bench.start(["exec", "-o", "stream-json", "--auto", "high", "-m", model, `go ${nth}`]);
  child.stdin?.end();
  const output: Buffer[] = [];
  child.stdout?.on("data", (chunk: Buffer) => output.push(chunk));
  const closed = new Promise((resolve) => child.on("close", resolve));
  await sleep(ms);
  child.kill("SIGKILL");
  await closed;
  const text = Buffer.concat(output).toString();
  const events = lines(text.slice(0, text.lastIndexOf("\n") + 1));
  const ids = (type: string): ReadonlySet<string> =>
    new Set(events.filter((event) => event.type === type).map(({ id }) => String(id)));
  return {
    sessionId: events[0]?.session_id as string | undefined,
    messages: ids("message"),
    results: ids("tool_result"),
  };
}

async function shown(id: string): Promise<{ messages: Message[]; waiting: unknown[]; damagedLines: number[] }> {
  const run = await bench.tinman(["sessions", "show", id, "--json"]);
  expect([run.code, run.stderr]).toEqual([0, ""]);
  return JSON.parse(run.stdout);
}

function occurrences(all: readonly string[], wanted: ReadonlySet<string>): number[] {
  return [...wanted].map((id) => all.filter((other) => other === id).length);
}

test(`kill -9 at ${moments} random moments loses nothing that was told, and repeats nothing`, {
  timeout: 600_000,
}, async () => {
  let reached = 0;
  const check = async (nth: number): Promise<void> => {
    const marks = `marks-${nth}.txt`;
    const call = (n: number) => ({ name: "Execute", input: { command: `echo ${n} >> ${marks}; sleep 0.02` } });
    const model = await bench.script([
      {
        reasoning: "Thinking about it.",
        text: ["Step ", "one ", "begins."],
        chunk_delay_ms: 15,
        tool_calls: [call(1), call(2)],
      },
      { text: ["Step ", "two."], chunk_delay_ms: 15, tool_calls: [call(3), { name: "LS", input: {} }] },
      { text: ["All ", "done."], chunk_delay_ms: 15 },
      { when: { user: "and now" }, text: "Here again.", times: "any" },
    ]);
    const told = await killAfter(Math.random() * longestMs, model, nth);
    if (told.sessionId === undefined) return;
    reached += 1;
    const { sessionId } = told;
    const resumed = await bench.tinman(["exec", "-s", sessionId, "-o", "json", "-m", model, "and now"]);
    expect([resumed.code, JSON.parse(resumed.stdout).result]).toEqual([0, "Here again."]);
    const { messages, waiting } = await shown(sessionId);
    const messageIds = messages.map(({ id }) => id);
    const resultIds = messages.flatMap(({ content }) =>
      content.flatMap((block) => (block.type === "tool_result" ? [block.callId] : [])),
    );
    expect(occurrences(messageIds, told.messages)).toEqual([...told.messages].map(() => 1));
    expect(occurrences(resultIds, told.results)).toEqual([...told.results].map(() => 1));
    expect(new Set(messageIds).size).toBe(messageIds.length);
    expect(new Set(resultIds).size).toBe(resultIds.length);
    expect(waiting).toEqual([]);
    // Every call of the conversation has its result, and no command ran twice.
    const callIds = messages.flatMap(({ content }) =>
      content.flatMap((block) => (block.type === "tool_call" ? [block.id] : [])),
    );
    expect(resultIds).toEqual(callIds);
    const ran = await bench.read(marks).catch(() => "");
    expect(new Set(ran.split("\n")).size).toBe(ran.split("\n").length);
  };
  const worker = async (first: number): Promise<void> => {
    for (let nth = first; nth < moments; nth += atOnce) await check(nth);
  };
  await Promise.all(Array.from({ length: atOnce }, (_, first) => worker(first)));
  expect(reached).toBeGreaterThan(moments / 3);
});
