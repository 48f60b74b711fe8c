import { readFileSync } from "node:fs";
import { setImmediate as nextRound, setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import { createSession, webSocketConnection } from "../../../dist/sdk/node.js";

/*
 * Reads a long turn slowly, in a separate process whose memory can be measured: one event at a time, with pauses and
 * requests in between. Prints its findings as one line of JSON.
 */

/**
 * @typedef {object} Wanted
 * @property {string} executable the backend, or the address of a WebSocket behind which it is
 * @property {string} progress the file in which the backend notes how far it is
 * @property {number} deltas
 * @property {number} size
 */

/** @type {Wanted} */
const { executable, progress, deltas, size } = JSON.parse(process.argv[2] ?? "");
const megabyte = 1024 * 1024;
const every = deltas / 20;

const session = await createSession(
  executable.startsWith("ws:")
    ? { connect: webSocketConnection(executable, { WebSocket }) }
    : { executable, env: { PROGRESS: progress } },
);

let expected = 1;
let outOfOrder = 0;
let wrongSize = 0;
let messages = 0;
let mostAhead = 0;
let asked = 0;
let live = 0;
let peakHeap = 0;
let peakRss = 0;
/** @type {import("../../../dist/sdk/node.js").TurnResult | undefined} */
let end;

/** Memory in use after a garbage collection. */
function measure() {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

const before = measure();
const turn = session.stream(JSON.stringify({ deltas, size, perMessage: 100 }));
for await (const event of turn) {
  await nextRound();
  const { heapUsed, rss } = process.memoryUsage();
  peakHeap = Math.max(peakHeap, heapUsed);
  peakRss = Math.max(peakRss, rss);
  if (event.type === "message") messages += 1;
  if (event.type === "end") end = event.result;
  if (event.type !== "text") continue;
  const number = Number.parseInt(event.text, 10);
  if (number !== expected) outOfOrder += 1;
  if (event.text.length !== size) wrongSize += 1;
  expected = number + 1;
  if (number % every !== 0 || number === deltas) continue;
  if (number % (5 * every) === 0) {
    const models = await session.models();
    asked += models.length + 1;
  }
  // Long enough for the backend to send all it can.
  await sleep(100);
  live = Math.max(live, measure() - before);
  mostAhead = Math.max(mostAhead, Number(readFileSync(progress, "utf8")) - number);
}
await session.close();

process.stdout.write(
  JSON.stringify({
    taken: expected - 1,
    outOfOrder,
    wrongSize,
    messages,
    asked,
    end: end?.status,
    mostAhead,
    liveMb: live / megabyte,
    peakHeapMb: peakHeap / megabyte,
    peakRssMb: peakRss / megabyte,
  }),
);
