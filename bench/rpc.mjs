import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sum } from "./line-client.mjs";
import { inFreshPlace, judge, options, pairwise, printTable, show, spread } from "./measure.mjs";
import { startSession } from "./rpc-client.mjs";
import { configureModels, keyVariable, withModelServer } from "./with-model-server.mjs";

/**
 * How long a client of `stream-jsonrpc` waits, compared with a program that only forwards the model's reply.
 * `BENCH_DROID` can name a `droid` for the same tables.
 *
 * @typedef {import("./line-client.mjs").Server} Server
 * @typedef {import("./rpc-client.mjs").Client} Client
 */

const { check, program, pairs = 20 } = options();
if (!(pairs >= 20)) throw new Error("--pairs must be 20 or more");
const turns = 30;
const early = 3;
const pieces = 50_000;
const many = 10;
const megabyte = 1024 * 1024;
const floorProgram = fileURLToPath(new URL("rpc-floor.cjs", import.meta.url));
const wire = ["exec", "--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"];

await inFreshPlace((place) =>
  withModelServer(async (port) => {
    const short = serversFor(place.folder, port, "words-20");
    process.stdout.write(
      `Node ${process.version}, ${process.platform} ${process.arch}; ${pairs} interleaved rounds; median (p10-p90)\n\n`,
    );

    // It takes minutes, and the table is printed last.
    const begin = (/** @type {string} */ part) => process.stderr.write(`${part} …\n`);
    begin("starts");
    const starts = await measureStarts(short, place.folder);
    begin("turns");
    const talks = await measureTurns(short);
    const streams = [];
    for (const { pace, how } of [
      { pace: "words", how: "many in a packet" },
      { pace: "steady", how: "each in a separate packet" },
    ]) {
      begin(`long answers, ${how}`);
      streams.push({ how, each: await measureStream(serversFor(place.folder, port, `${pace}-${pieces}`)) });
    }
    begin("many at once");
    const crowds = await measureCrowd(short);

    /**
     * @template {string} K
     * @param {string} what
     * @param {readonly Record<K, number[]>[]} each
     * @param {K} key
     * @param {number} [digits]
     */
    const row = (what, each, key, digits = 1) => [what, ...each.map((lists) => shown(spread(lists[key]), digits))];
    printTable([
      ["", ...short.map(({ name }) => name)],
      row("ready, ms", starts, "ready"),
      row("  of an empty script", starts, "ratio", 2),
      row("  CPU ms until then", starts, "cpu"),
      row("  RSS MB then", starts, "rss"),
      row(`prompt to first delta, ms, turns ${early} to ${turns}`, talks, "first", 2),
      row("  to idle, ms", talks, "whole", 2),
      row("  CPU ms for such a turn", talks, "cpu", 2),
      row(`  turn ${turns} of turn ${early}`, talks, "growth", 2),
      row("  the last five of the first five of these", talks, "trend", 2),
      row(`  RSS MB after ${turns} turns`, talks, "rss"),
      ...streams.flatMap(({ how, each }) => [
        row(`CPU us for a piece, ${how}`, each, "cpu", 2),
        row("  wall us", each, "wall", 2),
        row("  lines with text", each, "lines", 0),
        row("  RSS MB after it", each, "rss"),
      ]),
      row(`${many} at once: all ready, ms`, crowds, "ready", 0),
      row("  CPU ms in all", crowds, "cpu", 0),
      row("  RSS MB in all", crowds, "rss", 0),
    ]);

    const [floor, own] = talks;
    judge(
      [
        target("ready, of an empty script", spread(starts[1]?.ratio ?? []), 3),
        target(
          "first delta, ms after the floor's",
          pairwise(own?.first ?? [], floor?.first ?? [], (value, base) => value - base),
          2.5,
        ),
        ...streams.map(({ how, each }) =>
          target(`CPU for a piece, ${how}, of the floor's`, pairwise(each[1]?.cpu ?? [], each[0]?.cpu ?? [], ratio), 6),
        ),
        target(`RSS MB after ${turns} turns`, spread(own?.rss ?? []), 110),
        target(`turn ${turns} of turn ${early}`, spread(own?.growth ?? []), 1.2),
      ],
      check,
    );
  }),
);

/**
 * @param {import("./measure.mjs").Spread} measured
 * @param {number} digits
 */
function shown(measured, digits) {
  return Number.isNaN(measured.value) ? "-" : show(measured, digits);
}

/**
 * @param {string} what
 * @param {import("./measure.mjs").Spread} measured
 * @param {number} most
 */
function target(what, measured, most) {
  const value = Number.isNaN(measured.value) ? undefined : measured.value;
  return { what, text: shown(measured, 2), value, target: most };
}

/**
 * The measured programs: the floor, ours, and others. Each has a home that names the server's model.
 * @param {string} folder
 * @param {number} port
 * @param {string} model
 * @returns {Server[]}
 */
function serversFor(folder, port, model) {
  const cwd = join(folder, "workspace");
  const home = join(folder, model);
  configureModels(home, port, model);
  mkdirSync(cwd, { recursive: true });
  const env = { PATH: process.env.PATH, HOME: home, TINMAN_HOME: home, [keyVariable]: "bench" };
  const own = { cwd, env, command: process.execPath };
  const servers = [
    { ...own, name: "floor", args: [floorProgram, String(port), model], modelId: model },
    { ...own, name: "tinman", args: [program, ...wire], modelId: "chat" },
  ];
  const droid = process.env.BENCH_DROID;
  if (!droid) return servers;
  const entry = { model, displayName: "Bench", provider: "generic-chat-completion-api", apiKey: "bench" };
  mkdirSync(join(home, ".factory"), { recursive: true });
  writeFileSync(
    join(home, ".factory", "settings.json"),
    JSON.stringify({ customModels: [{ ...entry, baseUrl: `http://127.0.0.1:${port}/v1` }] }),
  );
  const key = process.env.FACTORY_API_KEY;
  const droidEnv = key === undefined ? env : { ...env, FACTORY_API_KEY: key };
  return [...servers, { name: "droid", command: droid, args: wire, cwd, env: droidEnv, modelId: "custom:Bench-0" }];
}

/**
 * From process start to the response to `initialize_session`, beside an empty script from start to end.
 * @param {readonly Server[]} servers
 * @param {string} folder
 */
async function measureStarts(servers, folder) {
  const script = join(folder, "empty.js");
  writeFileSync(script, "");
  const each = servers.map(() => lists("ready", "ratio", "cpu", "rss"));
  await inRounds(2, async (keep) => {
    const startedAt = performance.now();
    await once(spawn(process.execPath, [script], { cwd: folder, env: servers[0]?.env, stdio: "pipe" }), "exit");
    const empty = performance.now() - startedAt;
    for (const [index, server] of servers.entries()) {
      const client = await startSession(server);
      const { cpu, rss } = client.usage();
      await client.close();
      const { ready } = client;
      keep(each[index], { ready, ratio: ready / empty, cpu: cpu / 1000, rss: rss / megabyte });
    }
  });
  return each;
}

/**
 * Turns of all programs alternately, in new processes each round. The first turns warm up.
 * @param {readonly Server[]} servers
 */
async function measureTurns(servers) {
  const each = servers.map(() => lists("first", "whole", "growth", "trend", "cpu", "rss"));
  await inRounds(1, async (keep) => {
    const clients = await startAll(servers);
    for (let turn = 1; turn < early; turn++) for (const client of clients) await client.turn();
    const before = clients.map((client) => client.usage());
    const wholes = servers.map(() => /** @type {number[]} */ ([]));
    for (let turn = early; turn <= turns; turn++) {
      for (const [index, client] of clients.entries()) {
        const { first, whole } = await client.turn();
        wholes[index]?.push(whole);
        keep(each[index], { first, whole });
      }
    }
    for (const [index, client] of clients.entries()) {
      const { cpu, rss } = client.usage();
      const took = wholes[index] ?? [];
      keep(each[index], {
        growth: ratio(took.at(-1), took[0]),
        trend: spread(took.slice(-5)).value / spread(took.slice(0, 5)).value,
        cpu: (cpu - (before[index]?.cpu ?? 0)) / 1000 / took.length,
        rss: rss / megabyte,
      });
    }
    await closeAll(clients);
  });
  return each;
}

/**
 * A long reply, in a new process after one such reply to warm up.
 * @param {readonly Server[]} servers
 */
async function measureStream(servers) {
  const each = servers.map(() => lists("wall", "lines", "cpu", "rss"));
  await inRounds(0, async (keep) => {
    for (const [index, server] of servers.entries()) {
      const client = await startSession(server);
      await client.turn();
      await client.initialize();
      const before = client.usage();
      const { whole, deltas } = await client.turn();
      const { cpu, rss } = client.usage();
      await client.close();
      const wall = (whole * 1000) / pieces;
      keep(each[index], { wall, lines: deltas, cpu: (cpu - before.cpu) / pieces, rss: rss / megabyte });
    }
  });
  return each;
}

/**
 * Many processes started at the same time.
 * @param {readonly Server[]} servers
 */
async function measureCrowd(servers) {
  const each = servers.map(() => lists("ready", "cpu", "rss"));
  await inRounds(1, async (keep) => {
    for (const [index, server] of servers.entries()) {
      const clients = await startAll(Array.from({ length: many }, () => server));
      const used = clients.map((client) => client.usage());
      await closeAll(clients);
      keep(each[index], {
        ready: Math.max(...clients.map(({ ready }) => ready)),
        cpu: sum(used.map(({ cpu }) => cpu)) / 1000,
        rss: sum(used.map(({ rss }) => rss)) / megabyte,
      });
    }
  });
  return each;
}

/** @typedef {(lists: Record<string, number[]> | undefined, values: Readonly<Record<string, number>>) => void} Keep */

/**
 * The rounds of a measurement; the first ones only warm up.
 * @param {number} warm
 * @param {(keep: Keep) => Promise<void>} work
 */
async function inRounds(warm, work) {
  for (let round = 0; round < warm; round++) await work(() => {});
  for (let round = 0; round < pairs; round++) {
    await work((lists, values) => {
      for (const [key, value] of Object.entries(values)) lists?.[key]?.push(value);
    });
  }
}

/** @param {readonly Server[]} servers */
function startAll(servers) {
  return Promise.all(servers.map(startSession));
}

/** @param {readonly Client[]} clients */
async function closeAll(clients) {
  await Promise.all(clients.map((client) => client.close()));
}

/**
 * @template {string} K
 * @param {K[]} keys
 */
function lists(...keys) {
  const made = /** @type {Record<K, number[]>} */ ({});
  for (const key of keys) made[key] = [];
  return made;
}

/**
 * @param {number} [value]
 * @param {number} [base]
 */
function ratio(value = Number.NaN, base = Number.NaN) {
  return value / base;
}
