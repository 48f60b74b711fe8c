import { readdir, readFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as fromBrowser from "../../../src/sdk/browser.ts";
import * as fromNode from "../../../src/sdk/node.ts";
import type { Bench } from "../../e2e/tinman.ts";
import { isFullRun } from "../../full-run.ts";
import { importsOf } from "../../rules/imports.ts";
import { checkout, createProjectWithPackage } from "./packed.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await createProjectWithPackage();
});
afterAll(() => bench.remove());

const nodeNames = Object.keys(fromNode).sort();
const browserNames = Object.keys(fromBrowser).sort();

test.each<[how: string, command: string, printed: unknown]>([
  ["imported", `node --input-type=module -e 'import * as it from "tinman/sdk"; print(it)'`, nodeNames],
  ["required", `node -e 'print(require("tinman/sdk"))'`, nodeNames],
  ["imported under the condition browser", `node -C browser -e 'print(require("tinman/sdk"))'`, browserNames],
  ["imported for browsers", `node -e 'print(require("tinman/sdk/browser"))'`, browserNames],
  [
    "asked for a schema",
    `node -e 'print(require("tinman/schema/sdk.schema.json"))'`,
    ["$defs", "$schema", "description", "title"],
  ],
])("the package can be %s", async (_how, command, printed) => {
  const print = "const print = (it) => console.log(JSON.stringify(Object.keys(it).sort()));";
  const { code, stdout, stderr } = await bench.shell(command.replace("-e '", `-e '${print} `));
  expect([code, stderr, stdout === "" ? "" : JSON.parse(stdout)]).toEqual([0, "", printed]);
});

test("an error has the same class with import, require and the browser entry", async () => {
  const { stdout, stderr } = await bench.shell(
    `node --input-type=module -e '
      import { createRequire } from "node:module";
      import { SdkError } from "tinman/sdk";
      import { SdkError as forBrowsers } from "tinman/sdk/browser";
      const { SdkError: required } = createRequire(process.cwd() + "/x.js")("tinman/sdk");
      console.log(SdkError === forBrowsers, SdkError === required);'`,
  );
  expect([stdout, stderr]).toEqual(["true true\n", ""]);
});

test("internals cannot be imported", async () => {
  const { code, stderr } = await bench.shell(`node -e 'require("tinman/dist/sdk/shared.js")'`);
  expect([code, stderr]).toEqual([1, expect.stringContaining("ERR_PACKAGE_PATH_NOT_EXPORTED")]);
});

test("no file of the SDK needs anything outside the package", async () => {
  const folder = join(bench.cwd, "node_modules", "tinman", "dist", "sdk");
  const names = await readdir(folder);
  expect(names).toEqual(expect.arrayContaining(["browser.d.ts", "browser.js", "node.d.ts", "node.js"]));
  const missing: string[] = [];
  for (const name of names) {
    const text = await readFile(join(folder, name), "utf8");
    const isForTypes = name.endsWith(".d.ts");
    for (const { specifier = "a computed import" } of importsOf(text)) {
      const file = specifier.replace(/^\.\//, "").replace(/\.js$/, isForTypes ? ".d.ts" : ".js");
      if (!names.includes(file) && !isBuiltin(specifier)) missing.push(`${name}: ${specifier}`);
    }
    if (text.includes("src/")) missing.push(`${name} names a file of src/`);
  }
  expect(missing).toEqual([]);
});

test("comments on fields are above them, where editors look", async () => {
  const types = await bench.read("node_modules/tinman/dist/sdk/shared.d.ts");
  expect(types.split("\n").filter((line) => /\S.*\/\*\* .* \*\/$/.test(line))).toEqual([]);
  expect(types).toMatch(/^ +\/\*\* Text of its text blocks\. \*\/\n +readonly text: string;$/m);
});

// Each takes seconds: for the full run.
if (isFullRun)
  describe("a strict TypeScript program compiles", () => {
    const reading = `
    export async function text(session: Session): Promise<string> {
      let shown = "";
      for await (const event of session.stream("hello")) {
        if (event.type === "text") shown += event.text;
        // @ts-expect-error: there is no event of this name
        if (event.type === "no_such_event") shown += "";
      }
      const { status, usage }: TurnResult = await session.send("again", { signal: AbortSignal.timeout(10) });
      // @ts-expect-error: nothing of it can be changed
      if (usage) usage.inputTokens = 0;
      return status === "completed" ? shown : "";
    }
    export const options: CreateOptions = {
      autonomyLevel: "low",
      onPermission: ({ calls }) => (calls.every(({ details }) => details.type === "edit") ? "proceed_once" : "cancel"),
    };
    export const isOurs = (error: unknown): boolean => error instanceof RequestError && error.code < 0;
  `;
    const forNode = { lib: ["es2022"], types: ["node"], typeRoots: [join(checkout, "node_modules", "@types")] };
    const bundled = { module: "preserve", moduleResolution: "bundler" };

    const inPage = `
    import { readStreamJson, webSocketConnection } from "tinman/sdk";
    export const connects = [
      webSocketConnection(new WebSocket("wss://host.test")),
      webSocketConnection(new URL("wss://host.test"), { WebSocket, protocols: ["a", "b"] }),
    ];
    export const read = async (url: string) => readStreamJson((await fetch(url)).body ?? "");
  `;

    const places: [where: string, files: Readonly<Record<string, string>>, settings: object, more?: string][] = [
      [
        "in Node, as an ES module and as CommonJS",
        { "a.mts": "tinman/sdk", "b.cts": "tinman/sdk" },
        { module: "nodenext", ...forNode },
      ],
      ["for Node, by a bundler", { "a.ts": "tinman/sdk" }, { ...bundled, ...forNode }],
      [
        "for a page, which has no types of Node",
        { "a.ts": "tinman/sdk/browser", "b.ts": "tinman/sdk" },
        { ...bundled, lib: ["es2022", "dom"], types: [], customConditions: ["browser"] },
        inPage,
      ],
    ];

    test.each(places)("%s", async (_where, files, settings, more = "") => {
      for (const [file, from] of Object.entries(files)) {
        const names = "type CreateOptions, RequestError, type Session, type TurnResult";
        await bench.file(file, `import { ${names} } from "${from}";\n${reading}${more}`);
      }
      const compilerOptions = {
        ...{ target: "es2022", strict: true, exactOptionalPropertyTypes: true, noEmit: true },
        // Our files are checked like the program's own; TypeScript's need not be.
        ...{ skipLibCheck: false, skipDefaultLibCheck: true },
        ...settings,
      };
      await bench.file("tsconfig.json", JSON.stringify({ compilerOptions, files: Object.keys(files) }));
      const tsc = join(checkout, "node_modules", "typescript", "bin", "tsc");
      const { code, stdout } = await bench.shell(`node '${tsc}' -p .`);
      expect([stdout, code]).toEqual(["", 0]);
    });
  });
