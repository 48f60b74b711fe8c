import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { standIns } from "./scripts/stand-ins-plugin.mjs";
import { textFiles } from "./scripts/text-plugin.mjs";

const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };

export default defineConfig({
  define: { TINMAN_VERSION: JSON.stringify(version) },
  plugins: [{ ...textFiles(), enforce: "pre" }, standIns()],
  test: {
    include: ["test/**/*.test.ts"],
    // Needs a program that is no dependency: see CONTRIBUTING.md.
    exclude: process.env.TINMAN_TEST_ACPX ? [] : ["test/frontends/acp/acpx.test.ts"],
    globalSetup: ["test/build-once.ts"],
    setupFiles: ["test/no-warnings.ts", "test/without-sandbox.ts"],
    // These run on our streams here as they do in the bundle.
    server: { deps: { inline: [/@ai-sdk/, /@modelcontextprotocol\/client/, /eventsource-parser/] } },
    pool: "forks",
    // Less CPU time for the collector and the optimiser, which threads of more workers than cores would compete for.
    execArgv: ["--single-threaded-gc", "--max-semi-space-size=64", "--interrupt-budget=1000000"],
    // A worker keeps the modules that it has loaded: loading them again for each file would be a fifth of all the work.
    isolate: false,
    // Tests wait for processes and for each other: one more than there are cores keeps all of them busy.
    maxWorkers: availableParallelism() + 1,
    // A full run repeats some tests thousands of times.
    testTimeout: process.env.TINMAN_TEST_FULL ? 900_000 : 30_000,
    hookTimeout: 60_000,
  },
});
