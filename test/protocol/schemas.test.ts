import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { z } from "zod";
import { configForms, configJsonSchema } from "../../scripts/config-schema.ts";
import { interactiveSchema } from "../../scripts/interactive-schema.ts";
import { sdkSchema } from "../../scripts/sdk-schema.ts";
import { streamJsonRpcSchema } from "../../scripts/stream-jsonrpc-schema.ts";
import { typesOf } from "../../scripts/types-from-schema.ts";
import { scriptJsonSchema } from "../../src/models/scripted/script-format.ts";
import { resultObject, streamJsonLine } from "../../src/protocol/stream-json.ts";
import { builtinTools } from "../../src/tools/all.ts";
import { derivedSchema } from "../../src/tools/derived-schema.ts";

const options = { target: "draft-2020-12", io: "output" } as const;

/** The checked-in files. `npm run schema` rewrites them, so changes show in the diff. */
const schemas: Readonly<Record<string, () => unknown>> = {
  "exec-stream-json.schema.json": () => z.toJSONSchema(streamJsonLine, options),
  "exec-json.schema.json": () => z.toJSONSchema(resultObject, options),
  "config.schema.json": configJsonSchema,
  "script.schema.json": scriptJsonSchema,
  "stream-jsonrpc.schema.json": streamJsonRpcSchema,
  "interactive.schema.json": interactiveSchema,
  "sdk.schema.json": sdkSchema,
};

async function expectUpToDate(name: string, current: string): Promise<void> {
  const path = fileURLToPath(new URL(`../../${name}`, import.meta.url));
  if (process.env.TINMAN_WRITE_SCHEMAS === "1") await writeFile(path, current);
  expect(await readFile(path, "utf8")).toBe(current);
}

test.each(Object.entries(schemas))("schema/%s is up to date", async (name, make) => {
  await expectUpToDate(`schema/${name}`, `${JSON.stringify(make(), null, 2)}\n`);
});

test("src/sdk/types.ts is up to date", async () => {
  const name = "src/sdk/types.ts";
  const text = `/* Written by \`npm run schema\` from src/protocol/sdk-types.ts. */\n\n${typesOf(sdkSchema().$defs)}`;
  await expectUpToDate(name, formatted(name, text));
});

test("src/config/check/config-forms.json is up to date", async () => {
  const name = "src/config/check/config-forms.json";
  await expectUpToDate(name, formatted(name, JSON.stringify(configForms())));
});

test("src/tools/parameters.json is up to date", async () => {
  const name = "src/tools/parameters.json";
  const schemas = await Promise.all(builtinTools.map(async (tool) => [tool.name, await derivedSchema(tool)]));
  await expectUpToDate(name, formatted(name, JSON.stringify(Object.fromEntries(schemas))));
});

/** As `npm run fix` would leave it. */
function formatted(name: string, text: string): string {
  const biome = fileURLToPath(new URL("../../node_modules/@biomejs/biome/bin/biome", import.meta.url));
  return execFileSync(process.execPath, [biome, "format", `--stdin-file-path=${name}`], {
    cwd: fileURLToPath(new URL("../../", import.meta.url)),
    input: text,
    encoding: "utf8",
  });
}
