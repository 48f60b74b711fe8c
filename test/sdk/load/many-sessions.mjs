import { getEventListeners } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import v8 from "node:v8";
import { WebSocket } from "ws";
import { createSession, query, webSocketConnection } from "../../../dist/sdk/node.js";

/*
 * Opens and closes sessions in a separate process, with every kind of end, several at a time, all with one signal.
 * Prints the remaining resources as one line of JSON.
 */

/**
 * @typedef {object} Wanted
 * @property {string} executable notes its process id in the file PID_FILE
 * @property {string} address of a WebSocket with the same program behind it
 * @property {string} folder for the process ids
 * @property {string} cwd
 * @property {number} count
 *
 * @typedef {import("../../../dist/sdk/node.js").Session} Session
 * @typedef {import("../../../dist/sdk/node.js").SessionOptions} Options
 * @typedef {(nth: number, options: Options) => Promise<unknown>} Life
 */

/** @type {Wanted} */
const { executable, address, folder, cwd, count } = JSON.parse(process.argv[2] ?? "");
const atOnce = 4;
const shared = new AbortController();
const pidFile = (/** @type {number} */ nth) => join(folder, `${nth}.pid`);

/** @type {Readonly<Record<string, Life>>} */
const lives = {
  async closed(_, options) {
    const session = await createSession(options);
    await session.close();
    return (await session.ended).reason;
  },
  async "closed after a turn"(_, options) {
    const session = await createSession(options);
    const { text } = await session.send("quick", { signal: shared.signal });
    await session.close();
    return text;
  },
  async "closed in a turn"(_, options) {
    const session = await createSession(options);
    const turn = session.stream("slow", { signal: shared.signal });
    await someTextOf(turn);
    void session.send("never").catch(() => {});
    await Promise.all([session.close(), session.close()]);
    return turn.result.catch(nameOf);
  },
  async "killed in a turn"(nth, options) {
    const session = await createSession(options);
    const turn = session.stream("slow", { signal: shared.signal });
    await someTextOf(turn);
    // Behind a socket, the program is the test's, and only this end can be closed.
    if (options.connect === undefined) process.kill(Number(readFileSync(pidFile(nth), "utf8")), "SIGKILL");
    else await session.close();
    const why = await turn.result.catch(nameOf);
    await session.close();
    return why;
  },
  async "given up while it opens"(nth, options) {
    const own = new AbortController();
    const opening = createSession({ ...options, signal: AbortSignal.any([shared.signal, own.signal]) });
    // At once, while it starts, while it answers.
    if (nth % 3 > 0) await sleep((nth % 3) * 30);
    own.abort(new Error("given up"));
    return opening.then((session) => session.close(), nameOf);
  },
  async "a turn that is given up"(_, options) {
    const session = await createSession(options);
    const own = new AbortController();
    const turn = session.stream("slow", { signal: own.signal });
    await someTextOf(turn);
    own.abort(new Error("given up"));
    const why = await turn.result.catch(nameOf);
    const left = getEventListeners(own.signal, "abort").length;
    await session[Symbol.asyncDispose]();
    return `${why}, ${left} listeners`;
  },
  async "a query that is left"(_, options) {
    for await (const event of query("slow", options)) if (event.type === "text") break;
  },
  "a query": async (_, options) => (await query("quick", options).result).text,
  async "a fork"(_, options) {
    const session = await createSession(options);
    await session.send("quick");
    const copy = await session.fork();
    await Promise.all([session.close(), copy.close()]);
  },
  async "a turn that nobody looks at"(_, options) {
    const session = await createSession(options);
    session.stream("slow", { signal: shared.signal });
    await session.models({ signal: shared.signal });
    await session.close();
  },
};

/** @param {import("../../../dist/sdk/node.js").Turn} turn */
async function someTextOf(turn) {
  const iterator = turn[Symbol.asyncIterator]();
  for (;;) {
    const { value } = await iterator.next();
    if (value?.type === "text") return;
  }
}

/** @param {unknown} error */
function nameOf(error) {
  return error instanceof Error ? error.name : String(error);
}

/** @param {number} nth */
async function live(nth) {
  const ways = Object.entries(lives);
  const [way, life] = ways[nth % ways.length] ?? [];
  const isOverSocket = Math.floor(nth / ways.length) % 3 === 2;
  const options = isOverSocket
    ? { cwd, signal: shared.signal, connect: webSocketConnection(address, { WebSocket }) }
    : { cwd, signal: shared.signal, executable, env: { PID_FILE: pidFile(nth) } };
  try {
    const outcome = await life?.(nth, options);
    if (way !== undefined && outcome !== undefined) outcomes[way] = new Set(outcomes[way]).add(String(outcome));
  } catch (error) {
    failures.push(`${way}${isOverSocket ? " over a socket" : ""}: ${error instanceof Error ? error.stack : error}`);
  }
}

/** @type {string[]} */
const failures = [];
/** @type {Record<string, Set<string>>} */
const outcomes = {};
let next = 0;

/** @param {number} end */
async function liveUntil(end) {
  const one = async () => {
    while (next < end) await live(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}

/** The resources that keep this process running, and its listeners. */
function held() {
  return {
    resources: process.getActiveResourcesInfo().toSorted(),
    listeners: Object.fromEntries(process.eventNames().map((name) => [String(name), process.listenerCount(name)])),
    onSignal: getEventListeners(shared.signal, "abort").length,
  };
}

/** The engine caches compiled code at will. */
function liveBytes() {
  for (let round = 0; round < 3; round++) globalThis.gc?.();
  const kept = v8.getHeapSpaceStatistics().filter(({ space_name }) => /^(old|large_object)_space$/.test(space_name));
  return kept.reduce((sum, space) => sum + space.space_used_size, process.memoryUsage().arrayBuffers);
}

// Connections opened for loading are closed by then; Node's socket opens this one when it closes.
await sleep(50);
process.stderr.write("");
const before = held();
// The first ones load what is loaded once.
await liveUntil(Math.ceil(count / 3));
const bytesBefore = liveBytes();
const livedBefore = next;
await liveUntil(count);
// Closed handles are gone in the next round.
await sleep(50);
const after = held();
const bytesPerSession = (liveBytes() - bytesBefore) / (next - livedBefore);

const told = Object.fromEntries(Object.entries(outcomes).map(([way, each]) => [way, [...each].toSorted()]));
process.stdout.write(JSON.stringify({ lived: next, failures, outcomes: told, before, after, bytesPerSession }));
