import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Bench } from "../e2e/tinman.ts";
import { createBench } from "../e2e/tinman.ts";
import type { Random } from "../fakes/seeded-random.ts";
import { Follower } from "../fakes/ws/follower.ts";
import { type Logged, loggedOf } from "../fakes/ws/log-oracle.ts";
import { leaksIn, type Program, type SocketClient, startProgram } from "../fakes/ws/program.ts";
import { isFullRun } from "../full-run.ts";
import { drawsFor, figures, forEach, hangMs, seed } from "./form.ts";

const workers = 4;
const kills = isFullRun ? 200 : 10;

let bench: Bench;
beforeAll(async () => {
  bench = await createBench();
});
afterAll(() => bench.remove());

const pieces = (word: string, count: number): string[] => Array.from({ length: count }, (_, nth) => `${word}${nth} `);

/** Only rules, because a restarted server begins the script anew. */
const script = [
  { when: { user: "and now" }, text: ["Here ", "again."], times: "any" },
  { when: { after_tool: "Sum" }, text: pieces("sum", 5), chunk_delay_ms: 8, times: "any" },
  {
    when: { user: "tool" },
    text: ["Let ", "me ", "see. "],
    tool_calls: [
      { name: "Sum", input: { a: 1 } },
      { name: "Sum", raw: `[1, "ü"]` },
    ],
    chunk_delay_ms: 4,
    times: "any",
  },
  { when: { user: "much" }, text: pieces("0123456789".repeat(200), 8), chunk_delay_ms: 10, times: "any" },
  { text: pieces("w", 15), chunk_delay_ms: 8, times: "any" },
];

interface Victim {
  readonly sessionId: string;
  readonly follower: Follower;
  readonly where: string;
}

/** Messages of many kinds in sequence until the server is killed: at a frame, or after some time. */
async function killed(program: Program, random: Random, nth: number): Promise<Victim | undefined> {
  const where = `kill ${nth} of seed ${seed}`;
  const follower = new Follower();
  const atFrame = random.chance(0.6) ? 3 + random.below(70) : Number.POSITIVE_INFINITY;
  const afterMs = random.pick([0, 0, 1, 3]);
  const kill = (): void => program.kill("SIGKILL");
  const client = await program.connect();
  let count = 0;
  client.onFrame((frame) => {
    follower.take(frame);
    count += 1;
    if (count !== atFrame) return;
    if (afterMs === 0) kill();
    else setTimeout(kill, afterMs);
  });
  const timer = setTimeout(kill, atFrame === Number.POSITIVE_INFINITY ? random.below(700) : 1_200);
  let sessionId: string | undefined;
  try {
    const started = await client.request("startSession", { userId: "u", sessionParams: { tools: [{ name: "Sum" }] } });
    sessionId = String(started.result?.sessionId);
    const said = ["tool", "slow", "much", "tool again", "slow again"].filter(() => random.chance(0.75));
    const sent = said.map((message) => client.request("sendUserMessage", { sessionId, message }));
    for (const each of sent) each.catch(() => undefined);
    await answerCalls(client, sessionId, random);
  } catch {
    // Nothing more comes once it is dead.
  }
  await client.closed;
  clearTimeout(timer);
  expect([await program.exit, leaksIn(client.frames, bench.root)]).toEqual([{ code: null, signal: "SIGKILL" }, []]);
  return sessionId === undefined ? undefined : { sessionId, follower, where };
}

/** Some at once, some late, some never. */
async function answerCalls(client: SocketClient, sessionId: string, random: Random): Promise<void> {
  for (;;) {
    const { params } = await client.until(({ method }) => method === "ToolCallNotification");
    const isLate = random.chance(0.3);
    if (random.chance(0.15)) continue;
    void sleep(isLate ? 60 : 0).then(() =>
      client.request("provideToolResult", { sessionId, toolCallId: params?.toolCallId, result: "3" }).catch(() => 0),
    );
  }
}

/** Answers at once. */
const always: Random = { below: () => 0, pick: ([first]) => first as never, chance: () => false };

async function untilFinal({ frames, closed }: SocketClient, messageId: unknown): Promise<void> {
  let isOver = false;
  void closed.then(() => {
    isOver = true;
  });
  while (!frames.some(({ params }) => params?.isFinal === true && params.messageId === messageId)) {
    if (isOver) throw new Error("the connection is over");
    await sleep(5);
  }
}

/** Resumes with a client that has already seen part, until everything was sent. */
async function resumed(program: Program, sessionId: string, follower: Follower, frames: object[] = []) {
  const client = await program.connect();
  client.onFrame((frame) => {
    follower.take(frame);
    frames.push(frame);
  });
  const { result, error } = await client.request("resumeSession", { sessionId, afterSeq: follower.lastSeq });
  if (result === undefined) throw new Error(`it cannot be resumed: ${JSON.stringify(error)}`);
  // Requests are taken in order.
  await client.request("echo", {});
  return { client, result };
}

function same(follower: Follower, logged: Logged): string[] {
  const wrong: string[] = [];
  const say = (what: string, mine: unknown, theirs: unknown): void => {
    const [a, b] = [JSON.stringify(mine), JSON.stringify(theirs)];
    if (a !== b) wrong.push(`${what}: told ${a.slice(0, 400)}, logged ${b.slice(0, 400)}`);
  };
  say("answers", [...follower.answers], [...logged.answers]);
  say("accepted", [...follower.accepted], logged.accepted);
  say("discarded", follower.discarded, logged.discarded);
  return [...wrong, ...follower.faults];
}

/** Faults in a session whose server died, as seen in the next server. */
async function findings(program: Program, victim: Victim, home: string, random: Random): Promise<string[]> {
  const { sessionId, follower } = victim;
  const before = loggedOf(home, sessionId);
  const acknowledged = [...follower.accepted];
  const wasOpen = [...follower.answers.values()].filter(({ ends }) => ends.length === 0);
  const { client, result } = await resumed(program, sessionId, follower);
  const wrong: string[] = acknowledged.filter((id) => !before.accepted.includes(id)).map((id) => `${id} is lost`);
  if (String(result.waiting) !== String(before.waiting))
    wrong.push(`waiting: ${result.waiting}, not ${before.waiting}`);
  if (result.running !== false) wrong.push("an unknown turn is running");
  for (const { ends } of wasOpen) {
    // The end may have been stored, and the server killed before sending it.
    if (ends.length !== 1 || !["interrupted", "completed"].includes(ends[0] ?? "")) wrong.push(`an end: ${ends}`);
  }
  // Waiting messages are answered now, and may need the client.
  void answerCalls(client, sessionId, always).catch(() => undefined);
  const sent = await client.request("sendUserMessage", { sessionId, message: "and now" });
  const messageId = sent.result?.messageId;
  await untilFinal(client, messageId);
  const logged = loggedOf(home, sessionId);
  const last = [...logged.answers.values()].at(-1);
  if (last?.text !== "Here again." || String(last.ends) !== "completed") wrong.push(`it went on with ${last?.text}`);
  if (!logged.isDense || logged.waiting.length > 0) wrong.push("the log has gaps, or something still waits");
  wrong.push(...same(follower, logged).map((words) => `continuing client: ${words}`));

  const fresh = new Follower();
  const all = await resumed(program, sessionId, fresh);
  wrong.push(...same(fresh, logged).map((words) => `who is new: ${words}`));
  const told = JSON.stringify(fresh.told);
  if (told !== JSON.stringify(logged.told)) wrong.push(`told ${told}, not ${JSON.stringify(logged.told)}`);

  const late = new Follower();
  const after = random.below(fresh.lastSeq + 3);
  late.lastSeq = after;
  const some = await resumed(program, sessionId, late);
  const rest = logged.told.filter(([, seq]) => seq > after);
  if (JSON.stringify(late.told) !== JSON.stringify(rest)) wrong.push(`after ${after}: ${JSON.stringify(late.told)}`);
  const clients = [client, all.client, some.client];
  await client.request("stopSession", { sessionId });
  await Promise.all(clients.map((each) => each.until(({ params }) => params?.status === 2)));
  for (const each of clients) each.socket.close();
  return [...wrong, ...clients.flatMap(({ frames }) => leaksIn(frames, bench.root))];
}

test(`tinman serve, killed with -9 at ${kills} moments: every acknowledged message is there, every event once`, {
  timeout: hangMs,
}, async () => {
  await bench.script(script);
  const found: string[] = [];
  const phases: Record<string, number> = {};
  const ends: Record<string, number> = {};
  await forEach(workers, async (worker) => {
    const home = join(bench.root, `home-${worker}`);
    const start = (): Promise<Program> =>
      startProgram(bench, { model: "script:../script-1.json", env: { TINMAN_HOME: home } });
    let victim: Victim | undefined;
    for (let nth = worker; nth < kills + workers; nth += workers) {
      const random = drawsFor(nth);
      const program = await start();
      if (victim !== undefined) {
        const { where, sessionId, follower } = victim;
        const { lastType } = loggedOf(home, sessionId);
        phases[lastType] = (phases[lastType] ?? 0) + 1;
        const wrong = await findings(program, victim, home, random).catch((error: unknown) => [String(error)]);
        found.push(...wrong.map((words) => `${where}, at ${lastType}: ${words}`));
        for (const end of [...follower.answers.values()].flatMap((answer) => answer.ends)) {
          ends[end] = (ends[end] ?? 0) + 1;
        }
      }
      if (nth < kills) {
        victim = await killed(program, random, nth);
      } else {
        program.kill("SIGTERM");
        expect(await program.exit).toEqual({ code: 0, signal: null });
      }
    }
  });
  figures("kill -9, serve", { kills, phases, ends });
  expect(found).toEqual([]);
  // It was killed in the middle of work, not only before or after.
  expect([ends.interrupted, ends.completed].map((count) => (count ?? 0) > kills / 10)).toEqual([true, true]);
});
