import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readDocument } from "../../src/config/load.ts";
import { AgentError } from "../../src/engine/errors.ts";
import type { ModelEvent, ModelPort } from "../../src/engine/ports.ts";
import { createModelCatalog } from "../../src/models/catalog.ts";
import { randomFrom } from "../fakes/seeded-random.ts";
import { isFullRun } from "../full-run.ts";
import { instantClock, requestOf, userMessage } from "../models/harness.ts";
import { firstSeed, sharedByAll } from "./mutate.ts";
import { blocksOf, mutateYaml } from "./yaml-texts.ts";

const rounds = isFullRun ? 10_000 : 200;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tinman-fuzz-scripts-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const samples = [
  ...["docs/scripted-models.md", "docs/exec.md", "docs/exit-codes.md", "docs/tools.md"].flatMap(blocksOf),
  'replies:\n  - when: { user: /\\blist\\b/i, system: Tinman, model_call: 1 }\n    times: 2\n    delay_ms: 5\n    chunk_delay_ms: 1\n    reasoning: [Hm, "."]\n    text: ["a {{user}}", b]\n    stop: length\n    usage: { input: 1, output: 2, cache_read: 3, cache_write: 4, thinking: 5 }\n  - repeat_text: { text: ab, times: 300 }\n  - tool_calls:\n      - { name: LS, raw: "{", id: one, chunks: 3 }\n  - error: { status: 503, message: busy, retry_after_ms: 10 }\n  - error: cut\n  - empty: true\nmodel: { displayName: It, contextWindow: 5000, maxOutputTokens: 100 }\n',
].filter((block) => block.includes("replies:"));

/** A model's events, limited in number; the last one tells how it ended. */
async function heard(model: ModelPort, prompt: string): Promise<readonly ModelEvent[]> {
  const stop = new AbortController();
  const events: ModelEvent[] = [];
  for await (const event of model.stream(requestOf([userMessage(prompt)]), stop.signal)) {
    events.push(event);
    // A script can say as much as it likes.
    if (events.length === 500) stop.abort();
  }
  return events;
}

test(`${rounds} mutated scripts are played, or rejected in one line`, { timeout: 600_000 }, async () => {
  const path = join(folder, "script.yaml");
  const shared = sharedByAll();
  const warnings: Error[] = [];
  const warned = (warning: Error): void => void warnings.push(warning);
  process.on("warning", warned);
  const seen = { played: 0, refused: 0 };
  for (let round = 0; round < rounds; round += 1) {
    const seed = firstSeed + round;
    const text = mutateYaml(randomFrom(seed), samples);
    await writeFile(path, text);
    const context = { seed, text: text.toString("latin1").slice(0, 2_000) };
    const models = createModelCatalog({
      defaultModel: "offline",
      env: {},
      loadScript: readDocument,
      fetch: async () => fetch,
      clock: instantClock(),
    });
    const model = await models.resolve(`script:${path}`).catch((error: unknown) => error as Error);
    if (model instanceof Error) {
      seen.refused += 1;
      const { message } = model;
      const isClear = model instanceof AgentError && model.code === "script_invalid" && message.startsWith(`${path}: `);
      expect({ ...context, isClear, message }).toEqual({
        ...context,
        isClear: true,
        message: expect.stringMatching(/^[\P{Cc}\u0080-\u009f]*$/u),
      });
      continue;
    }
    seen.played += 1;
    for (const prompt of ["list them", "and again", "", "\u2028"]) {
      const last = (await heard(model, prompt)).at(-1);
      const code = last?.type === "error" ? last.failure.code : last?.type;
      expect({ ...context, code }).toEqual({
        ...context,
        code: expect.stringMatching(/^(end|script_|model_|interrupted)/),
      });
    }
  }
  process.off("warning", warned);
  expect(warnings).toEqual([]);
  expect(sharedByAll()).toEqual(shared);
  expect(Math.min(seen.played, seen.refused)).toBeGreaterThan(rounds / 20);
});
