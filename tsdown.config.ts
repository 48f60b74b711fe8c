import { readFileSync } from "node:fs";
import { defineConfig } from "tsdown";
import { textFiles } from "./scripts/text-plugin.mjs";

const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };

/**
 * What every run needs goes into one file: each further one costs a millisecond at the start. Left out are the entry, and
 * what is loaded only when it is needed.
 */
const lazy =
  /\/src\/(main|compile-cache|commands\/(doctor|models|policy[^/]*|sessions)|permissions\/(?!(policy|autonomy|path-scope)\.ts).+|config\/schema|tools\/(?!all|descriptions)[^/]+|models\/(scripted|script-(format|choice)|http-failure|offline\/(?!info)[^/]+)|host\/(processes|process-tree|shell-start|output-pipe|spool-file|command-(output|progress)|ripgrep(-lines)?|search-walk|glob-pattern|look-up|where-it-leads|matching-files|name-pattern|links-below|git-credentials|program-file))\.ts$/;
const always = (id: string): boolean =>
  (id.includes("/src/") && !lazy.test(id)) || id.includes("/node_modules/commander/");

/** Commander starts other programs for sub-commands that are programs. There are none, and loading what it takes is slow. */
const commanderStartsNothing = {
  name: "commander-starts-nothing",
  resolveId: (source: string, importer: string | undefined) =>
    source === "node:child_process" && importer?.includes("/commander/") ? "\0no-child-process" : undefined,
  load: (id: string) => (id === "\0no-child-process" ? "export {};" : undefined),
};

export default defineConfig({
  entry: { main: "src/main.ts" },
  // The program's own files only: measured, an ES module costs 7 ms more to start than this, and longer sources 4 ms more.
  format: "cjs",
  minify: true,
  platform: "node",
  target: "node20.19",
  outDir: "dist",
  clean: true,
  dts: false,
  hash: false,
  fixedExtension: true,
  define: { TINMAN_VERSION: JSON.stringify(version) },
  plugins: [textFiles(), commanderStartsNothing],
  outputOptions: { codeSplitting: { groups: [{ name: "run", test: always }] } },
});
