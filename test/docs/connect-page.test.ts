import { readFileSync } from "node:fs";
import { afterEach, expect, it } from "vitest";
import { closeAll, fakeServer } from "../frontends/connect/connected.ts";
import type { Turn } from "../frontends/connect/fake-server.ts";
import { blocksOf } from "./blocks.ts";
import { checkBlock } from "./check-block.ts";

const page = "docs/connect.md";
const blocks = blocksOf(page, readFileSync(page, "utf8"));

afterEach(closeAll);

/** A model that does as it is told. */
async function answer(turn: Turn): Promise<void> {
  const [, word] = /^Just reply (\w+)\.$/.exec(turn.message) ?? [];
  if (word !== undefined) return turn.end("completed", word);
  const { result } = await turn.call("add", { a: 1, b: 2 });
  turn.end("completed", `It is ${String(result).trim()}.`);
}

/** The page's commands find their server at the usual place, and a test cannot have that. */
it.for(blocks.filter(({ directives }) => directives.noRun?.includes("server")))(
  "$page:$line",
  async (block, { skip }) => {
    const server = await fakeServer(answer);
    const { noRun: _, ...directives } = block.directives;
    const text = block.text.replaceAll("tinman connect", `tinman connect ${server.url}`);
    const run = { ...block, text, directives };
    const { faults, missing } = await checkBlock(
      run,
      blocks.map((one) => (one === block ? run : one)),
      "dist/main.cjs",
    );
    if (missing.length > 0 && !process.env.CI) skip(`${missing.join(" and ")} not installed`);
    expect({ faults, missing }).toEqual({ faults: [], missing: [] });
  },
);

it("shows three of them", () => {
  expect(blocks.filter(({ directives }) => directives.noRun?.includes("server")).length).toBe(3);
});
