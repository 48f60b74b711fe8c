import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { loadBundled } from "./bundle.mjs";
import { benchEngine } from "./engine.mjs";
import { inFreshPlace, interleaved, judge, options, pairwise, printTable, show, spread, wallTime } from "./measure.mjs";

/** Measures whether a long session costs more per turn, and how long a long log takes to open. */

const { check, program, pairs = 20 } = options();
const early = { from: 20, to: 30 };
const late = { from: 490, to: 500 };
const repetitions = 15;
/** Ranges of many turns, because only some of them compact. */
const compacted = { window: 20_000, early: { from: 201, to: 400 }, late: { from: 801, to: 1_000 }, repetitions: 3 };
const requestsPerTurn = 2;

await inFreshPlace(async (place) => {
  const bundle = join(place.folder, "bundle");
  mkdirSync(bundle);
  const engine = await benchEngine(bundle, join(place.folder, "home"));

  // The first session only warms up the code. Otherwise the early turns would be slow, and the late ones look good.
  await costsOfSession();
  /** @type {Awaited<ReturnType<typeof costsOfSession>>[]} */
  const costs = [];
  for (let repetition = 0; repetition < repetitions; repetition++) costs.push(await costsOfSession());

  const withCompaction = await growthWithCompaction();
  const callIds = await costsOfCallIds(bundle);
  const longId = await longSession(1_000);
  await engine.close();
  const commands = [
    { name: "a new session", args: [program, "exec", "Just reply OK."] },
    { name: "a session of 1,000 turns", args: [program, "exec", "-s", longId, "Just reply OK."] },
  ];
  const [fresh = [], resumed = []] = interleaved(commands, pairs, (command) => wallTime(command, place));

  process.stdout.write(`Node ${process.version}; ${repetitions} sessions of ${late.to} turns; median (p10-p90)\n\n`);
  printTable([
    ["CPU per turn, microseconds", `turns ${early.from}-${early.to}`, `turns ${late.from}-${late.to}`],
    ["all of it", ...columns((cost) => cost.all)],
    ["building the model requests", ...columns((cost) => cost.requests)],
    ["apart from building them", ...columns((cost) => cost.all - cost.requests)],
  ]);
  process.stdout.write("\n");
  printTable([
    [`tinman exec, ${pairs} interleaved rounds`, "wall ms"],
    ["a new session", show(spread(fresh), 0)],
    ["a session of 1,000 turns", show(spread(resumed), 0)],
  ]);

  const growth = spread(
    costs.map((cost) => (cost.late.all - cost.late.requests) / (cost.early.all - cost.early.requests)),
  );
  const difference = pairwise(resumed, fresh, (long, short) => long - short);
  judge(
    [
      { what: "CPU per turn, late / early", text: show(growth, 2), value: growth.value, target: 1.3 },
      {
        what: "the same with compaction, over 1,000 turns",
        text: show(withCompaction, 2),
        value: withCompaction.value,
        target: 1.3,
      },
      {
        what: "prompt of 8,000 calls with one id / of 4,000",
        text: show(callIds, 2),
        value: callIds.value,
        target: 2.6,
      },
      { what: "resuming, ms more", text: show(difference, 0), value: difference.value, target: 250 },
    ],
    check,
  );

  /** @param {(cost: { all: number, requests: number }) => number} pick */
  function columns(pick) {
    return [
      show(spread(costs.map((cost) => pick(cost.early))), 0),
      show(spread(costs.map((cost) => pick(cost.late))), 0),
    ];
  }

  async function growthWithCompaction() {
    const own = join(place.folder, "compacting");
    mkdirSync(own);
    const small = await benchEngine(own, join(place.folder, "compacting-home"), compacted.window);
    const ratios = [];
    for (let repetition = 0; repetition < compacted.repetitions; repetition++) {
      const session = await small.newSession(place.folder);
      let turn = 0;
      const costUntil = async (/** @type {number} */ last) => {
        const before = process.cpuUsage();
        for (; turn < last; turn++) await small.driveTurn(session);
        return microseconds(process.cpuUsage(before));
      };
      await costUntil(compacted.early.from - 1);
      const earlyCost = await costUntil(compacted.early.to);
      await costUntil(compacted.late.from - 1);
      ratios.push((await costUntil(compacted.late.to)) / earlyCost);
      if (session.snapshot().standIn === undefined) throw new Error("nothing was compacted");
      await session.close();
    }
    await small.close();
    return spread(ratios);
  }

  async function costsOfSession() {
    const session = await engine.newSession(place.folder);
    /** @param {{ from: number, to: number }} window */
    const windowCost = async ({ from, to }) => {
      const before = process.cpuUsage();
      for (let turn = from; turn <= to; turn++) await engine.driveTurn(session);
      const turns = to - from + 1;
      return { all: microseconds(process.cpuUsage(before)) / turns, requests: requestCost(session) };
    };
    for (let turn = 1; turn < early.from; turn++) await engine.driveTurn(session);
    const earlyCost = await windowCost(early);
    for (let turn = early.to + 1; turn < late.from; turn++) await engine.driveTurn(session);
    const lateCost = await windowCost(late);
    await session.close();
    return { early: earlyCost, late: lateCost };
  }

  /**
   * The cost of building a turn's requests from the current history.
   * @param {import("./engine.mjs").Session} session
   */
  function requestCost(session) {
    const times = 500;
    const before = process.cpuUsage();
    for (let time = 0; time < times; time++) engine.buildRequest(session);
    return (microseconds(process.cpuUsage(before)) / times) * requestsPerTurn;
  }

  /** @param {number} turns */
  async function longSession(turns) {
    const session = await engine.newSession(place.folder);
    for (let turn = 0; turn < turns; turn++) await engine.driveTurn(session);
    await session.close();
    return session.id;
  }
});

/**
 * Some servers give every call the same id, which must be made unique: twice the calls should cost twice as much.
 * @param {string} folder for the bundle
 */
async function costsOfCallIds(folder) {
  const { prompt } = await loadBundled(join(folder, "prompt"), { prompt: "models/calls/prompt.ts" });
  const spec = { wire: "openai-chat", info: { id: "m", images: false } };
  const messagesOf = (/** @type {number} */ count) =>
    Array.from({ length: count }, () => [
      { role: "assistant", model: "m", content: [{ type: "tool_call", id: "call_0", name: "Note", input: {} }] },
      { role: "tool", content: [{ type: "tool_result", callId: "call_0", name: "Note", status: "ok", text: "x" }] },
    ]).flat();
  const [few, many] = [messagesOf(4_000), messagesOf(8_000)];
  const cost = (/** @type {object[]} */ messages) => {
    const before = process.cpuUsage();
    prompt.promptOf({ system: "", messages, tools: [] }, spec);
    return microseconds(process.cpuUsage(before));
  };
  const ratios = [];
  for (let round = -3; round < 15; round++) {
    const ratio = cost(many) / cost(few);
    if (round >= 0) ratios.push(ratio);
  }
  return spread(ratios);
}

/** @param {NodeJS.CpuUsage} used */
function microseconds({ user, system }) {
  return user + system;
}
