import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig, type UserConfig } from "tsdown";
import { standIns } from "./scripts/stand-ins-plugin.mjs";
import { textFiles } from "./scripts/text-plugin.mjs";

const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
const define = { TINMAN_VERSION: JSON.stringify(version) };

interface Modules {
  getModuleInfo(id: string): { readonly importedIds: readonly string[] } | null;
}

/** What these modules need to be loaded, themselves included: all that is reached without an `import()`. */
function neededBy(...roots: readonly string[]): (id: string, modules: Modules) => boolean {
  let needed: Set<string> | undefined;
  const find = (modules: Modules): Set<string> => {
    const found = new Set<string>();
    const waiting = roots.map((root) => fileURLToPath(new URL(`src/${root}`, import.meta.url)));
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      const info = found.has(id) ? null : modules.getModuleInfo(id);
      if (info === null) continue;
      found.add(id);
      waiting.push(...info.importedIds);
    }
    return found;
  };
  return (id, modules) => {
    needed ??= find(modules);
    return needed.has(id);
  };
}

/** Each further file costs a millisecond at the start, so what is loaded together goes into one. */
const everyRun = neededBy("commands/program.ts", "commands/exec/exec.ts");
const everyListing = neededBy("models/providers/configured.ts");
const everyConfig = neededBy("config/check/checked-config.ts");
const everyProvider = neededBy(
  "models/calls/provider-model.ts",
  "net/http/fetch.ts",
  "net/network.ts",
  "tools/json-schema.ts",
);
const yamlModules = fileURLToPath(new URL("node_modules/yaml/browser/index.js", import.meta.url));
const sharedBySdk = /\/node_modules\/(@ai-sdk\/provider|@ai-sdk\/provider-utils|eventsource-parser)\//;

/** Commander starts other programs for sub-commands that are programs. There are none, and loading what it takes is slow. */
const commanderStartsNothing = {
  name: "commander-starts-nothing",
  resolveId: (source: string, importer: string | undefined) =>
    source === "node:child_process" && importer?.includes("/commander/") ? "\0no-child-process" : undefined,
  load: (id: string) => (id === "\0no-child-process" ? "export {};" : undefined),
};

/** The SDK takes schemas of an older zod, too. Nobody gives it one, and that library is as large as the SDK itself. */
const noOlderZod = {
  name: "no-older-zod",
  resolveId: (source: string) => (source === "zod/v3" ? "\0no-older-zod" : undefined),
  load: (id: string) => (id === "\0no-older-zod" ? "export const ZodFirstPartyTypeKind = {};" : undefined),
};

/** Counters, gauges and histograms are used of it; the rest is twice as large, and brings two more libraries along. */
const metricsWithoutTheRest = {
  name: "metrics-without-the-rest",
  resolveId: (source: string, importer: string | undefined) =>
    importer?.endsWith("/prom-client/index.js") && /\/(?:cluster|defaultMetrics|pushgateway|summary)$/.test(source)
      ? "\0not-of-metrics"
      : undefined,
  load: (id: string) => (id === "\0not-of-metrics" ? "export {};" : undefined),
};

/** The WebSockets would take native code that happens to lie around: what runs is to be what was tested. */
const noNativeHelpers = {
  name: "no-native-helpers",
  resolveId: (source: string) => (/^(?:bufferutil|utf-8-validate)$/.test(source) ? "\0no-native-helper" : undefined),
  load: (id: string) => (id === "\0no-native-helper" ? 'throw new Error("not used");' : undefined),
};

/** Of its two builds, Node would get the one of CommonJS, which cannot be shaken and takes twice as long to load. */
const yamlAsModules = {
  name: "yaml-as-modules",
  resolveId: (source: string) => (source === "yaml" ? yamlModules : undefined),
};

/** What Node has built in needs none of its loader for ES modules, which takes milliseconds to set up. */
const builtinsWithoutLoader = {
  name: "builtins-without-loader",
  renderChunk: (code: string) =>
    code.replace(/\bimport\("(node:[\w/]+)"\)/g, 'Promise.resolve().then(() => require("$1"))'),
};

const program: UserConfig = {
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
  define,
  plugins: [
    textFiles(),
    standIns(),
    commanderStartsNothing,
    noOlderZod,
    metricsWithoutTheRest,
    noNativeHelpers,
    yamlAsModules,
    builtinsWithoutLoader,
  ],
  outputOptions: {
    codeSplitting: {
      groups: [
        { name: (id, modules) => (everyRun(id, modules) ? "run" : null) },
        { name: (id, modules) => (everyConfig(id, modules) ? "config-file" : null) },
        { name: (id, modules) => (everyListing(id, modules) ? "configured" : null) },
        { name: "zod", test: /\/node_modules\/zod\// },
        { name: (id, modules) => (everyProvider(id, modules) || sharedBySdk.test(id) ? "provider" : null) },
      ],
    },
  },
};

/** A comment behind a field on its line is no comment on the next one to an editor, and so it is not shown there. */
const commentsAboveFields = {
  name: "comments-above-fields",
  renderChunk: (code: string, { fileName }: { readonly fileName: string }) =>
    fileName.endsWith(".d.ts") ? code.replace(/^( *)(.*\S) (\/\*\* .* \*\/)$/gm, "$1$2\n$1$3") : null,
};

/** What others import. Their own tools bundle and minify it, so it stays readable. */
const sdk: UserConfig = {
  entry: { node: "src/sdk/node.ts", browser: "src/sdk/browser.ts" },
  format: "esm",
  platform: "neutral",
  target: "es2023",
  outDir: "dist/sdk",
  // The program's build, which empties dist/ before either of them writes, has done it.
  clean: false,
  dts: true,
  hash: false,
  define,
  // `Session` can be disposed of, and a browser's program need not have the types of that.
  banner: { dts: '/// <reference lib="esnext.disposable" />' },
  plugins: [commentsAboveFields],
  inputOptions: { experimental: { attachDebugInfo: "none" } },
  outputOptions: {
    minifyInternalExports: false,
    codeSplitting: { groups: [{ name: (id) => (id.endsWith(".d.ts") ? "shared.d" : "shared"), minShareCount: 2 }] },
  },
};

export default defineConfig([program, sdk]);
