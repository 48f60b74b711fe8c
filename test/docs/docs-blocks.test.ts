import { readFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { isFullRun } from "../full-run.ts";
import { type Block, blocksOf } from "./blocks.ts";
import { checkBlock, isRunnable } from "./check-block.ts";
import { pages } from "./pages.ts";
import { runBlock } from "./run-block.ts";

const notRun: string[] = [];

const outcomes = new Map<string, ReturnType<typeof runBlock>>();

/** A block that stands on two pages, as in both languages of one page, is run once and compared with what each says. */
const runOnce: typeof runBlock = (program, tinman) => {
  const key = JSON.stringify(program);
  const outcome = outcomes.get(key) ?? runBlock(program, tinman);
  outcomes.set(key, outcome);
  return outcome;
};

/** Where the short run tries an example in Python, if anywhere. */
const isPython = ({ language, text }: Block): boolean => language === "python" || text.includes("python3");

/** In the short run every third block of a page that has more than a few: of the others the syntax is checked. */
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

  it("is a page with a title", () => {
    expect(readFileSync(page, "utf8")).toMatch(/^# \S/);
  });
});
