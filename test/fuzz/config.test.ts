import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadUserConfig, readDocument } from "../../src/config/load.ts";
import { loadRules } from "../../src/config/rules/rules.ts";
import { userConfigSchema } from "../../src/config/schema/user-config.ts";
import { AgentError } from "../../src/engine/errors.ts";
import { createModelCatalog } from "../../src/models/catalog.ts";
import { randomFrom } from "../fakes/seeded-random.ts";
import { isFullRun } from "../full-run.ts";
import { instantClock } from "../models/harness.ts";
import { firstSeed, sharedByAll } from "./mutate.ts";
import { blocksOf, mutateYaml } from "./yaml-texts.ts";

const rounds = isFullRun ? 5_000 : 50;

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "tinman-fuzz-config-"));
});
afterAll(() => rm(home, { recursive: true, force: true }));

const samples = [...blocksOf("docs/configuration.md"), ...blocksOf("docs/models.md")];

/** How the program uses a configuration before calling a model. */
async function used(): Promise<object> {
  const config = await loadUserConfig(home);
  const models = createModelCatalog({
    defaultModel: config.models?.default ?? config.model ?? "offline",
    ...(config.models === undefined ? {} : { choices: config.models }),
    env: {},
    loadScript: async () => ({}),
    fetch: async () => fetch,
    clock: instantClock(),
  });
  await Promise.all([models.list(), models.unusable(), loadRules({ user: config, adminFiles: [], ownHome: home })]);
  return config;
}

test(`${rounds} mutated configurations are read, or rejected in one line that names the file`, {
  timeout: 600_000,
}, async () => {
  const path = join(home, "config.yaml");
  const shared = sharedByAll();
  const warnings: Error[] = [];
  const warned = (warning: Error): void => void warnings.push(warning);
  process.on("warning", warned);
  const seen = { read: 0, refused: 0 };
  for (let round = 0; round < rounds; round += 1) {
    const seed = firstSeed + round;
    const text = mutateYaml(randomFrom(seed), samples);
    await writeFile(path, text);
    const first = await used().catch((error: unknown) => error);
    const context = { seed, text: text.toString("latin1").slice(0, 2_000) };
    if (first instanceof Error) {
      seen.refused += 1;
      const { message } = first;
      const isClear = first instanceof AgentError && first.code === "config_invalid" && message.startsWith(`${path}: `);
      expect({ ...context, isClear, message }).toEqual({
        ...context,
        isClear: true,
        message: expect.stringMatching(/^\P{Cc}*$/u),
      });
      expect({ ...context, length: Math.min(message.length, 4_000) }).toEqual({ ...context, length: message.length });
    } else {
      seen.read += 1;
      // The schema, from which the checker was made, agrees.
      expect({ ...context, schema: userConfigSchema.parse((await readDocument(path)) ?? {}) }).toEqual({
        ...context,
        schema: first,
      });
    }
    expect(await readFile(path)).toEqual(text);
  }
  process.off("warning", warned);
  expect(warnings).toEqual([]);
  expect(sharedByAll()).toEqual(shared);
  expect(Math.min(seen.read, seen.refused)).toBeGreaterThan(rounds / 20);
});
