import { defineTool, failed } from "../../engine/tool.ts";
import { shownName } from "../../text/shown-name.ts";
import { decidedPath, decideUse } from "../decided-path.ts";
import { interrupted, messageOf } from "../outcome.ts";
import { z } from "../zod.ts";
import { whyNotSearchable } from "./pattern-bounds.ts";
import { placesBelow, whyNotSearched } from "./places-below.ts";
import { searchReport } from "./search-report.ts";

const mostResults = 1000;

function oneOrMore(name: string) {
  return z.union([z.string(), z.array(z.string())], `${name} must be a pattern or a list of patterns`);
}

export const globTool = defineTool({
  input: z.strictObject({
    patterns: oneOrMore("patterns"),
    excludePatterns: oneOrMore("excludePatterns").optional(),
    folder: z.string().optional(),
  }),

  async access(input, scope) {
    return [await decideUse("read", input.folder ?? ".", scope)];
  },

  async run(input, context) {
    const include = listOf(input.patterns);
    if (include.length === 0) return failed("patterns is required: one pattern or more");
    const unusable = whyNotSearchable([...include, ...listOf(input.excludePatterns ?? [])], "folder");
    if (unusable !== undefined) return failed(`Glob failed: ${unusable}`);
    const { files, search } = context.host;
    try {
      const folder = await decidedPath(input.folder ?? ".", context);
      const stat = await files.stat(folder);
      if (stat?.kind !== "directory") return failed(`Glob failed: Directory does not exist: ${shownName(folder)}`);
      const unsearched = whyNotSearched(folder);
      if (unsearched !== undefined) return failed(`Glob failed: ${unsearched}`);
      const exclude = [...listOf(input.excludePatterns ?? []), ...placesBelow(folder, context.protectedPlaces)];
      const result = await search.glob({ folder, include, exclude, limit: mostResults }, context.signal);
      // The search uses names, so its results are shown only if they still lead to the same places.
      await decidedPath(input.folder ?? ".", context);
      return searchReport(result, folder === context.cwd ? undefined : folder);
    } catch (error) {
      return context.signal.aborted ? interrupted() : failed(`Glob failed: ${messageOf(error)}`);
    }
  },
});

function listOf(patterns: string | readonly string[]): readonly string[] {
  return (typeof patterns === "string" ? [patterns] : patterns).filter((pattern) => pattern.trim() !== "");
}
