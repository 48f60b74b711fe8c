import { readFileSync } from "node:fs";

/**
 * The end of a CI run: `ci-summary.mjs <vitest's json report> <exit code of the run>`. Names failed and skipped tests,
 * prints `N passed, N failed` as the last line, and exits with 1 unless everything ran and passed. A skipped test
 * counts as failed, because CI has everything the tests need.
 *
 * @typedef {{ fullName: string, status: string }} Assertion
 * @typedef {{ name: string, status: string, message?: string, assertionResults: Assertion[] }} TestFile
 */

const [reportPath = "", exitCode = "1"] = process.argv.slice(2);

/** @returns {readonly TestFile[]} */
function readReport() {
  try {
    return JSON.parse(readFileSync(reportPath, "utf8")).testResults;
  } catch {
    return [];
  }
}

const files = readReport();
const tests = files.flatMap((file) => file.assertionResults);
const passed = tests.filter(({ status }) => status === "passed");
const faults = [
  ...tests.filter(({ status }) => status !== "passed").map(({ fullName, status }) => `${status}: ${fullName}`),
  ...files.filter(isBroken).map(({ name }) => `failed: ${name} as a whole`),
];
if (faults.length === 0 && tests.length === 0) faults.push("failed: no test was run");
if (faults.length === 0 && exitCode !== "0") faults.push(`failed: the run ended with ${exitCode}`);

for (const fault of faults) process.stdout.write(`${fault}\n`);
process.stdout.write(`${passed.length} passed, ${faults.length} failed\n`);
process.exitCode = faults.length === 0 ? 0 : 1;

/**
 * A file that failed to load, or whose set-up failed, reports no failed test.
 * @param {TestFile} file
 */
function isBroken({ status, assertionResults }) {
  return status === "failed" && assertionResults.every((test) => test.status !== "failed");
}
