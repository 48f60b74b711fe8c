import { readFileSync } from "node:fs";
import { defineConfig } from "tsdown";
import { textFiles } from "./scripts/text-plugin.mjs";

const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };

/**
 * What every run of `exec` needs, in one file: each further file costs a millisecond at the start. Everything else stays in
 * files of its own that are loaded when they are needed.
 */
const always =
  /\/src\/(core|permissions|store|frontends|compose\.ts|config\/(home|load|instructions)\.ts|commands\/(program|process-io|usage|exec|exec-options|prompt-input|tool-names)\.ts|tools\/(all\.ts|descriptions)|host\/(clock-and-ids|node-host|files|canonical-path|environment|shell|capture|command-environment|tool-versions|repository-state|executables)\.ts|models\/(catalog|retry|pause|call-ids|script-info)\.ts|models\/offline\/info\.ts)|\/node_modules\/commander\//;

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
