import type { GrepQuery } from "../../engine/ports.ts";
import { defineTool, failed } from "../../engine/tool.ts";
import { shownName } from "../../text/shown-name.ts";
import { decidedPath, decideUse } from "../decided-path.ts";
import { interrupted, messageOf } from "../outcome.ts";
import { z } from "../zod.ts";
import { whyNotSearchable } from "./pattern-bounds.ts";
import { placesBelow, whyNotSearched } from "./places-below.ts";
import { searchReport } from "./search-report.ts";

const defaultLimit = 500;
const mostResults = 5000;
const mostContext = 100;

const input = z.strictObject({
  pattern: z.string("pattern is required and must be a string"),
  path: z.string().optional(),
  glob_pattern: z.string().optional(),
  output_mode: z.enum(["file_paths", "content"]).optional(),
  case_insensitive: z.boolean().optional(),
  type: z.string().optional(),
  context_before: z.number().optional(),
  context_after: z.number().optional(),
  context: z.number().optional(),
  line_numbers: z.boolean().optional(),
  head_limit: z.number().optional(),
  multiline: z.boolean().optional(),
  fixed_string: z.boolean().optional(),
});

export const grepTool = defineTool({
  input,

  async access(input, scope) {
    return [await decideUse("read", input.path ?? ".", scope)];
  },

  async run(input, context) {
    if (input.pattern === "") return failed("pattern is required and must be a string");
    if ((input.head_limit ?? 0) < 0) return failed("head_limit is the number of results to return: 1 or more");
    const unusable = whyNotSearchable([input.glob_pattern ?? ""], "path");
    if (unusable !== undefined) return failed(`Grep failed: ${unusable}`);
    const { files, search } = context.host;
    try {
      const path = await decidedPath(input.path ?? ".", context);
      const stat = await files.stat(path);
      if (stat === undefined) return failed(`Grep failed: Path does not exist: ${shownName(path)}`);
      const unsearched = stat.kind === "directory" ? whyNotSearched(path) : undefined;
      if (unsearched !== undefined) return failed(`Grep failed: ${unsearched}`);
      const result = await search.grep(query(input, path, context.protectedPlaces), context.signal);
      // The search uses names, so its results are shown only if they still lead to the same places.
      await decidedPath(input.path ?? ".", context);
      return searchReport(result, stat.kind === "directory" && path !== context.cwd ? path : undefined);
    } catch (error) {
      return context.signal.aborted ? interrupted() : failed(`Grep failed: ${messageOf(error)}`);
    }
  },
});

function query(given: z.infer<typeof input>, path: string, places: readonly string[]): GrepQuery {
  return {
    pattern: given.pattern,
    path,
    globs: [
      ...(given.glob_pattern === undefined || given.glob_pattern === "" ? [] : [given.glob_pattern]),
      ...placesBelow(path, places).map((glob) => `!${glob}`),
    ],
    ...(given.type === undefined || given.type === "" ? {} : { fileType: given.type }),
    mode: given.output_mode ?? "file_paths",
    caseInsensitive: given.case_insensitive ?? false,
    fixedString: given.fixed_string ?? false,
    multiline: given.multiline ?? false,
    lineNumbers: given.line_numbers ?? false,
    before: contextLines(given.context_before ?? given.context),
    after: contextLines(given.context_after ?? given.context),
    limit: Math.min(Math.floor(given.head_limit ?? 0) || defaultLimit, mostResults),
  };
}

function contextLines(given = 0): number {
  return Math.min(Math.max(Math.floor(given), 0), mostContext);
}
