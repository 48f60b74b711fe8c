import { join } from "node:path";
import { createPace } from "../../async/pace.ts";
import type { DirectoryEntry } from "../../engine/files.ts";
import { defineTool, failed, succeeded, type ToolContext } from "../../engine/tool.ts";
import { compileWrittenGlob, longestPattern } from "../../text/glob-pattern.ts";
import { jsonBytes, outputLimit } from "../../text/output.ts";
import { shownName } from "../../text/shown-name.ts";
import { expandHome } from "../../text/user-words.ts";
import { decidedPath, decideUse } from "../decided-path.ts";
import { interrupted, messageOf } from "../outcome.ts";
import { z } from "../zod.ts";
import { whyTooMany } from "./pattern-bounds.ts";

const mostEntries = 1000;
const spaceForNotes = 500;

export const lsTool = defineTool({
  input: z.strictObject({
    directory_path: z.string("directory_path must be a string").optional(),
    ignorePatterns: z.array(z.string(), "ignorePatterns must be a list of patterns").optional(),
  }),

  async access(input, scope) {
    return [await decideUse("read", input.directory_path ?? ".", scope)];
  },

  async run(input, context) {
    const tooMany = whyTooMany(input.ignorePatterns ?? []);
    if (tooMany !== undefined) return failed(`LS tool call failed: ${tooMany}`);
    const { files } = context.host;
    try {
      const path = await decidedPath(input.directory_path ?? ".", context);
      const stat = await files.stat(path);
      if (stat === undefined) return failed(`LS tool call failed: Directory does not exist: ${shownName(path)}`);
      if (stat.kind !== "directory")
        return failed(
          `LS tool call failed: Not a directory: ${shownName(path)}. Use Read for a file.`,
          "not_directory",
        );
      return succeeded(render(await without(input.ignorePatterns ?? [], await files.list(path), path, context)));
    } catch (error) {
      return context.signal.aborted ? interrupted() : failed(`LS tool call failed: ${messageOf(error)}`);
    }
  },
});

/** Only one level is listed, so only the part of a pattern for that level counts. */
async function without(
  patterns: readonly string[],
  entries: readonly DirectoryEntry[],
  folder: string,
  { home, signal }: ToolContext,
): Promise<readonly DirectoryEntry[]> {
  const globs = patterns.flatMap((written) => {
    const given = written.startsWith("~/") ? expandHome(written, home) : written;
    if (given.length > longestPattern) return [compileWrittenGlob(given)];
    const relative = given.startsWith(join(folder, "/")) ? given.slice(join(folder, "/").length) : given;
    const pattern = relative.replace(/^(?:\.\/|\*\*\/)+/, "").replace(/\/[/*]*$/, "");
    return pattern === "" ? [] : [compileWrittenGlob(pattern)];
  });
  const malformed = new Set(globs.filter(({ problem }) => problem !== undefined));
  const pace = createPace(signal);
  const left: DirectoryEntry[] = [];
  for (const entry of entries) {
    let isIgnored = false;
    for (const glob of globs) {
      if (glob.matches(entry.name)) {
        malformed.delete(glob);
        isIgnored = true;
        break;
      }
      await pace.rest();
    }
    if (!isIgnored) left.push(entry);
  }
  for (const { problem } of malformed) throw new Error(problem);
  return left;
}

function render(entries: readonly DirectoryEntry[]): string {
  if (entries.length === 0) return "[The directory is empty.]";
  const sorted = entries.toSorted((a, b) => (a.name < b.name ? -1 : 1)).slice(0, mostEntries);
  const width = Math.max(...sorted.map((entry) => String(entry.size).length));
  const lines: string[] = [];
  let used = 0;
  for (const entry of sorted) {
    const line = `${mode(entry)} ${String(entry.size).padStart(width)} ${date(entry.mtimeMs)} ${label(entry)}`;
    used += jsonBytes(line) + 2;
    if (used > outputLimit - spaceForNotes) break;
    lines.push(line);
  }
  const left = entries.length - lines.length;
  if (left > 0) lines.push("", `[${left} more entries are not shown. Narrow it with ignorePatterns, or use Glob.]`);
  return lines.join("\n");
}

function label(entry: DirectoryEntry): string {
  const name = shownName(entry.name);
  if (entry.kind === "directory") return `${name}/`;
  return entry.linkTarget === undefined ? name : `${name} -> ${shownName(entry.linkTarget)}`;
}

const kindLetters = { directory: "d", file: "-", link: "l", other: "?" } as const;

function mode(entry: DirectoryEntry): string {
  const bits = Array.from("rwxrwxrwx", (letter, index) => (entry.mode & (0o400 >> index) ? letter : "-"));
  return kindLetters[entry.kind] + bits.join("");
}

function date(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16).replace("T", " ");
}
