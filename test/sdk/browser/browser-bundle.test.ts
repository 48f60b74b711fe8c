import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { type OutputChunk, rolldown } from "rolldown";
import { expect, test } from "vitest";
import * as fromBrowser from "../../../src/sdk/browser.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const entry = `${root}dist/sdk/browser.js`;
const names = Object.keys(fromBrowser).sort();

/** Maximum size of the SDK for a page, gzipped. */
const mostBytes = 40 * 1024;

/** A program as a page's bundler builds it, as one classic script. */
async function bundled(program: string): Promise<OutputChunk> {
  const bundle = await rolldown({
    input: "\0program",
    platform: "browser",
    plugins: [
      {
        name: "program",
        resolveId: (source) => (source === "\0program" ? source : undefined),
        load: (id) => (id === "\0program" ? program : undefined),
      },
    ],
    logLevel: "silent",
  });
  try {
    const { output } = await bundle.generate({ format: "iife", minify: true, codeSplitting: false });
    expect(output).toHaveLength(1);
    return output[0];
  } finally {
    await bundle.close();
  }
}

test("the whole SDK is a small script that loads without Node", async ({ annotate }) => {
  const { code, imports, dynamicImports } = await bundled(
    `import * as sdk from ${JSON.stringify(entry)}; globalThis.sdk = sdk;`,
  );
  expect([imports, dynamicImports]).toEqual([[], []]);
  const { length } = gzipSync(code);
  await annotate(`${code.length} bytes, ${length} gzipped`);
  expect(length).toBeLessThan(mostBytes);
  const page = createContext({ AbortController, AbortSignal, DOMException, setTimeout, clearTimeout, TextDecoder });
  runInContext(code, page);
  expect(Object.keys(page.sdk).sort()).toEqual(names);
});

test.for(["createSession", "query", "readStreamJson"])(
  "a program that uses only %s is smaller",
  async (name, { annotate }) => {
    const whole = await bundled(`import * as sdk from ${JSON.stringify(entry)}; globalThis.sdk = sdk;`);
    const { code } = await bundled(`import { ${name} } from ${JSON.stringify(entry)}; globalThis.used = ${name};`);
    const { length } = gzipSync(code);
    await annotate(`${code.length} bytes, ${length} gzipped`);
    expect(length).toBeLessThan(gzipSync(whole.code).length * 0.8);
  },
);

test("a bundle excludes what its program does not use", async () => {
  const used = await bundled(`import { BusyError } from ${JSON.stringify(entry)}; globalThis.used = BusyError;`);
  expect([used.code.includes("BusyError"), used.code.includes("ClosedError")]).toEqual([true, false]);
  const unused = await bundled(`import ${JSON.stringify(entry)};`);
  expect(unused.moduleIds).toEqual(["\0program"]);
});

test("contains no library, even for Node", async () => {
  const bundle = await rolldown({
    input: [`${root}src/sdk/node.ts`, `${root}src/sdk/browser.ts`],
    platform: "neutral",
    external: /^node:/,
    logLevel: "silent",
  });
  try {
    const { output } = await bundle.generate({ format: "esm" });
    const modules = output.flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : []));
    const folders = new Set(modules.map((id) => id.replace(root, "").split("/").slice(0, 2).join("/")));
    // From the store, only listing sessions; from the configuration, only the home.
    expect([...folders].sort()).toEqual([
      "src/async",
      "src/config",
      "src/protocol",
      "src/rpc",
      "src/sdk",
      "src/store",
      "src/text",
    ]);
  } finally {
    await bundle.close();
  }
});
