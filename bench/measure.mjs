import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

/**
 * @typedef {{ readonly name: string, readonly args: readonly string[] }} Command Arguments for this Node.
 * @typedef {{ readonly value: number, readonly low: number, readonly high: number }} Spread A median with the 10th and
 * 90th percentile.
 * @typedef {{ readonly what: string, readonly text: string, readonly value: number | undefined, readonly target: number }} Result
 * @typedef {{ readonly folder: string, readonly environment: NodeJS.ProcessEnv }} Place
 */

/**
 * The options of all benchmarks: `--check` turns a missed target into an exit code, `--program` measures another
 * build. `more`: names of further options with a value.
 * @param {readonly string[]} more
 */
export function options(more = []) {
  const { values } = parseArgs({
    options: {
      ...Object.fromEntries(more.map((name) => [name, { type: /** @type {const} */ ("string") }])),
      check: { type: "boolean", default: false },
      pairs: { type: "string" },
      program: { type: "string", default: fileURLToPath(new URL("../dist/main.cjs", import.meta.url)) },
    },
  });
  if (!existsSync(values.program)) throw new Error(`${values.program} does not exist. Run: npm run build`);
  return {
    check: values.check,
    program: values.program,
    pairs: values.pairs === undefined ? undefined : Number(values.pairs),
    more: /** @type {Readonly<Record<string, unknown>>} */ (values),
  };
}

/**
 * Runs the work with a fresh home folder and workspace, and removes them.
 * @template T
 * @param {(place: Place) => T | Promise<T>} work
 */
export async function inFreshPlace(work) {
  const folder = mkdtempSync(join(tmpdir(), "tinman-bench-"));
  const environment = {
    PATH: process.env.PATH,
    HOME: folder,
    TINMAN_HOME: join(folder, "home"),
    TINMAN_MODEL: "offline",
  };
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const stop = () => {
    remove();
    process.exit(1);
  };
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, stop);
  try {
    return await work({ folder, environment });
  } catch (error) {
    // A failure prints one line instead of the table.
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
    return undefined;
  } finally {
    remove();
  }
}

/**
 * Milliseconds from start to exit. Throws if the command fails, because failures are fast.
 * @param {Command} command
 * @param {Place} place
 */
export function wallTime({ name, args }, { folder, environment }) {
  const startedAt = performance.now();
  const run = spawnSync(process.execPath, args, { cwd: folder, env: environment, stdio: ["ignore", "pipe", "pipe"] });
  const elapsed = performance.now() - startedAt;
  if (run.status !== 0) throw new Error(`${name} ended with ${run.status ?? run.signal}: ${run.stderr}`);
  return elapsed;
}

/**
 * Runs the commands alternately, A B A B …, so that other load affects all of them. One list of values per command.
 * @param {readonly Command[]} commands
 * @param {number} rounds
 * @param {(command: Command) => number} measure
 */
export function interleaved(commands, rounds, measure) {
  for (const command of commands) for (let warm = 0; warm < 2; warm++) measure(command);
  /** @type {number[][]} */
  const values = commands.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, command] of commands.entries()) values[index]?.push(measure(command));
  }
  return values;
}

const pythonMeter = `
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(peak // 1024 if sys.platform == "darwin" else peak)
sys.exit(code)`;

/**
 * Reads a process's peak resident memory in KiB; undefined if the machine has no tool for it. Node cannot read it for
 * an ended child.
 * @param {Place} place
 * @returns {{ readonly by: string, peak(command: Command): number } | undefined}
 */
export function memoryMeter({ folder, environment }) {
  const report = join(folder, "peak");
  /** @type {readonly { by: string, command: string, before: readonly string[], read: (stdout: string) => string }[]} */
  const meters = [
    {
      by: "GNU time",
      command: "/usr/bin/time",
      before: ["-f", "%M", "-o", report],
      read: () => readFileSync(report, "utf8"),
    },
    { by: "Python's getrusage", command: "python3", before: ["-c", pythonMeter], read: (stdout) => stdout },
  ];
  for (const { by, command, before, read } of meters) {
    /** @param {Command} measured */
    const peak = ({ name, args }) => {
      // A version manager's Python needs the real home to start; the measured program gets the fresh one.
      const target = ["env", "-i", ...Object.entries(environment).map(([key, value]) => `${key}=${value}`)];
      const run = spawnSync(command, [...before, ...target, process.execPath, ...args], {
        cwd: folder,
        encoding: "utf8",
      });
      if (run.status !== 0) throw new Error(`${name} ended with ${run.status ?? run.error}: ${run.stderr}`);
      return Number.parseInt(read(run.stdout), 10);
    };
    try {
      if (peak({ name: "a trial", args: ["-e", "0"] }) > 1_000) return { by, peak };
    } catch {
      // The next one might work.
    }
  }
  return undefined;
}

/**
 * @param {readonly number[]} values
 * @returns {Spread}
 */
export function spread(values) {
  const sorted = values.toSorted((a, b) => a - b);
  /** @param {number} share */
  const at = (share) => {
    const place = (sorted.length - 1) * share;
    const below = sorted[Math.floor(place)] ?? Number.NaN;
    const above = sorted[Math.ceil(place)] ?? Number.NaN;
    return below + (above - below) * (place - Math.floor(place));
  };
  return { value: at(0.5), low: at(0.1), high: at(0.9) };
}

/**
 * Compares each value with its partner of the same round.
 * @param {readonly number[]} values
 * @param {readonly number[]} base
 * @param {(value: number, base: number) => number} compare
 */
export function pairwise(values, base, compare) {
  return spread(values.map((value, index) => compare(value, base[index] ?? Number.NaN)));
}

/**
 * @param {Spread} spread
 * @param {number} digits
 */
export function show({ value, low, high }, digits) {
  return `${value.toFixed(digits)} (${low.toFixed(digits)}-${high.toFixed(digits)})`;
}

/** @param {readonly (readonly string[])[]} rows the first is the heading */
export function printTable(rows) {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  for (const row of rows) {
    process.stdout.write(
      `${row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("   ")
        .trimEnd()}\n`,
    );
  }
}

/**
 * Prints each result next to its target. With `check`, a missed or unmeasured target is exit code 1.
 * @param {readonly Result[]} results
 * @param {boolean} check
 */
export function judge(results, check) {
  const verdicts = results.map((result) => ({
    ...result,
    met: result.value !== undefined && result.value <= result.target,
  }));
  process.stdout.write("\n");
  printTable([
    ["target", "measured", "at most", ""],
    ...verdicts.map(({ what, text, value, target, met }) => [
      what,
      text,
      String(target),
      value === undefined ? "not measured" : met ? "met" : "MISSED",
    ]),
  ]);
  if (check && verdicts.some(({ met }) => !met)) process.exitCode = 1;
}
