import { readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";
import { textFiles } from "./scripts/text-plugin.mjs";

const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };

export default defineConfig({
  define: { TINMAN_VERSION: JSON.stringify(version) },
  plugins: [{ ...textFiles(), enforce: "pre" }],
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/build-once.ts"],
    pool: "forks",
    maxWorkers: "100%",
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
