import { readFileSync } from "node:fs";
import { defineConfig } from "tsdown";
import { textFiles } from "./scripts/text-plugin.mjs";

const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };

/**
 * What every run needs goes into one file: each further one costs a millisecond at the start. Left out are the entry, and
 * what is loaded only when it is needed.
 */
const lazy =
  /\/src\/(main|compile-cache|commands\/(doctor|models[^/]*|policy[^/]*|sessions)|permissions\/(?!(policy|autonomy|path-scope)\.ts).+|config\/(schema|model-schema|add-models|factory-models|json-with-comments|yaml-text)|tools\/(?!all|descriptions)[^/]+|net\/[^/]+|models\/(?!(catalog|retry|pause|default-model|script-info|offline\/info)\.ts).+|host\/(processes|process-tree|shell-start|output-pipe|spool-file|command-(output|progress)|ripgrep(-lines)?|search-walk|glob-pattern|look-up|where-it-leads|matching-files|name-pattern|links-below|git-credentials|program-file|web|web-address|allowed-hosts|private-address))\.ts$/;
const always = (id: string): boolean =>
  (id.includes("/src/") && !lazy.test(id)) || id.includes("/node_modules/commander/");

/** What is needed to call any provider, besides the provider's own part of the SDK. */
const provider =
  /\/src\/models\/(configured|known-models|providers|spec-of|model-spec|provider-[^/]+|ai-sdk|prompt|effort|redact|call-ids-of-wires|http-failure)\.ts$|\/node_modules\/(@ai-sdk\/provider|@ai-sdk\/provider-utils|eventsource-parser)\//;

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
  outputOptions: {
    codeSplitting: {
      groups: [
        { name: "run", test: always },
        { name: "network", test: /\/src\/net\// },
        { name: "provider", test: provider },
      ],
    },
  },
});
