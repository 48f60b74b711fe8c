import { accessSync, constants } from "node:fs";
import { stat, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { GlobQuery, GrepQuery, Search, SearchResult } from "../core/ports.ts";
import { findOnPath } from "./executables.ts";
import { compileGlob, normaliseGlob } from "./glob-pattern.ts";
import { collectLines } from "./ripgrep-lines.ts";

/** The same for every search: only our own settings, everything but `.git`, no colours, a fixed order. */
const always = [
  "--no-config",
  "--no-messages",
  "--color=never",
  "--sort=path",
  "--hidden",
  "--no-require-git",
] as const;
/** Last, because the last pattern that matches wins. */
const neverGit = "--glob=!.git";
/** A NUL stands in no path, so that a line can be taken apart whatever the path is. The characters behind it stay. */
const separators = ["--field-match-separator=\\x00:", "--field-context-separator=\\x00-"] as const;

/** The ripgrep that comes with us, or the user's. */
export async function locateRipgrep(): Promise<string | undefined> {
  try {
    const { rgPath } = await import("@vscode/ripgrep");
    accessSync(rgPath, constants.X_OK);
    return rgPath;
  } catch {
    return findOnPath("rg");
  }
}

/** The searched folder, and what to search in it. A name from outside is never at the start of an argument. */
async function place(path: string): Promise<{ cwd: string; target: string }> {
  const stats = await stat(path);
  if (stats.isDirectory()) return { cwd: path, target: "./" };
  if (!stats.isFile()) throw new Error(`${path} is neither a file nor a folder.`);
  return { cwd: dirname(path), target: `./${basename(path)}` };
}

interface Globs {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

function sortGlobs(globs: readonly string[]): Globs {
  return {
    include: globs.filter((glob) => !glob.startsWith("!")).map(normaliseGlob),
    exclude: globs.filter((glob) => glob.startsWith("!")).map((glob) => glob.slice(1)),
  };
}

function excludeFlags(exclude: readonly string[]): readonly string[] {
  return exclude.map((glob) => `--glob=!${glob.replace(/^(?:\.\/|!)+/, "")}`);
}

function matcher(include: readonly string[]): (path: string) => boolean {
  const patterns = include.map(compileGlob);
  if (patterns.length === 0) return () => true;
  return (path) => patterns.some((pattern) => pattern.test(path));
}

/**
 * ripgrep's own include globs win over `.gitignore`: `**` would bring in `node_modules`. A list of what to ignore loses
 * against it instead, so the globs become one: ignore all files but these.
 */
async function withIncludeFile<T>(
  include: readonly string[],
  use: (flags: readonly string[]) => Promise<T>,
): Promise<T> {
  if (include.length === 0) return use([]);
  const path = join(tmpdir(), `tinman-${crypto.randomUUID()}.ignore`);
  const lines = include.flatMap((glob) => glob.split(/[\r\n]+/)).map((glob) => `!${glob}`);
  await writeFile(path, `${["**", "!**/", ...lines].join("\n")}\n`, { mode: 0o600, flag: "wx" });
  try {
    return await use([`--ignore-file=${path}`]);
  } finally {
    await unlink(path).catch(() => undefined);
  }
}

function grepFlags(query: GrepQuery): readonly string[] {
  const flags: string[] = [];
  if (query.mode === "file_paths") flags.push("--files-with-matches");
  else {
    flags.push(...separators, "--no-heading", "--with-filename", "--max-columns=2000", "--max-columns-preview");
    flags.push(query.lineNumbers ? "--line-number" : "--no-line-number");
    if (query.before > 0) flags.push(`--before-context=${Math.floor(query.before)}`);
    if (query.after > 0) flags.push(`--after-context=${Math.floor(query.after)}`);
  }
  if (query.caseInsensitive) flags.push("--ignore-case");
  if (query.fixedString) flags.push("--fixed-strings");
  if (query.multiline) flags.push("--multiline", "--multiline-dotall");
  if (query.fileType !== undefined) flags.push(`--type=${query.fileType}`);
  return flags;
}

/** Turns ripgrep's line into ours, or into nothing when its file was not asked for. */
function contentLine(line: string, wanted: (path: string) => boolean): string | undefined {
  const end = line.indexOf("\0");
  if (end < 0) return line === "--" || line.includes(": binary file matches") ? line : undefined;
  if (!wanted(line.slice(2, end))) return undefined;
  return line.slice(0, end) + line.slice(end + 1).replace("\0", "");
}

async function grep(program: string, query: GrepQuery, signal: AbortSignal): Promise<SearchResult> {
  const { cwd, target } = await place(query.path);
  const single = target !== "./";
  const { include, exclude } = sortGlobs(single ? [] : query.globs);
  const wanted = matcher(include);
  const pathOnly = (line: string) => (wanted(line.slice(2)) ? line : undefined);
  return withIncludeFile(include, (includeFlags) => {
    const flags = [...always, ...grepFlags(query), ...includeFlags, ...excludeFlags(exclude), neverGit];
    return collectLines({
      program,
      args: [...flags, `--regexp=${query.pattern}`, "--", target],
      cwd,
      limit: query.limit,
      keep: query.mode === "file_paths" ? pathOnly : (line) => contentLine(line, wanted),
      signal,
    });
  });
}

async function glob(program: string, query: GlobQuery, signal: AbortSignal): Promise<SearchResult> {
  const { cwd, target } = await place(query.folder);
  const wanted = matcher(query.include.map((pattern) => normaliseGlob(relativeTo(query.folder, pattern))));
  return collectLines({
    program,
    args: [...always, "--files", ...excludeFlags(query.exclude), neverGit, "--", target],
    cwd,
    limit: query.limit,
    keep: (line) => (wanted(line.slice(2)) ? line : undefined),
    signal,
  });
}

/** An absolute pattern inside the folder means the same as its relative form. */
function relativeTo(folder: string, pattern: string): string {
  const prefix = folder.endsWith("/") ? folder : `${folder}/`;
  return pattern.startsWith(prefix) ? `/${pattern.slice(prefix.length)}` : pattern;
}

export interface SearchOptions {
  /** Where ripgrep is; `undefined` for nowhere. */
  readonly locate?: () => Promise<string | undefined>;
}

/** Searches with ripgrep, or with a slower walk of our own where there is none. */
export function createSearch(options: SearchOptions = {}): Search {
  let located: Promise<string | undefined> | undefined;
  const program = () => {
    located ??= (options.locate ?? locateRipgrep)();
    return located;
  };
  return {
    async grep(query, signal) {
      const rg = await program();
      if (rg !== undefined) return grep(rg, query, signal);
      return (await import("./search-walk.ts")).walkGrep(query, signal);
    },
    async glob(query, signal) {
      const rg = await program();
      if (rg !== undefined) return glob(rg, query, signal);
      return (await import("./search-walk.ts")).walkGlob(query, signal);
    },
  };
}
