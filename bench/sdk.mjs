import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inFreshPlace, interleaved, judge, options, pairwise, printTable, show, spread, wallTime } from "./measure.mjs";
import { startSession } from "./rpc-client.mjs";

/** The SDK's cost relative to minimal clients: loading it, opening a session, reading an event. */

const { check, program, pairs = 20 } = options();
if (!(pairs >= 20)) throw new Error("--pairs must be 20 or more");
const pieces = 50_000;
const sdk = new URL("../dist/sdk/node.js", import.meta.url);
const reader = fileURLToPath(new URL("sdk-reader.mjs", import.meta.url));
const wire = ["exec", "--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"];

await inFreshPlace(async (place) => {
  process.stdout.write(
    `Node ${process.version}, ${process.platform} ${process.arch}; ${pairs} interleaved rounds; median (p10-p90)\n\n`,
  );
  const [empty = [], loaded = []] = measureLoad(place);
  const opened = await measureOpening(place);
  const taken = measureEvents(place);

  const load = pairwise(loaded, empty, ratio);
  const opening = pairwise(opened.sdk, opened.bare, (value, base) => value - base);
  const cpu = pairwise(taken.sdk.cpu, taken.floor.cpu, ratio);
  const speed = pairwise(taken.sdk.perSecond, taken.floor.perSecond, ratio);
  printTable([
    ["", "bare client", "SDK", ""],
    ["an empty module, and one that imports the SDK, ms", ...both(empty, loaded, 1), `${show(load, 2)} times`],
    ["a session of tinman is open, ms", ...both(opened.bare, opened.sdk, 1), `${show(opening, 1)} ms more`],
    ["CPU us for an event", ...both(taken.floor.cpu, taken.sdk.cpu, 2), `${show(cpu, 2)} times`],
    ["events a second", ...both(taken.floor.perSecond, taken.sdk.perSecond, 0), `${show(speed, 2)} times`],
  ]);
  judge(
    [
      { what: "import, of an empty module", text: show(load, 2), value: load.value, target: 1.3 },
      { what: "open, ms after the bare client", text: show(opening, 1), value: opening.value, target: 5 },
      { what: "CPU for an event, of the bare client's", text: show(cpu, 2), value: cpu.value, target: 4 },
    ],
    check,
  );
});

/**
 * @param {readonly number[]} bare
 * @param {readonly number[]} own
 * @param {number} digits
 */
function both(bare, own, digits) {
  return [show(spread(bare), digits), show(spread(own), digits)];
}

/** @param {import("./measure.mjs").Place} place */
function measureLoad(place) {
  const scripts = [
    { name: "empty module", code: "" },
    { name: "import of the SDK", code: `import { createSession } from ${JSON.stringify(sdk.href)};` },
  ];
  const commands = scripts.map(({ name, code }, index) => {
    const file = join(place.folder, `load-${index}.mjs`);
    writeFileSync(file, code);
    return { name, args: [file] };
  });
  return interleaved(commands, pairs, (command) => wallTime(command, place));
}

/**
 * From the call to a usable session, with the same program and the offline model.
 * @param {import("./measure.mjs").Place} place
 */
async function measureOpening({ folder, environment }) {
  const { createSession } = await import(sdk.href);
  const cwd = join(folder, "workspace");
  mkdirSync(cwd);
  const server = { name: "tinman", command: process.execPath, args: [program, ...wire], cwd, env: environment };
  // The SDK passes the environment on, and variables in ours can slow Node's start.
  const env = { ...Object.fromEntries(Object.keys(process.env).map((name) => [name, undefined])), ...environment };
  /** @type {{ bare: number[], sdk: number[] }} */
  const values = { bare: [], sdk: [] };
  for (let round = -2; round < pairs; round++) {
    const client = await startSession({ ...server, modelId: "offline" });
    await client.close();
    const startedAt = performance.now();
    const session = await createSession({ executable: program, cwd, env, modelId: "offline" });
    const took = performance.now() - startedAt;
    await session.close();
    if (round < 0) continue;
    values.bare.push(client.ready);
    values.sdk.push(took);
  }
  return values;
}

/**
 * Separate processes that read a long turn of a stand-in backend.
 * @param {import("./measure.mjs").Place} place
 */
function measureEvents({ folder, environment }) {
  const made = () => ({ cpu: /** @type {number[]} */ ([]), perSecond: /** @type {number[]} */ ([]) });
  const values = { floor: made(), sdk: made() };
  const modes = /** @type {const} */ (["floor", "sdk"]);
  for (let round = 0; round < pairs; round++) {
    for (const mode of modes) {
      const args = [reader, mode, String(pieces)];
      const run = spawnSync(process.execPath, args, { cwd: folder, env: environment, encoding: "utf8" });
      if (run.status !== 0) throw new Error(`${mode} ended with ${run.status ?? run.signal}: ${run.stderr}`);
      const { cpu, perSecond } = JSON.parse(run.stdout);
      values[mode].cpu.push(cpu);
      values[mode].perSecond.push(perSecond);
    }
  }
  return values;
}

/**
 * @param {number} value
 * @param {number} base
 */
function ratio(value, base) {
  return value / base;
}
