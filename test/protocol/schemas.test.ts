import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { z } from "zod";
import { userConfigSchema } from "../../src/config/schema.ts";
import { scriptJsonSchema } from "../../src/models/script-format.ts";
import { streamJsonRpcSchema } from "../../src/protocol/droid/json-schema.ts";
import { resultObject, streamJsonLine } from "../../src/protocol/stream-json.ts";

const options = { target: "draft-2020-12", io: "output" } as const;

/** What is checked in under schema/. `npm run schema` writes it anew; a change shows in the diff. */
const schemas: Readonly<Record<string, () => unknown>> = {
  "exec-stream-json.schema.json": () => z.toJSONSchema(streamJsonLine, options),
  "exec-json.schema.json": () => z.toJSONSchema(resultObject, options),
  "config.schema.json": () => z.toJSONSchema(userConfigSchema, { ...options, io: "input" }),
  "script.schema.json": scriptJsonSchema,
  "stream-jsonrpc.schema.json": streamJsonRpcSchema,
};

test.each(Object.entries(schemas))("schema/%s is what the source says", async (name, make) => {
  const path = fileURLToPath(new URL(`../../schema/${name}`, import.meta.url));
  const current = `${JSON.stringify(make(), null, 2)}\n`;
  if (process.env.TINMAN_WRITE_SCHEMAS === "1") await writeFile(path, current);
  expect(await readFile(path, "utf8")).toBe(current);
});
