import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "./bundle.mjs";
import { inFreshPlace, interleaved, judge, options, pairwise, printTable, show, spread } from "./measure.mjs";
import { configureModels, keyVariable, wires, withModelServer } from "./with-model-server.mjs";

/**
 * The CPU cost of a piece of a reply from the socket to a client's line, relative to a minimal program: whole
 * processes after warm-up, including garbage collection.
 */

const { check, pairs = 10 } = options();
if (!(pairs >= 10)) throw new Error("--pairs must be 10 or more");
const pieces = 50_000;
const reader = fileURLToPath(new URL("stream-reader.mjs", import.meta.url));

await inFreshPlace((place) =>
  withModelServer(async (port) => {
    const folder = join(place.folder, "bundle");
    mkdirSync(folder);
    await bundle(folder, { compose: "compose.ts" });

    /**
     * Microseconds per piece, of the floor and of ours, once per round.
     * @param {string} pace the server's name for the pace of pieces
     * @param {string} wire
     */
    const measure = (pace, wire) => {
      const model = `${pace}-${pieces}`;
      const home = join(place.folder, pace);
      configureModels(home, port, model);
      const commands = [
        { name: "floor", args: [reader, "floor", String(port), wire, model] },
        { name: "tinman", args: [reader, "tinman", folder, wire] },
      ];
      const environment = { PATH: process.env.PATH, HOME: place.folder, TINMAN_HOME: home, [keyVariable]: "bench" };
      const [floor = [], own = []] = interleaved(commands, pairs, ({ name, args }) => {
        const run = spawnSync(process.execPath, args, { cwd: place.folder, env: environment, encoding: "utf8" });
        if (run.status !== 0) throw new Error(`${name} ended with ${run.status ?? run.signal}: ${run.stderr}`);
        return Number(run.stdout);
      });
      return { floor, own, ratio: pairwise(own, floor, (value, base) => value / base) };
    };

    const rows = [
      ...wires.map(({ wire, name }) => ({ name: `${name}, many in a packet`, ...measure("words", wire) })),
      { name: `${wires[0]?.name}, each in a separate packet`, ...measure("steady", "chat") },
    ];
    process.stdout.write(
      `Node ${process.version}; ${pieces} pieces, after as many to warm up; ${pairs} interleaved rounds; median (p10-p90)\n\n`,
    );
    printTable([
      ["CPU microseconds for each piece", "node:http and JSON", "tinman", "ratio"],
      ...rows.map(({ name, floor, own, ratio }) => [
        name,
        show(spread(floor), 1),
        show(spread(own), 1),
        show(ratio, 2),
      ]),
    ]);
    const judged = rows.filter(({ name }) => name.startsWith(String(wires[0]?.name)));
    judge(
      judged.map(({ name, ratio }) => ({ what: name, text: show(ratio, 2), value: ratio.value, target: 5 })),
      check,
    );
  }),
);
