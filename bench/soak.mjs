import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { inFreshPlace, judge, options, printTable } from "./measure.mjs";
import { connect } from "./serve-client.mjs";
import { withTinman } from "./served.mjs";

/**
 * Many streaming sessions for a long time, some with slow readers: checks memory growth, warnings and health checks. A
 * finished session is stopped and replaced by a new one.
 */

const { check, program, more } = options(["minutes", "sessions"]);
const minutes = Number(more.minutes ?? 10);
const sessions = Number(more.sessions ?? 1_000);
const megabyte = 1024 * 1024;
const everyMs = 500;
const pieces = Array.from({ length: 120 }, (_, index) => `piece ${index} of an answer `);
const whole = pieces.join("");
/** Every tenth client repeatedly reads nothing for a while. */
const slow = { share: 10, deafMs: 3_000, readMs: 1_000 };
/** Memory is meaningful only after every client has had more than one session. */
const warmMs = Math.min(150_000, (minutes * 60_000) / 3);
const sampleMs = 15_000;

await inFreshPlace(async ({ folder }) => {
  const file = join(folder, "script.json");
  const reply = { times: "any", chunk_delay_ms: everyMs, text: pieces };
  writeFileSync(file, JSON.stringify({ replies: [reply] }));
  await withTinman({ folder, program, model: `script:${file}`, isInspected: true }, soak);
});

/** @param {import("./served.mjs").Tinman} tinman */
async function soak(tinman) {
  const endAt = performance.now() + minutes * 60_000;
  const isOver = () => performance.now() >= endAt;
  let [answers, damaged] = [0, 0];

  const work = async (/** @type {number} */ index) => {
    // Spread over the duration of an answer.
    await pause((index / sessions) * pieces.length * everyMs * 0.9);
    while (!isOver()) {
      const client = await connect(tinman.address);
      const isSlow = index % slow.share === 0;
      const sessionId = await client.start();
      const turn = client.turn(sessionId, "stream");
      const rhythm = isSlow ? setInterval(() => deafen(client), slow.deafMs + slow.readMs) : undefined;
      const { text } = await turn.finally(() => clearInterval(rhythm));
      answers += 1;
      if (text !== whole) damaged += 1;
      client.resume();
      await client.stop(sessionId);
      await client.close();
    }
  };

  /** @type {number[]} */
  const health = [];
  let collections = 0;
  const watch = async () => {
    while (!isOver()) {
      const before = collections;
      const took = await tinman.health();
      // The measurement's garbage collection pauses the server briefly.
      if (collections === before && before % 2 === 0) health.push(took);
      await pause(100);
    }
  };

  /** @type {{ readonly at: number, readonly heap: number, readonly rss: number }[]} */
  const samples = [];
  const sample = async () => {
    await pause(warmMs);
    while (!isOver()) {
      collections += 1;
      const heap = (await tinman.heap()) / megabyte;
      collections += 1;
      samples.push({ at: performance.now() / 60_000, heap, rss: tinman.usage().rss / megabyte });
      await pause(sampleMs);
    }
  };

  await Promise.all([watch(), sample(), ...Array.from({ length: sessions }, (_, index) => work(index))]);
  const warnings = tinman.warnings();
  const sorted = health.toSorted((a, b) => a - b);
  const at = (/** @type {number} */ share) => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
  const range = (/** @type {"heap" | "rss"} */ key) => {
    const values = samples.map((one) => one[key]);
    return `${Math.min(...values).toFixed(1)}-${Math.max(...values).toFixed(1)}`;
  };
  printTable([
    [`${sessions} streaming sessions, ${minutes} min, every ${slow.share}th reader slow`, ""],
    ["answers", String(answers)],
    ["heap in use, MB", range("heap")],
    ["RSS, MB", range("rss")],
    ["health check, ms: median, 99 of 100, slowest", [0.5, 0.99, 1].map((share) => at(share).toFixed(1)).join(", ")],
    ...warnings.slice(0, 5).map((line) => ["warning", line]),
  ]);
  const heap = slopeOf(samples.map((one) => [one.at, one.heap]));
  judge(
    [
      { what: "heap, MB more a minute", text: heap.toFixed(2), value: heap, target: 0.5 },
      { what: "incomplete answers", text: String(damaged), value: damaged, target: 0 },
      { what: "warnings", text: String(warnings.length), value: warnings.length, target: 0 },
      { what: "slowest health check, ms", text: at(1).toFixed(0), value: at(1), target: 250 },
    ],
    check,
  );
}

/** @param {import("./serve-client.mjs").Client} client */
function deafen(client) {
  client.pause();
  setTimeout(() => client.resume(), slow.deafMs);
}

/**
 * The slope of the best-fitting line.
 * @param {readonly (readonly [number, number])[]} points
 */
function slopeOf(points) {
  const mean = (/** @type {0 | 1} */ axis) => points.reduce((sum, point) => sum + point[axis], 0) / points.length;
  const [middle, level] = [mean(0), mean(1)];
  let [above, below] = [0, 0];
  for (const [x, y] of points) {
    above += (x - middle) * (y - level);
    below += (x - middle) ** 2;
  }
  return above / below;
}
