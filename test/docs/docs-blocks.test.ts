import { readFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { blocksOf } from "./blocks.ts";
import { checkBlock } from "./check-block.ts";
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

afterAll(() => {
  for (const line of notRun) process.stderr.write(`${line}\n`);
});

describe.each(pages())("%s", (page) => {
  const blocks = blocksOf(page, readFileSync(page, "utf8"));
  const cases = blocks.map((block) => {
    const { noRun } = block.directives;
    return {
      block,
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
