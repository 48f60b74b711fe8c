import { cpSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  inFreshPlace,
  interleaved,
  judge,
  memoryMeter,
  options,
  pairwise,
  printTable,
  show,
  spread,
  wallTime,
} from "./measure.mjs";
import { configureModels, keyVariable, wires, withModelServer } from "./with-model-server.mjs";

/** The cost of a run against a model server, relative to a minimal client. */

const { check, program, pairs = 30 } = options();
if (!(pairs >= 20)) throw new Error("--pairs must be 20 or more");
const model = "words-20";
const bareClient = fileURLToPath(new URL("bare-client.cjs", import.meta.url));

await inFreshPlace((fresh) =>
  withModelServer((port) => {
    const place = { folder: fresh.folder, environment: environmentOf(join(fresh.folder, "home"), port) };
    const freshHome = join(fresh.folder, "fresh-home");
    const commands = wires.flatMap(({ wire, name }) => [
      { name: `node:http, ${name}`, args: [bareClient, String(port), wire, model] },
      { name: `tinman exec, ${name}`, args: [program, "exec", "-m", wire, "-o", "json", "hi"] },
    ]);
    const [floor, own] = commands;
    if (floor === undefined || own === undefined) throw new Error("nothing to measure");
    const inFreshHome = { ...own, name: "tinman exec, fresh home" };
    // Without a target: the cost with another Node than the build's.
    const bare = join(fresh.folder, "bare");
    cpSync(dirname(program), bare, { recursive: true, filter: (path) => basename(path) !== "compiled" });
    const withoutCode = {
      name: "the same, without compiled code",
      args: [join(bare, basename(program)), ...own.args.slice(1)],
    };
    const all = [...commands, inFreshHome, withoutCode];
    const walls = interleaved(all, pairs, (command) => {
      if (command !== inFreshHome && command !== withoutCode) return wallTime(command, place);
      rmSync(freshHome, { recursive: true, force: true });
      return wallTime(command, { folder: fresh.folder, environment: environmentOf(freshHome, port) });
    });
    const meter = memoryMeter(place);
    const memory = meter ? interleaved(commands, 7, meter.peak) : undefined;

    process.stdout.write(
      `Node ${process.version}, ${process.platform} ${process.arch}; ${pairs} interleaved rounds; median (p10-p90)\n\n`,
    );
    printTable([
      ["command", "wall ms", "of its bare program", "peak MB"],
      ...all.map((command, index) => {
        const base = index >= commands.length ? walls[0] : index % 2 === 0 ? undefined : walls[index - 1];
        const peak = memory?.[index];
        return [
          command.name,
          show(spread(walls[index] ?? []), 0),
          base ? show(pairwise(walls[index] ?? [], base, ratio), 2) : "",
          peak ? show(spread(peak.map(toMegabytes)), 0) : "-",
        ];
      }),
    ]);
    process.stdout.write(
      meter ? `\nPeak memory read by ${meter.by}.\n` : "\nPeak memory NOT MEASURED: install GNU time or python3.\n",
    );

    const wall = pairwise(walls[1] ?? [], walls[0] ?? [], ratio);
    const freshWall = pairwise(walls[commands.length] ?? [], walls[0] ?? [], ratio);
    const peak = memory && spread((memory[1] ?? []).map(toMegabytes));
    judge(
      [
        { what: "a run over HTTP, wall", text: show(wall, 2), value: wall.value, target: 2.5 },
        { what: "the same in a fresh home, wall", text: show(freshWall, 2), value: freshWall.value, target: 3.0 },
        { what: "the same, peak MB", text: peak ? show(peak, 0) : "-", value: peak?.value, target: 100 },
      ],
      check,
    );
  }),
);

/**
 * @param {string} home Tinman's, which gets a configuration
 * @param {number} port
 */
function environmentOf(home, port) {
  configureModels(home, port, model);
  return { PATH: process.env.PATH, HOME: join(home, ".."), TINMAN_HOME: home, [keyVariable]: "bench" };
}

/**
 * @param {number} value
 * @param {number} base
 */
function ratio(value, base) {
  return value / base;
}

/** @param {number} kibibytes */
function toMegabytes(kibibytes) {
  return kibibytes / 1024;
}
