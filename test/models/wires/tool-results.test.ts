import { afterEach, expect, test } from "vitest";
import { textTokens } from "../../../src/engine/context/tokens.ts";
import { ask } from "../../fakes/kit.ts";
import { isFullRun } from "../../full-run.ts";
import { closeServers, openWire } from "./wire.ts";

afterEach(closeServers);

const edits = isFullRun ? 200 : 50;
const mostTokensPerEdit = 300;

/** 20 KB of program text, with a line to change for each edit. */
const source = Array.from(
  { length: 200 },
  (_, index) =>
    `export function step${index}(input: Input): Output {\n` +
    `  return run(input, { name: "step", retries: ${index} });\n}\n`,
).join("");

interface SentMessage {
  readonly role: string;
  readonly content: string;
}

test("each one-line edit of a 20 KB file costs a model less than 300 tokens of tool results, Read included", async () => {
  expect(source.length).toBeGreaterThan(20_000);
  const { server, kit, open } = await openWire("openai-chat", {
    files: { "/ws/steps.ts": source },
    entry: { contextWindow: 400_000 },
  });
  const edit = (index: number) => ({
    file_path: "steps.ts",
    old_str: `"step", retries: ${index} }`,
    new_str: `"step ${index}", retries: 0 }`,
  });
  const calls = Array.from({ length: edits }, (_, index) => ({
    name: "Edit",
    input: edit(index),
    id: `edit_${index}`,
  }));
  server.enqueue(
    { calls: [{ name: "Read", input: { file_path: "steps.ts" }, id: "read" }] },
    { calls },
    { text: ["Done."] },
  );
  expect(await ask(await open(), "Rename the steps.")).toMatchObject({ reason: "completed" });
  expect(kit.host.text("/ws/steps.ts")?.match(/"step \d+", retries: 0/g)).toHaveLength(edits);

  const { messages } = JSON.parse(server.requests.at(-1)?.rawBody ?? "") as { messages: SentMessage[] };
  const results = messages.filter(({ role }) => role === "tool").map(({ content }) => content);
  expect(results).toHaveLength(edits + 1);
  expect(results.slice(1).filter((text) => !/\n-\s+\d+ {2}.*\n\+\s+\d+ {2}.*/.test(text))).toEqual([]);
  expect(results.reduce((sum, text) => sum + textTokens(text), 0)).toBeLessThan(edits * mostTokensPerEdit);
});
