import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { AgentError } from "../engine/errors.ts";
import { exitCodes } from "../frontends/exit-codes.ts";
import type { Io } from "../frontends/front-end.ts";

/** The files also ship with the program. */
const schemas: ReadonlyMap<string, string> = new Map([
  ["exec-json", "the object that exec -o json prints"],
  ["exec-stream-json", "the lines that exec -o stream-json prints"],
  ["stream-jsonrpc", "the messages of exec --input-format stream-jsonrpc, by direction and kind"],
  ["interactive", "the frames of the path /ws of serve, by direction and kind"],
  ["sdk", "the client SDK's data, by type name"],
  ["config", "config.yaml"],
  ["script", "the file of a scripted model"],
]);

/** `tinman schema`: prints the JSON Schema of one format, or the list of formats. */
export async function printSchema(name: string | undefined, io: Io): Promise<number> {
  if (name === undefined) {
    const width = Math.max(...[...schemas.keys()].map((one) => one.length));
    for (const [one, what] of schemas) await io.stdout.write(`${one.padEnd(width)}  ${what}\n`);
    return exitCodes.success;
  }
  if (!schemas.has(name)) {
    throw new AgentError("usage", `Unknown schema "${name}". Available: ${[...schemas.keys()].join(", ")}.`);
  }
  await io.stdout.write(await readFile(join(__dirname, "..", "schema", `${name}.schema.json`), "utf8"));
  return exitCodes.success;
}
