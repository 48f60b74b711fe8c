import { join } from "node:path";
import { jsonBytes, outputLimit } from "../core/output.ts";
import type { DirectoryEntry } from "../core/ports.ts";
import { defineTool, failed, succeeded } from "../core/tool.ts";
import { decidedPath, decideUse } from "./decided-path.ts";
import { messageOf } from "./outcome.ts";
import { compileWildcard } from "./wildcard.ts";
import { z } from "./zod.ts";

const mostEntries = 1000;
const spaceForNotes = 500;
const longestPattern = 1000;

export const lsTool = defineTool({
  input: z.strictObject({
    directory_path: z.string("directory_path must be a string").optional(),
    ignorePatterns: z.array(z.string(), "ignorePatterns must be a list of patterns").optional(),
  }),

  async access(input, scope) {
    return [await decideUse("read", input, input.directory_path ?? ".", scope)];
  },

  async run(input, context) {
    const { files } = context.host;
    const patterns = input.ignorePatterns ?? [];
    if (patterns.some((pattern) => pattern.length > longestPattern))
      return failed(`LS tool call failed: A pattern has more than ${longestPattern} characters.`);
    try {
      const path = await decidedPath(input, input.directory_path ?? ".", context);
      const stat = await files.stat(path);
      if (stat === undefined) return failed(`LS tool call failed: Directory does not exist: ${path}`);
      if (stat.kind !== "directory")
        return failed(`LS tool call failed: Not a directory: ${path}. Use Read for a file.`);
      const isIgnored = ignoring(patterns, path);
      const entries = (await files.list(path)).filter((entry) => !isIgnored(entry.name));
      return succeeded(render(entries));
    } catch (error) {
      return failed(`LS tool call failed: ${messageOf(error)}`);
    }
  },
});

/** Only one level is listed, so what a pattern says about the levels above and below an entry is dropped. */
function ignoring(patterns: readonly string[], folder: string): (name: string) => boolean {
  const tests = patterns.flatMap((given) => {
    const pattern = given.replace(/^(?:\.\/|\*\*\/)+/, "").replace(/(?:\/\*\*?)*\/*$/, "");
    if (pattern === "") return [];
    const matches = compileWildcard(pattern);
    return [pattern.startsWith("/") ? (name: string) => matches(join(folder, name)) : matches];
  });
  return (name) => tests.some((matches) => matches(name));
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
  const name = printable(entry.name);
  if (entry.kind === "directory") return `${name}/`;
  return entry.linkTarget === undefined ? name : `${name} -> ${printable(entry.linkTarget)}`;
}

/** A name with a line feed must not look like two entries. */
function printable(name: string): string {
  return name.replace(/\p{Cc}/gu, (control) => `\\x${control.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

const kindLetters = { directory: "d", file: "-", link: "l", other: "?" } as const;

function mode(entry: DirectoryEntry): string {
  const bits = Array.from("rwxrwxrwx", (letter, index) => (entry.mode & (0o400 >> index) ? letter : "-"));
  return kindLetters[entry.kind] + bits.join("");
}

function date(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16).replace("T", " ");
}
