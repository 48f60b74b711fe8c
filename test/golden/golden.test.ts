import { readdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { createBench } from "../e2e/tinman.ts";

/** One scripted model, the expected output of every front end. `npm run golden` writes what the program says now. */

interface Scenario {
  readonly about: string;
  readonly prompt: string;
  readonly files: Readonly<Record<string, string>>;
  readonly flags: readonly string[];
  readonly replies: readonly object[];
}

const here = fileURLToPath(new URL("./", import.meta.url));
const scenarios = readdirSync(here, { withFileTypes: true }).filter((entry) => entry.isDirectory());
const formats = ["text", "json", "stream-json"] as const;

test.each(scenarios.flatMap(({ name }) => formats.map((format) => [name, format] as const)))(
  "%s, %s",
  async (name, format) => {
    const scenario = parse(await readFile(`${here}${name}/scenario.yaml`, "utf8")) as Scenario;
    const bench = await createBench();
    try {
      for (const [path, text] of Object.entries(scenario.files)) await bench.file(path, text);
      const model = await bench.script(scenario.replies);
      const run = await bench.tinman(["exec", "-o", format, ...scenario.flags, "-m", model, scenario.prompt]);
      const shown = `${normalise(run.stdout, bench.root)}--- stderr\n${run.stderr.replaceAll(bench.root, "<root>")}--- exit ${run.code}\n`;
      const file = `${here}${name}/expected.${format}`;
      if (process.env.TINMAN_WRITE_GOLDEN === "1") await writeFile(file, shown);
      expect(shown).toBe(await readFile(file, "utf8"));
    } finally {
      await bench.remove();
    }
  },
);

/** Ids become their order of appearance, times become 0, and the workspace its name; nothing else is touched. */
function normalise(text: string, root: string): string {
  const ids = new Map<string, string>();
  return text
    .replaceAll(root, "<root>")
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) => {
      const known = ids.get(id) ?? `<id-${ids.size + 1}>`;
      ids.set(id, known);
      return known;
    })
    .replace(/"(timestamp|durationMs|duration_ms)":\d+/g, '"$1":0');
}
