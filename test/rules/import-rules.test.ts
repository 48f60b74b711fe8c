import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { importRules, isFile, isRoom, overridesAreCurrent } from "../../scripts/import-rules.mjs";
import { lint } from "./biome.ts";
import { importFaults, importsOf, unusedAllowances } from "./imports.ts";

/** The rules again, by hand and by example: which room plants which import, and whether it is legal. */
const examples: readonly (readonly [file: string, legal: readonly string[], illegal: readonly string[]])[] = [
  ["text/a.ts", ["./b.ts"], ["../engine/event.ts", "../rpc/a.ts", "zod", "node:path"]],
  [
    "engine/a.ts",
    ["./b.ts", "./prompts/system.md", "../text/a.ts", "zod"],
    [
      "../tools/read.ts",
      "../compose.ts",
      "../protocol/a.ts",
      "node:fs",
      "node:path",
      "node:fs/promises",
      "yaml",
      "diff",
    ],
  ],
  ["engine/nested/a.ts", ["../b.ts", "./b.ts", "zod"], ["../../tools/read.ts", "../../main.ts", "node:path"]],
  [
    "permissions/a.ts",
    ["./b.ts", "./programs/a.ts", "../engine/tool.ts", "node:path"],
    ["../tools/a.ts", "../config/a.ts", "../host/a.ts", "zod", "unbash", "node:fs", "node:child_process"],
  ],
  [
    "permissions/reader/a.ts",
    ["./b.ts", "../places/a.ts", "../../engine/tool.ts", "unbash"],
    ["../../tools/a.ts", "../../config/a.ts", "zod", "node:fs", "node:path"],
  ],
  [
    "tools/a.ts",
    ["./b.ts", "./descriptions/a.md", "../engine/tool.ts", "diff", "zod", "node:path"],
    [
      "../host/a.ts",
      "../permissions/a.ts",
      "node:fs",
      "node:fs/promises",
      "node:child_process",
      "@vscode/ripgrep",
      "yaml",
      "unpdf",
      "../pdf/pages.ts",
    ],
  ],
  [
    "pdf/a.ts",
    ["./b.ts", "../engine/ports.ts", "unpdf/pdfjs", "node:timers/promises"],
    ["../tools/a.ts", "../host/a.ts", "zod", "node:fs", "node:child_process", "node:worker_threads"],
  ],
  [
    "models/a.ts",
    ["./offline/a.ts", "./calls/ai-sdk.ts", "./ai-sdk-types.ts", "../engine/ports.ts", "zod", "node:fs/promises"],
    [
      "../net/fetch.ts",
      "../store/a.ts",
      "../config/a.ts",
      "../tools/a.ts",
      "yaml",
      "commander",
      "@ai-sdk/openai",
      "@ai-sdk/provider",
    ],
  ],
  [
    "mcp/a.ts",
    ["./b.ts", "./tools/a.ts", "../engine/ports.ts", "zod", "node:crypto"],
    ["../host/a.ts", "../tools/a.ts", "../net/a.ts", "@modelcontextprotocol/server", "node:fs", "node:net"],
  ],
  ["models/calls/ai-sdk-types.ts", [], ["./prompt.ts", "../../engine/ports.ts", "zod", "node:http"]],
  [
    "access/a.ts",
    ["./b.ts", "../engine/settings.ts"],
    ["../config/a.ts", "../frontends/front-end.ts", "zod", "node:path"],
  ],
  [
    "models/calls/ai-sdk.ts",
    ["./prompt.ts", "./ai-sdk-types.ts", "../../engine/ports.ts"],
    ["../../net/fetch.ts", "../../tools/a.ts", "zod", "node:http", "node:path", "eventsource-parser"],
  ],
  [
    "net/a.ts",
    ["./b.ts", "../text/a.ts", "node:http", "node:tls"],
    ["../engine/errors.ts", "../models/a.ts", "../host/a.ts", "../config/a.ts", "zod", "undici"],
  ],
  [
    "models/offline/a.ts",
    ["./b.ts", "../catalog.ts", "../../engine/ports.ts", "zod"],
    ["../../store/a.ts", "../../tools/a.ts", "../../compose.ts", "diff"],
  ],
  [
    "store/a.ts",
    ["./b.ts", "./listing/a.ts", "../engine/event.ts", "node:fs"],
    ["../host/a.ts", "../models/a.ts", "../config/home.ts", "zod", "yaml"],
  ],
  [
    "store/listing/a.ts",
    ["./b.ts", "node:fs/promises"],
    ["../records.ts", "../../host/a.ts", "../../config/home.ts", "zod"],
  ],
  [
    "store/lease.ts",
    ["./a.ts", "./listing/a.ts", "../engine/errors.ts", "node:fs"],
    ["../config/load.ts", "../host/a.ts", "zod", "node:child_process"],
  ],
  [
    "mcp/sign-in/a.ts",
    ["./b.ts", "../../engine/ports.ts", "../../store/lease.ts", "../../text/a.ts", "node:http"],
    ["../entries/a.ts", "../../net/network.ts", "../../host/a.ts", "node:child_process", "zod"],
  ],
  [
    "mcp/entries/a.ts",
    ["./b.ts", "../../config/load.ts", "../../engine/errors.ts", "../../store/lease.ts", "node:fs"],
    ["../../store/jsonl-store.ts", "../../host/a.ts", "../../compose.ts", "zod", "yaml", "node:child_process"],
  ],
  [
    "host/a.ts",
    ["./b.ts", "../engine/ports.ts", "../net/request.ts", "@vscode/ripgrep", "./processes/start-program.ts", "node:fs"],
    ["node:child_process", "../tools/a.ts", "../pdf/pages.ts", "../store/a.ts", "../models/a.ts", "zod", "diff"],
  ],
  ["host/processes/start-program.ts", ["node:child_process", "node:path"], ["./b.ts", "../../engine/ports.ts", "zod"]],
  ["config/a.ts", ["./b.ts", "../engine/settings.ts", "yaml"], ["../models/a.ts", "../host/a.ts", "diff"]],
  [
    "config/schema/a.ts",
    ["./b.ts", "../named-checks.ts", "../../engine/settings.ts", "zod"],
    ["../../models/a.ts", "../home.ts", "yaml", "node:fs"],
  ],
  ["config/home.ts", ["node:os"], ["./load.ts", "../engine/errors.ts", "zod", "yaml"]],
  ["protocol/a.ts", ["./b.ts", "zod"], ["../engine/event.ts", "../text/a.ts", "../tools/a.ts", "node:path", "yaml"]],
  ["protocol/droid/a.ts", ["../b.ts", "zod"], ["../../engine/event.ts", "../../rpc/a.ts"]],
  [
    "rpc/a.ts",
    ["./b.ts", "../text/a.ts"],
    [
      "../protocol/a.ts",
      "../protocol/droid/a.ts",
      "../engine/event.ts",
      "../frontends/exec/a.ts",
      "../compose.ts",
      "zod",
      "ws",
      "node:stream",
      "node:fs",
    ],
  ],
  [
    "sdk/a.ts",
    ["./b.ts", "../text/a.ts", "../rpc/a.ts", "../protocol/a.ts", "../protocol/droid/a.ts"],
    ["./node.ts", "./node/spawn.ts", "../engine/event.ts", "../store/listing/a.ts", "zod", "ws", "node:fs"],
  ],
  [
    "sdk/node/a.ts",
    [
      "./b.ts",
      "../wire.ts",
      "../../rpc/a.ts",
      "../../store/listing/a.ts",
      "../../config/home.ts",
      "node:child_process",
    ],
    [
      "../node.ts",
      "../../engine/errors.ts",
      "../../store/jsonl-store.ts",
      "../../config/load.ts",
      "../../main.ts",
      "zod",
    ],
  ],
  [
    "sdk/node.ts",
    ["./b.ts", "./node/spawn.ts", "node:fs"],
    ["../engine/event.ts", "../store/listing/a.ts", "../compose.ts", "zod"],
  ],
  [
    "frontends/front-end.ts",
    ["../engine/event.ts", "../access/identity.ts"],
    ["../protocol/a.ts", "./exec/a.ts", "../store/a.ts", "../compose.ts"],
  ],
  [
    "frontends/exec/a.ts",
    ["./b.ts", "../front-end.ts", "../../engine/event.ts", "../../protocol/a.ts", "../../rpc/a.ts", "node:stream"],
    [
      "../acp/a.ts",
      "../../tools/a.ts",
      "../../store/a.ts",
      "../../compose.ts",
      "../../commands/a.ts",
      "zod",
      "commander",
    ],
  ],
  [
    "connect/a.ts",
    [
      "./b.ts",
      "../frontends/front-end.ts",
      "../text/terminal-text.ts",
      "../rpc/stdio.ts",
      "ws",
      "../host/processes/start-program.ts",
    ],
    [
      "node:child_process",
      "../host/a.ts",
      "../frontends/exec/a.ts",
      "../protocol/a.ts",
      "../config/home.ts",
      "../compose.ts",
      "zod",
      "commander",
    ],
  ],
  [
    "server/a.ts",
    ["./b.ts", "../access/identity.ts", "../frontends/front-end.ts", "../rpc/web-socket.ts", "prom-client", "ws"],
    ["../frontends/interactive/a.ts", "../host/a.ts", "../store/a.ts", "zod", "node:child_process"],
  ],
  [
    "commands/a.ts",
    [
      "./b.ts",
      "../engine/errors.ts",
      "../pdf/pages.ts",
      "../mcp/entries/sources.ts",
      "../compose.ts",
      "../frontends/exec/a.ts",
      "../connect/connect.ts",
      "../frontends/exit-codes.ts",
      "commander",
    ],
    ["../main.ts", "../tools/a.ts", "../store/a.ts", "../protocol/a.ts", "zod", "yaml"],
  ],
  [
    "compose.ts",
    ["./engine/engine.ts", "./tools/a.ts", "./models/offline/a.ts", "./store/a.ts", "node:os"],
    [
      "./frontends/exec/a.ts",
      "./protocol/a.ts",
      "./store/listing/a.ts",
      "zod",
      "./main.ts",
      "./commands/exec.ts",
      "../test/fakes/a.ts",
      "yaml",
      "commander",
    ],
  ],
  ["compile-cache.ts", ["node:module"], ["./engine/errors.ts", "./main.ts", "zod"]],
  [
    "main.ts",
    ["./commands/program.ts", "./compile-cache.ts"],
    ["./tools/a.ts", "./frontends/exec/a.ts", "./compose.ts", "./engine/errors.ts", "commander", "zod", "node:fs"],
  ],
];

const libraries = ["zod", "diff", "yaml", "@vscode/ripgrep", "commander", "unheard-of"];
const builtins = ["node:path", "node:fs", "node:fs/promises", "node:child_process", "fs"];

describe("the import rules", () => {
  it("match the table in Biome's configuration", () => {
    expect(overridesAreCurrent(), "run: npm run import-rules").toBe(true);
  });

  describe("in Biome", () => {
    let flagged: ReadonlySet<string>;
    beforeAll(() => {
      const planted = new Map<string, string>();
      for (const [file, specifiers] of [...examplesByFile(), ...matrix()]) {
        planted.set(`src/${file}`, `${planted.get(`src/${file}`) ?? ""}${specifiers.map(lazyImport).join("")}`);
      }
      const lines = new Map([...planted].map(([path, text]) => [path, text.split("\n")]));
      const findings = lint(planted).filter(({ rule }) => rule === "lint/style/noRestrictedImports");
      flagged = new Set(findings.map(({ path, line }) => `${path}: ${lines.get(path)?.[line - 1]}`));
    });

    it.each(examples)("hold src/%s to its rows", (file, legal, illegal) => {
      const caught = (specifier: string) => flagged.has(`src/${file}: ${lazyImport(specifier).trimEnd()}`);
      expect(legal.filter(caught)).toEqual([]);
      expect(illegal.filter((specifier) => !caught(specifier))).toEqual([]);
    });

    it("agree with the table about every room, library and builtin", () => {
      const expected = [...examplesByFile(), ...matrix()].flatMap(([file, specifiers]) =>
        specifiers
          .filter((specifier) => importFaults(file, [{ specifier, how: "lazy" }]).length > 0)
          .map((specifier) => `src/${file}: ${lazyImport(specifier).trimEnd()}`),
      );
      expect([...flagged].sort()).toEqual([...new Set(expected)].sort());
      expect(flagged.size).toBeGreaterThan(200);
    });
  });

  it("also cover static, re-exported and type imports in Biome", () => {
    const text = [
      'import { a } from "../host/a.ts";',
      'import type { B } from "../host/b.ts";',
      'export { c } from "../host/c.ts";',
      'export * from "../host/d.ts";',
      'import "../host/e.ts";',
    ].join("\n");
    const findings = lint(new Map([["src/tools/planted.ts", text]]));
    const lines = findings.filter(({ rule }) => rule === "lint/style/noRestrictedImports").map(({ line }) => line);
    expect(lines).toEqual([1, 2, 3, 4, 5]);
  });

  it("keep floating promises an error", () => {
    const text = "async function work(): Promise<void> {}\nwork();\nexport {};\n";
    const findings = lint(new Map([["src/engine/planted.ts", text]]));
    expect(findings.filter(({ rule }) => rule === "lint/nursery/noFloatingPromises")).toEqual([
      { path: "src/engine/planted.ts", line: 2, rule: "lint/nursery/noFloatingPromises" },
    ]);
  });

  it.each([
    ["main.ts", 'import { exec } from "./commands/exec.ts";'],
    ["main.ts", 'export * from "./commands/exec.ts";'],
    ["main.ts", 'import "./engine/errors.ts";'],
    ["store/listing/a.ts", 'import { AgentError } from "../../engine/errors.ts";'],
    ["tools/read.ts", 'import "../engine/../host/files.ts";'],
    ["tools/read.ts", 'import "./../host/files.ts";'],
    ["tools/read.ts", 'type A = import("../host/files.ts").A;'],
    ["tools/read.ts", "await import(`../host/files.ts`);"],
    ["tools/read.ts", 'await import("../host/" + name);'],
    ["tools/read.ts", 'import fs from "fs";'],
    ["frontends/exec/a.ts", 'import "../exec/../acp/a.ts";'],
    ["newcomer/a.ts", ""],
    ["engine/a/b/c/d.ts", ""],
  ])("catch outside Biome, in src/%s: %s", (file, text) => {
    expect(importFaults(file, importsOf(text))).toHaveLength(1);
  });

  it.each([
    ["main.ts", 'const { exec } = await import("./commands/exec.ts");'],
    ["main.ts", 'import type { Exec } from "./commands/exec.ts";'],
    ["main.ts", 'import { enableCompileCache } from "./compile-cache.ts";'],
    ["store/listing/a.ts", 'import type { SessionInfo } from "../../engine/ports.ts";'],
    ["commands/exec.ts", 'import { compose } from "../compose.ts";'],
    ["tools/read.ts", 'import { z } from "zod";\nimport { defineTool } from "../engine/tool.ts";'],
    ["frontends/exec/a.ts", 'import "../exec/b.ts";'],
  ])("allow, in src/%s: %s", (file, text) => {
    expect(importFaults(file, importsOf(text))).toEqual([]);
  });

  it("hold for the source, and allow nothing unused", () => {
    const files = readdirSync("src", { recursive: true, encoding: "utf8" }).map((path) => path.replaceAll("\\", "/"));
    const sources = files.filter((path) => path.endsWith(".ts"));
    expect(sources).toContain("engine/event.ts");
    const imports = new Map(sources.map((path) => [path, importsOf(readFileSync(`src/${path}`, "utf8"))]));
    expect([...imports].flatMap(([path, found]) => importFaults(path, found))).toEqual([]);
    expect(unusedAllowances(imports)).toEqual([]);
    const withoutLibrary = new Map([...imports].filter(([path]) => path !== "pdf/library.ts"));
    expect(unusedAllowances(withoutLibrary)).toEqual(["src/pdf needs no unpdf"]);
  });
});

function lazyImport(specifier: string): string {
  return `await import(${JSON.stringify(specifier)});\n`;
}

function examplesByFile(): readonly (readonly [string, readonly string[]])[] {
  return examples.map(([file, legal, illegal]) => [file, [...legal, ...illegal]]);
}

/** From a file in every room, and one folder deeper, an import of everything that has a row. */
function matrix(): readonly (readonly [string, readonly string[]])[] {
  const files = importRules.flatMap(({ room }) => {
    if (isFile(room)) return [room];
    const folder = room.replace("*", "here");
    return [`${folder}/matrix.ts`, `${folder}/nested/matrix.ts`];
  });
  const rooms = importRules
    .map(({ room }) => room)
    .filter(isRoom)
    .flatMap((room) => (isFile(room) ? [room] : [`${room.replace("*", "there")}/x.ts`]));
  return files.map((file) => {
    const paths = rooms.filter((path) => path !== file).map((path) => posix.relative(posix.dirname(file), path));
    return [file, [...paths.map((path) => (path.startsWith("../") ? path : `./${path}`)), ...libraries, ...builtins]];
  });
}
