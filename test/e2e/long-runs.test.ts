import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import summaryPrompt from "../../src/engine/context/prompts/summary.md";
import type { ProviderServer, Turn } from "../fakes/providers/base.ts";
import { createOpenAIChatServer } from "../fakes/providers/openai-chat-server.ts";
import { isFullRun } from "../full-run.ts";
import { type Bench, createBench, lines } from "./tinman.ts";

let bench: Bench;
let server: ProviderServer;

/** A model with a window of 8,000 tokens. */
beforeEach(async () => {
  [bench, server] = await Promise.all([createBench(), createOpenAIChatServer()]);
  const entry = { id: "small", provider: "openai-compatible", model: "local-model", baseUrl: server.url };
  const models = { entries: [{ ...entry, apiKey: server.key, contextWindow: 8_000, maxOutputTokens: 1_000 }] };
  await mkdir(join(bench.home, ".tinman"), { recursive: true });
  await writeFile(join(bench.home, ".tinman", "config.yaml"), JSON.stringify({ models, model: "small" }));
  await bench.file("notes.txt", "a line of notes\n".repeat(60));
});
afterEach(async () => {
  await Promise.all([server.close(), bench.remove()]);
});

function reads(step: number): Turn {
  return { calls: [{ name: "Read", input: { file_path: "notes.txt", offset: step % 7, limit: 30 } }] };
}

const [summaryRequest = ""] = summaryPrompt.split("\n");
const isForSummary = ({ rawBody }: { readonly rawBody: string }) => rawBody.includes(summaryRequest);

const steps = isFullRun ? 300 : 100;

test(`${steps} steps in a window of 8,000 tokens, with a model that writes no summaries`, async () => {
  const first = { text: ["The fact of step 1 is MARMALADE."], calls: [{ name: "LS", input: {} }] };
  server.enqueue(first, ...Array.from({ length: steps - 1 }, (_, step) => reads(step)), { text: ["Done."] });
  const run = await bench.tinman(["exec", "-o", "stream-json", `Take ${steps} steps. The number is 4711.`]);
  const why = "The conversation is compacted without a summary. The model called a tool instead of writing it.";
  expect([run.code, run.stderr]).toEqual([0, `tinman: ${why}\n`]);
  expect(lines(run.stdout).at(-1)).toMatchObject({ type: "completion", finalText: "Done." });
  // Its answers to the two summary requests ran nothing.
  expect(lines(run.stdout).filter(({ type }) => type === "tool_result")).toHaveLength(steps - 2);
  expect(server.requests.filter(isForSummary)).toHaveLength(2);
  const last = server.requests.at(-1)?.rawBody ?? "";
  expect(last).toContain(`Take ${steps} steps. The number is 4711.`);
  expect(last).toContain("MARMALADE");
  expect(server.requests.flatMap(({ faults }) => faults)).toEqual([]);
}, 60_000);

test("a session killed during a summary resumes unchanged and continues", async () => {
  server.enqueue(...Array.from({ length: 40 }, (_, step) => ({ ...reads(step), delayMs: 100 })));
  const child = bench.start(["exec", "-o", "stream-json", "Read the notes. The number is 4711."]);
  let told = "";
  child.stdout?.on("data", (chunk) => {
    told += String(chunk);
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  await server.until(() => server.requests.some(isForSummary));
  child.kill("SIGKILL");
  await ended;

  const id = String(lines(told).find(({ type }) => type === "system")?.session_id);
  const shown = async () => JSON.parse((await bench.tinman(["sessions", "show", id, "--json"])).stdout) as object;
  const before = await shown();
  expect(await shown()).toEqual(before);
  const next = server.requests.length;
  const summary = { text: ["The user wants the notes read; notes.txt holds lines of notes."] };
  server.enqueue(...Array.from({ length: 60 }, () => summary));
  const resumed = await bench.tinman(["exec", "-s", id, "-o", "json", "Go on. The colour is teal."]);
  expect(resumed.code).toBe(0);
  const bodies = server.requests.slice(next).map(({ rawBody }) => rawBody);
  expect(bodies.at(-1)).toContain("The colour is teal.");
  // The killed turn's task goes on.
  expect(bodies.at(-1)).toContain("The number is 4711.");
}, 60_000);
