import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { inFreshPlace, judge, options, pairwise, printTable, show, spread } from "./measure.mjs";
import { open, openReply } from "./open-replies.mjs";
import { closeAll, connect, many } from "./serve-client.mjs";
import { withFloor, withTinman } from "./served.mjs";

/**
 * The waiting time and cost of `tinman serve`'s clients, compared with an echo server. This process is the
 * client; the servers are separate processes.
 *
 * @typedef {import("./serve-client.mjs").Client} Client
 * @typedef {import("./measure.mjs").Result} Result
 * @typedef {{ readonly rows: readonly (readonly string[])[], readonly results: readonly Result[] }} Part
 */

const parts = { start, acks, first, idle, streams, open, cycles };
const { check, program, pairs = 200, more } = options(["cycles", "only", "node-args"]);
if (!(pairs >= 20)) throw new Error("--pairs must be 20 or more");
const cycleCount = Number(more.cycles ?? 10_000);
const chosen = more.only === undefined ? Object.keys(parts) : String(more.only).split(",");
const nodeArgs = more["node-args"] === undefined ? [] : String(more["node-args"]).split(" ");
const megabyte = 1024 * 1024;
const warm = 50;
const crowd = { sessions: 8, messages: 10 };
const lateTurns = 5;
const idleSessions = 1_000;
const streamed = { sessions: 200, pieces: 250, everyMs: 20 };
const pieces = Array.from({ length: streamed.pieces }, (_, index) => `piece ${index} `);
const workers = 8;
const script = {
  replies: [
    openReply,
    { when: { user: "stream" }, times: "any", chunk_delay_ms: streamed.everyMs, text: pieces },
    { times: "any", text: ["The", " quick", " brown", " fox."] },
  ],
};

await inFreshPlace(async ({ folder }) => {
  const file = join(folder, "script.json");
  writeFileSync(file, JSON.stringify(script));
  process.stdout.write(
    `Node ${process.version}, ${process.platform} ${process.arch}; ${pairs} interleaved pairs; median (p10-p90)\n\n`,
  );
  /** @type {Part[]} */
  const done = [];
  for (const [name, measure] of Object.entries(parts)) {
    if (!chosen.includes(name)) continue;
    process.stderr.write(`${name} …\n`);
    // A script's memory of thousands of sessions would look like the server's.
    const model = measure === cycles ? "offline" : `script:${file}`;
    const both = (/** @type {import("./served.mjs").Served} */ floor) =>
      withTinman({ folder, program, model, nodeArgs, isInspected: measure === cycles || measure === open }, (tinman) =>
        measure(floor, tinman),
      );
    done.push(await withFloor(both));
  }
  printTable([["", "echo", "tinman serve", "difference"], ...done.flatMap(({ rows }) => rows)]);
  judge(
    done.flatMap(({ results }) => results),
    check,
  );
});

/**
 * From `startSession` to its response, on an open connection.
 * @param {import("./served.mjs").Served} floor
 * @param {import("./served.mjs").Tinman} tinman
 * @returns {Promise<Part>}
 */
async function start(floor, tinman) {
  const [base, client] = await both(floor, tinman);
  const echoes = [];
  const starts = [];
  for (let round = -warm; round < pairs; round++) {
    const echo = await base.roundTrip("startSession", { userId: "bench" });
    const askedAt = performance.now();
    const { at, result } = await client.request("startSession", { userId: "bench" });
    await client.stop(result.sessionId);
    if (round < 0) continue;
    echoes.push(echo);
    starts.push(at - askedAt);
  }
  await closeAll([base, client]);
  return compared("session start, ms", echoes, starts);
}

/**
 * Messages sent without waiting to answering sessions: from each to its acknowledgement.
 * @param {import("./served.mjs").Served} floor
 * @param {import("./served.mjs").Tinman} tinman
 * @returns {Promise<Part>}
 */
async function acks(floor, tinman) {
  const { sessions, messages } = crowd;
  const bases = await many(sessions, () => connect(floor.address));
  const clients = await many(sessions, () => connect(tinman.address));
  /** @type {number[]} */
  const echoes = [];
  /** @type {number[]} */
  const taken = [];
  const rounds = Math.ceil(pairs / 4);
  for (let round = -10; round < rounds; round++) {
    const ids = await Promise.all(clients.map((client) => client.start()));
    const send = async (/** @type {Client[]} */ all) =>
      Promise.all(
        all.flatMap((client, index) =>
          Array.from({ length: messages }, () =>
            client.roundTrip("sendUserMessage", { sessionId: ids[index], message: "What do you see?" }),
          ),
        ),
      );
    const echo = await send(bases);
    const answered = clients.map((client, index) => client.hear(ids[index] ?? "", messages));
    const own = await send(clients);
    await Promise.all(answered);
    await Promise.all(clients.map((client, index) => client.stop(ids[index] ?? "")));
    if (round < 0) continue;
    echoes.push(...echo);
    taken.push(...own);
  }
  await closeAll([...bases, ...clients]);
  return compared(`acknowledgement of each of ${sessions} x ${messages} messages, ms`, echoes, taken);
}

/**
 * From a message to the first chunk of its answer.
 * @param {import("./served.mjs").Served} floor
 * @param {import("./served.mjs").Tinman} tinman
 * @returns {Promise<Part>}
 */
async function first(floor, tinman) {
  const [base, client] = await both(floor, tinman);
  const turns = Array.from({ length: lateTurns }, () => ({ echoes: numbers(), firsts: numbers() }));
  for (let round = -warm; round < pairs; round++) {
    const sessionId = await client.start();
    for (const { echoes, firsts } of turns) {
      const message = "What do you see?";
      const echo = await base.roundTrip("sendUserMessage", { sessionId, message });
      const turn = await client.turn(sessionId, message);
      if (round < 0) continue;
      echoes.push(echo);
      firsts.push(turn.first);
    }
    await client.stop(sessionId);
  }
  await closeAll([base, client]);
  const [opening, ...later] = turns;
  const of = (/** @type {string} */ which, /** @type {typeof turns} */ list) =>
    compared(
      `first chunk, ${which}, ms`,
      list.flatMap(({ echoes }) => echoes),
      list.flatMap(({ firsts }) => firsts),
    );
  const each = [of("a session's first turn", opening ? [opening] : []), of(`turns 2 to ${lateTurns}`, later)];
  return { rows: each.flatMap(({ rows }) => rows), results: each.flatMap(({ results }) => results) };
}

/**
 * Memory of idle sessions, each on its own connection.
 * @param {import("./served.mjs").Served} floor
 * @param {import("./served.mjs").Tinman} tinman
 * @returns {Promise<Part>}
 */
async function idle(floor, tinman) {
  const rss = (/** @type {import("./served.mjs").Served} */ served) => served.usage().rss / megabyte;
  await pause(1_000);
  const [emptyFloor, empty] = [rss(floor), rss(tinman)];
  const bases = await many(idleSessions, () => connect(floor.address));
  await pause(1_000);
  const connected = rss(floor) - emptyFloor;
  await closeAll(bases);

  const clients = await many(idleSessions, () => connect(tinman.address));
  const ids = await many(idleSessions, async (index) => (await clients[index]?.start()) ?? "");
  await pause(2_000);
  const started = rss(tinman) - empty;
  await many(idleSessions, (index) => clients[index]?.turn(ids[index] ?? "", "What do you see?"));
  await pause(2_000);
  const used = rss(tinman) - empty;
  await closeAll(clients);
  const text = (/** @type {number} */ value) => value.toFixed(1);
  const what = `RSS of ${idleSessions} idle sessions, MB above the empty server`;
  return {
    rows: [
      ["empty server, RSS MB", text(emptyFloor), text(empty), ""],
      [`${idleSessions} idle sessions, MB more`, text(connected), text(started), text(started - connected)],
      ["  after a turn in each", "", text(used), ""],
    ],
    results: [{ what, text: text(started), value: measured(started), target: 150 }],
  };
}

/**
 * Many concurrent answers, each with a chunk every 20 ms.
 * @param {import("./served.mjs").Served} floor
 * @param {import("./served.mjs").Tinman} tinman
 * @returns {Promise<Part>}
 */
async function streams(floor, tinman) {
  const { everyMs, sessions } = streamed;
  const bases = await many(sessions, () => connect(floor.address));
  const clients = await many(sessions, () => connect(tinman.address));
  const ids = await many(sessions, async (index) => (await clients[index]?.start()) ?? "");
  const probes = await both(floor, tinman);
  const echo = await streamAll(bases, floor, probes[0], (client, index) => {
    const sessionId = ids[index] ?? "";
    const heard = client.hear(sessionId);
    client.send({ jsonrpc: "2.0", method: "stream", params: { sessionId, pieces, everyMs } });
    return heard;
  });
  const own = await streamAll(clients, tinman, probes[1], (client, index) => client.turn(ids[index] ?? "", "stream"));
  await closeAll([...bases, ...clients, ...probes]);
  const text = pieces.join("");
  const lost = own.turns.filter((turn) => turn.text !== text || turn.arrivals.length !== pieces.length).length;
  const row = (
    /** @type {string} */ what,
    /** @type {"gaps" | "probes"} */ key,
    /** @type {(value: number[]) => string} */ cell,
  ) => [what, cell(echo[key]), cell(own[key]), ""];
  const middle = (/** @type {number[]} */ values) => show(spread(values), 2);
  const late = (/** @type {number[]} */ values) => quantile(values, 0.99).toFixed(2);
  const share = (/** @type {number} */ value) => `${(value * 100).toFixed(0)} %`;
  return {
    rows: [
      row(`${sessions} streams: between two chunks, ms later than ${everyMs}`, "gaps", middle),
      row("  99 of 100 are less than", "gaps", late),
      row("  an echo meanwhile, ms", "probes", middle),
      row("  99 of 100 are less than", "probes", late),
      ["  chunks a second", echo.rate.toFixed(0), own.rate.toFixed(0), ""],
      ["  CPU of the server, of a core", share(echo.cpu), share(own.cpu), ""],
    ],
    results: [{ what: "incomplete answers", text: `${lost} of ${sessions}`, value: lost, target: 0 }],
  };
}

/**
 * @param {readonly Client[]} clients
 * @param {import("./served.mjs").Served} served
 * @param {Client} probe
 * @param {(client: Client, index: number) => Promise<import("./serve-client.mjs").Turn>} begin
 */
async function streamAll(clients, served, probe, begin) {
  const running = [];
  for (const [index, client] of clients.entries()) {
    running.push(begin(client, index));
    // Staggered, like real clients.
    await pause(5);
  }
  let isOver = false;
  const before = served.usage();
  const startedAt = performance.now();
  let took = 0;
  let cpu = 0;
  const ended = Promise.race(running).then(() => {
    // From here on, their number shrinks.
    took = performance.now() - startedAt;
    cpu = (served.usage().cpu - before.cpu) / 1000 / took;
    isOver = true;
  });
  const probes = [];
  while (!isOver) {
    probes.push(await probe.roundTrip("echo", { message: "hello" }));
    await pause(10);
  }
  await ended;
  const turns = await Promise.all(running);
  const within = (/** @type {number} */ at) => at >= startedAt && at <= startedAt + took;
  const gaps = turns.flatMap(({ arrivals }) =>
    arrivals.flatMap((at, index) => (index === 0 ? [] : [at - (arrivals[index - 1] ?? 0) - streamed.everyMs])),
  );
  const rate = turns.flatMap(({ arrivals }) => arrivals.filter(within)).length / (took / 1000);
  return { turns, gaps, probes, rate, cpu };
}

/**
 * The leftovers of clients that connect, start a session, get an answer, stop it and leave.
 * @param {import("./served.mjs").Served} _
 * @param {import("./served.mjs").Tinman} tinman
 * @returns {Promise<Part>}
 */
async function cycles(_, tinman) {
  const run = async (/** @type {number} */ count) => {
    let left = count;
    await many(workers, async () => {
      while (left-- > 0) {
        const client = await connect(tinman.address);
        const sessionId = await client.start();
        await client.turn(sessionId, "What do you see?");
        await client.stop(sessionId);
        await client.close();
      }
    });
  };
  const state = async () => {
    await pause(2_000);
    const heap = await tinman.heap();
    return {
      heap,
      rss: tinman.usage().rss,
      sockets: tinman.sockets(),
      sessions: await tinman.metric("tinman_sessions"),
      connections: await tinman.metric("tinman_connections"),
    };
  };
  await run(Math.max(1_000, Math.ceil(cycleCount / 10)));
  const before = await state();
  const startedAt = performance.now();
  await run(cycleCount);
  const took = performance.now() - startedAt;
  const after = await state();
  const grown = (/** @type {"heap" | "rss"} */ key) => (after[key] - before[key]) / cycleCount;
  const mb = (/** @type {number} */ bytes) => (bytes / megabyte).toFixed(1);
  const pair = (/** @type {number | string} */ a, /** @type {number | string} */ b) => `${a} -> ${b}`;
  const open = Math.max(0, after.sockets - before.sockets) + after.sessions + after.connections;
  return {
    rows: [
      [`${cycleCount} cycles, a second`, "", (cycleCount / (took / 1000)).toFixed(0), ""],
      ["  open sessions", "", pair(before.sessions, after.sessions), ""],
      ["  connections", "", pair(before.connections, after.connections), ""],
      ["  the process's sockets", "", pair(before.sockets, after.sockets), ""],
      ["  heap in use, MB", "", pair(mb(before.heap), mb(after.heap)), `${grown("heap").toFixed(0)} bytes a cycle`],
      ["  RSS, MB", "", pair(mb(before.rss), mb(after.rss)), `${grown("rss").toFixed(0)} bytes a cycle`],
    ],
    results: [
      { what: "leftover sessions and sockets", text: String(open), value: measured(open), target: 0 },
      {
        what: "heap, bytes more a cycle",
        text: grown("heap").toFixed(0),
        value: measured(grown("heap")),
        target: 100,
      },
    ],
  };
}

/**
 * @param {string} what
 * @param {number[]} echoes
 * @param {number[]} values
 * @returns {Part}
 */
function compared(what, echoes, values) {
  const difference = pairwise(values, echoes, (value, base) => value - base);
  const text = show(difference, 2);
  return {
    rows: [[what, show(spread(echoes), 2), show(spread(values), 2), text]],
    results: [{ what: `${what} after the echo`, text, value: measured(difference.value), target: 2 }],
  };
}

/**
 * @param {import("./served.mjs").Served} floor
 * @param {import("./served.mjs").Tinman} tinman
 */
function both(floor, tinman) {
  return Promise.all([connect(floor.address), connect(tinman.address)]);
}

/**
 * @param {readonly number[]} values
 * @param {number} share
 */
function quantile(values, share) {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? Number.NaN;
}

/** @param {number} value */
function measured(value) {
  return Number.isNaN(value) ? undefined : value;
}

/** @returns {number[]} */
function numbers() {
  return [];
}
