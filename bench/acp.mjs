import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startAgent } from "./acp-client.mjs";
import { inFreshPlace, judge, options, pairwise, printTable, show, spread } from "./measure.mjs";
import { startSession } from "./rpc-client.mjs";
import { configureModels, keyVariable, withModelServer } from "./with-model-server.mjs";

/**
 * How long an editor waits: for `initialize`, for a session, and from a prompt to its first words, compared with a
 * program that only forwards the model's reply. The adapter drives our own program.
 */

const { check, program, pairs = 20 } = options();
if (!(pairs >= 20)) throw new Error("--pairs must be 20 or more");
const early = 3;
const turns = 30;
const megabyte = 1024 * 1024;
const floorProgram = fileURLToPath(new URL("rpc-floor.cjs", import.meta.url));

await inFreshPlace((place) =>
  withModelServer(async (port) => {
    process.stdout.write(
      `Node ${process.version}, ${process.platform} ${process.arch}; ${pairs} interleaved rounds; median (p10-p90)\n\n`,
    );
    const { floor, agents } = serversFor(place.folder, port, "words-20");
    process.stderr.write("starts …\n");
    const starts = await measureStarts(agents, place.folder);
    process.stderr.write("turns …\n");
    const talks = await measureTurns(floor, agents);

    const after = (/** @type {number[]} */ values) =>
      pairwise(values, talks.floor.first, (value, base) => value - base);
    printTable([
      ["", "floor", ...agents.map(({ name }) => name)],
      ["hello, ms", "", ...starts.map(({ ready }) => show(spread(ready), 1))],
      ["  of an empty script", "", ...starts.map(({ ratio }) => show(spread(ratio), 2))],
      ["  a session, ms after it", "", ...starts.map(({ open }) => show(spread(open), 1))],
      ["  RSS MB then", "", ...starts.map(({ rss }) => show(spread(rss), 1))],
      [
        "prompt to first words, ms",
        show(spread(talks.floor.first), 2),
        ...talks.agents.map(({ first }) => show(spread(first), 2)),
      ],
      ["  after the floor's", "", ...talks.agents.map(({ first }) => show(after(first), 2))],
      [
        "  to the end, ms",
        show(spread(talks.floor.whole), 2),
        ...talks.agents.map(({ whole }) => show(spread(whole), 2)),
      ],
    ]);
    const [own] = starts;
    const hello = spread(own?.ratio ?? []);
    const first = after(talks.agents[0]?.first ?? []);
    judge(
      [
        { what: "hello, of an empty script", text: show(hello, 2), value: hello.value, target: 4 },
        { what: "first words, ms after the floor's", text: show(first, 2), value: first.value, target: 3 },
      ],
      check,
    );
  }),
);

/**
 * @param {string} folder
 * @param {number} port
 * @param {string} model
 */
function serversFor(folder, port, model) {
  const cwd = join(folder, "workspace");
  const home = join(folder, model);
  configureModels(home, port, model);
  mkdirSync(cwd, { recursive: true });
  const env = { PATH: process.env.PATH, HOME: home, TINMAN_HOME: home, [keyVariable]: "bench" };
  const own = { cwd, env, command: process.execPath, modelId: model };
  return {
    floor: { ...own, name: "floor", args: [floorProgram, String(port), model] },
    agents: [
      { ...own, name: "tinman acp", args: [program, "acp", "-m", "chat"] },
      { ...own, name: "--backend tinman", args: [program, "acp", "-m", "chat", "--backend", program] },
    ],
  };
}

/**
 * @param {readonly import("./line-client.mjs").Server[]} agents
 * @param {string} folder
 */
async function measureStarts(agents, folder) {
  const script = join(folder, "empty.js");
  writeFileSync(script, "");
  const each = agents.map(() => ({ ready: number(), ratio: number(), open: number(), rss: number() }));
  for (let round = -2; round < pairs; round++) {
    const startedAt = performance.now();
    await once(spawn(process.execPath, [script], { cwd: folder, env: agents[0]?.env, stdio: "pipe" }), "exit");
    const empty = performance.now() - startedAt;
    for (const [index, server] of agents.entries()) {
      const agent = await startAgent(server);
      const open = await agent.open();
      const { rss } = agent.usage();
      await agent.close();
      if (round < 0) continue;
      each[index]?.ready.push(agent.ready);
      each[index]?.ratio.push(agent.ready / empty);
      each[index]?.open.push(open);
      each[index]?.rss.push(rss / megabyte);
    }
  }
  return each;
}

/**
 * Turns of all programs alternately, in new processes each round. The first turns warm up.
 * @param {import("./line-client.mjs").Server} floor
 * @param {readonly import("./line-client.mjs").Server[]} agents
 */
async function measureTurns(floor, agents) {
  const each = [floor, ...agents].map(() => ({ first: number(), whole: number() }));
  for (let round = 0; round < pairs; round++) {
    const base = await startSession(floor);
    const opened = await Promise.all(agents.map(startAgent));
    for (const agent of opened) await agent.open();
    const clients = [base, ...opened];
    for (let turn = 1; turn <= turns; turn++) {
      for (const [index, client] of clients.entries()) {
        const { first, whole } = await client.turn();
        if (turn < early) continue;
        each[index]?.first.push(first);
        each[index]?.whole.push(whole);
      }
    }
    await Promise.all(clients.map((client) => client.close()));
  }
  const [ofFloor = { first: number(), whole: number() }, ...ofAgents] = each;
  return { floor: ofFloor, agents: ofAgents };
}

/** @returns {number[]} */
function number() {
  return [];
}
