import type { SearchResult } from "../../engine/ports.ts";
import { succeeded, type ToolOutput } from "../../engine/tool.ts";
import { jsonBytes, outputLimit } from "../../text/output.ts";
import { shownName } from "../../text/shown-name.ts";
import { textStart } from "../../text/text-cut.ts";

const longestLine = 500;
const spaceForNotes = 1000;
const nothing = "No matching files found";

/** A search's result for the model. `relativeTo` is named if the paths do not start in the working directory. */
export function searchReport(result: SearchResult, relativeTo?: string): ToolOutput {
  const shown: string[] = [];
  let used = 0;
  for (const line of result.lines) {
    const short = shorten(line);
    used += jsonBytes(short) + 2;
    if (used > outputLimit - spaceForNotes) break;
    shown.push(short);
  }
  const notes: string[] = [];
  if (result.truncated || shown.length < result.lines.length)
    notes.push(`[Only the first ${shown.length} are shown. Narrow the search to see the others.]`);
  if (result.unreadable) notes.push("[Some files or folders could not be read, and were not searched.]");
  if (relativeTo !== undefined && shown.length > 0) notes.push(`[Paths are relative to ${shownName(relativeTo)}]`);
  if (shown.length === 0 && notes.length === 0) return succeeded(nothing, "no_match");
  const found = shown.length === 0 ? nothing : shown.join("\n");
  return succeeded([found, ...(notes.length === 0 ? [] : ["", ...notes])].join("\n"));
}

function shorten(line: string): string {
  if (line.length <= longestLine) return line;
  const kept = textStart(line, longestLine);
  return `${kept}… [line cut: ${line.length - kept.length} more characters]`;
}
