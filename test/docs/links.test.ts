import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { pages } from "./pages.ts";

const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };

describe.each(pages())("%s", (page) => {
  const text = readFileSync(page, "utf8");
  const prose = text.replace(/^(```|~~~)[\s\S]*?^\1/gm, "");

  it("has no broken links", () => {
    const targets = [...prose.matchAll(/\]\(([^()\s]+)\)/g)].map((match) => match[1] ?? "");
    const dead = targets.filter((target) => !/^[a-z]+:/.test(target)).filter((target) => !leadsSomewhere(page, target));
    expect(dead).toEqual([]);
  });

  it("names npm scripts that exist", () => {
    const named = [...text.matchAll(/npm run ([\w:-]+)/g)].map((match) => match[1] ?? "");
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });
});

function leadsSomewhere(page: string, target: string): boolean {
  const [path = "", anchor] = target.split("#");
  const file = path === "" ? page : join(dirname(page), path);
  if (!existsSync(file)) return false;
  if (anchor === undefined) return true;
  if (statSync(file).isDirectory()) return false;
  const headings = [...readFileSync(file, "utf8").matchAll(/^#+ (.*)$/gm)].map((match) => slug(match[1] ?? ""));
  return headings.includes(anchor);
}

/** A heading's anchor, as forges generate it. */
function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(" ", "-");
}
