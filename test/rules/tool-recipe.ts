import { existsSync, readFileSync } from "node:fs";
import { blocksOf } from "../docs/blocks.ts";

/** One block of a recipe: its action, file and text. */
export interface Step {
  readonly action: "new" | "import" | "element" | "last" | "run";
  readonly path: string;
  readonly text: string;
}

/** The blocks after `<!-- recipe: action path -->`. */
export function stepsOf(markdown: string): readonly Step[] {
  const found = [...markdown.matchAll(/^<!-- recipe: (new|import|element|last|run) ?(\S*) -->\n/gm)];
  return found.map(({ 0: whole, 1: action, 2: path = "", index }) => {
    const text = blocksOf("", markdown.slice(index + whole.length))[0]?.text ?? "";
    return { action: action as Step["action"], path, text };
  });
}

/** A file's text after a step. Throws if the step doesn't fit. */
function afterStep({ action, path, text }: Step, before: string | undefined): string {
  if ((action === "new") !== (before === undefined)) throw new Error(`${path} ${before ? "exists" : "is missing"}`);
  if (action === "import") return `${text}${before}`;
  if (action !== "element") return before === undefined ? text : `${before}\n${text}`;
  const end = before?.lastIndexOf("];") ?? -1;
  if (before === undefined || end < 0) throw new Error(`${path} has no list`);
  return before.slice(0, end) + text + before.slice(end);
}

/** The changed files after all steps but the commands. */
export function followed(steps: readonly Step[]): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const step of steps) {
    const { action, path } = step;
    if (action === "run") continue;
    texts.set(path, afterStep(step, texts.get(path) ?? (existsSync(path) ? readFileSync(path, "utf8") : undefined)));
  }
  return texts;
}
