import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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

/** The cost of starting Tinman, relative to starting Node. */

const { check, program, pairs = 30 } = options();
if (!(pairs >= 20)) throw new Error("--pairs must be 20 or more");

await inFreshPlace((place) => {
  const empty = join(place.folder, "empty.js");
  const emptyModule = join(place.folder, "empty.mjs");
  for (const path of [empty, emptyModule]) writeFileSync(path, "");
  const commands = [
    { name: "empty script", args: [empty] },
    { name: "tinman --version", args: [program, "--version"] },
    { name: "tinman exec", args: [program, "exec", "-o", "json", "Just reply OK."] },
    { name: "tinman exec, fresh home", args: [program, "exec", "-o", "json", "Just reply OK."] },
    // Without a target: the cost of Node's module loader before our code runs.
    { name: "empty ES module", args: [emptyModule] },
  ];
  const freshHome = join(place.folder, "fresh-home");
  const freshPlace = { ...place, environment: { ...place.environment, TINMAN_HOME: freshHome } };
  const walls = interleaved(commands, pairs, (command) => {
    if (command !== commands[3]) return wallTime(command, place);
    rmSync(freshHome, { recursive: true, force: true });
    return wallTime(command, freshPlace);
  });
  const [base = [], version = [], exec = [], fresh = []] = walls;
  const meter = memoryMeter(place);
  const memory = meter ? interleaved(commands, 7, meter.peak) : undefined;

  process.stdout.write(
    `Node ${process.version}, ${process.platform} ${process.arch}; ${pairs} interleaved rounds; median (p10-p90)\n\n`,
  );
  printTable([
    ["command", "wall ms", "of the empty script", "peak MB", "of the empty script"],
    ...commands.map(({ name }, index) => {
      const wall = walls[index] ?? [];
      const peak = memory?.[index];
      return [
        name,
        show(spread(wall), 0),
        show(pairwise(wall, base, ratio), 2),
        peak ? show(spread(peak.map(toMegabytes)), 0) : "-",
        peak ? show(pairwise(peak, memory?.[0] ?? [], ratio), 2) : "-",
      ];
    }),
  ]);
  process.stdout.write(
    meter ? `\nPeak memory read by ${meter.by}.\n` : "\nPeak memory NOT MEASURED: install GNU time or python3.\n",
  );

  const versionWall = pairwise(version, base, ratio);
  const execWall = pairwise(exec, base, ratio);
  const freshWall = pairwise(fresh, base, ratio);
  const execMemory = memory && pairwise(memory[2] ?? [], memory[0] ?? [], ratio);
  judge(
    [
      { what: "tinman --version, wall", text: show(versionWall, 2), value: versionWall.value, target: 1.5 },
      { what: "tinman exec, wall", text: show(execWall, 2), value: execWall.value, target: 3.0 },
      { what: "the same in a fresh home, wall", text: show(freshWall, 2), value: freshWall.value, target: 3.0 },
      {
        what: "tinman exec, peak memory",
        text: execMemory ? show(execMemory, 2) : "-",
        value: execMemory?.value,
        target: 2.4,
      },
    ],
    check,
  );
});

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
