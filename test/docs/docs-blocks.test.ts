import { readFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { isFullRun } from "../full-run.ts";
import { type Block, blocksOf } from "./blocks.ts";
import { checkBlock, isRunnable } from "./check-block.ts";
import { pages } from "./pages.ts";
import { runBlock } from "./run-block.ts";

const notRun: string[] = [];

const outcomes = new Map<string, ReturnType<typeof runBlock>>();

/** A block on two pages, as in both languages, runs once and is compared with both. */
const runOnce: typeof runBlock = (program, tinman) => {
  const key = JSON.stringify(program);
  const outcome = outcomes.get(key) ?? runBlock(program, tinman);
  outcomes.set(key, outcome);
  return outcome;
};

/** Blocks with Python, which the short run always includes. */
const isPython = ({ language, text }: Block): boolean => language === "python" || text.includes("python3");

/** The short run runs every third block of long pages, and only checks the syntax of the others. */
const fewBlocks = 3;
function forThisRun(blocks: readonly Block[]): ReadonlySet<Block> {
  const run = blocks.filter((block) => isRunnable(block));
  return new Set(
    isFullRun || run.length <= fewBlocks ? run : run.filter((block, index) => index % 3 === 0 || isPython(block)),
  );
}

afterAll(() => {
  for (const line of notRun) process.stderr.write(`${line}\n`);
});

describe.each(pages())("%s", (page) => {
  const blocks = blocksOf(page, readFileSync(page, "utf8"));
  const run = forThisRun(blocks);
  const cases = blocks.map((block) => {
    const later = isRunnable(block) && !run.has(block) ? "in the full run" : undefined;
    const { noRun = later } = block.directives;
    return {
      block: later === undefined ? block : { ...block, directives: { ...block.directives, noRun: later } },
      name: `${page}:${block.line} ${block.language}${noRun === undefined ? "" : ` (not run: ${noRun})`}`,
    };
  });

  it.for(cases)("$name", async ({ block, name }, { skip }) => {
    const { faults, missing } = await checkBlock(block, blocks, "dist/main.cjs", runOnce);
    if (missing.length > 0 && !process.env.CI) {
      notRun.push(`${name}: not run, ${missing.join(" and ")} not installed`);
      skip(`${missing.join(" and ")} not installed`);
    }
    expect(missing, "programs to install").toEqual([]);
    expect(faults.join("\n")).toBe("");
  });

  it("has a title", () => {
    expect(readFileSync(page, "utf8")).toMatch(/^# \S/);
  });
});
