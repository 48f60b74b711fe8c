import { accessSync, constants } from "node:fs";
import { stat, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { GlobQuery, GrepQuery, Search, SearchResult } from "../../engine/ports.ts";
import { shownName } from "../../text/shown-name.ts";
import { isBeyondText } from "../files/system-path.ts";
import { usersProgram } from "../processes/executables.ts";
import { acrossLineEnds, namesCarriageReturns, textAcrossLineEnds } from "./line-ends.ts";
import { readContent, readPaths, searchedRoot, separatorFlags } from "./ripgrep-output.ts";
import { searchWithRipgrep } from "./ripgrep-process.ts";
import { relativeTo, wantedPaths } from "./wanted-paths.ts";

/** For every search: only our settings, everything except `.git`, no colours, a fixed order. */
const always = [
  "--no-config",
  "--no-ignore-messages",
  "--color=never",
  "--sort=path",
  "--hidden",
  "--no-require-git",
] as const;
/** Comes last, because the last match wins. */
const neverGit = "--glob=!.git";

/** The bundled ripgrep, or the user's. */
export async function locateRipgrep(): Promise<string | undefined> {
  try {
    const { rgPath } = await import("@vscode/ripgrep");
    accessSync(rgPath, constants.X_OK);
    return rgPath;
  } catch {
    return usersProgram("rg", process.cwd());
  }
}

/** The folder to search in, and the target. A file name never starts an argument. */
async function place(path: string): Promise<{ cwd: string; target: string }> {
  const stats = await stat(path);
  if (stats.isDirectory()) return { cwd: path, target: searchedRoot };
  if (!stats.isFile()) throw new Error(`${shownName(path)} is neither a file nor a folder.`);
  return { cwd: dirname(path), target: `${searchedRoot}${basename(path)}` };
}

function excludeFlags(exclude: readonly string[]): readonly string[] {
  return exclude.map((glob) => `--glob=!${glob.replace(/^(?:\.\/|!)+/, "")}`);
}

/** Patterns that ripgrep reads as we do. */
const plainGlob = /^[^[\]\\\r\n]{0,999}[^[\]\\\s]$/;

/**
 * Passes include globs as an ignore file, because as globs they would override `.gitignore`. If it cannot be written,
 * ripgrep searches too much, and the results are filtered afterwards.
 */
async function withIncludeFile<T>(
  include: readonly string[],
  use: (flags: readonly string[]) => Promise<T>,
): Promise<T> {
  if (include.length === 0 || !include.every((glob) => plainGlob.test(glob))) return use([]);
  const path = join(tmpdir(), `tinman-${crypto.randomUUID()}.ignore`);
  const lines = include.flatMap((given) => {
    const glob = given.replace(/^(?:\.\/)+/, "");
    const letters = glob.replace(/^\/|\/+$/g, "").replace(/[*?{}!# ]/g, "\\$&");
    return [`!${glob.endsWith("/") ? `${glob}**` : glob}`, `!${letters}`, `!/${letters}/**`];
  });
  try {
    await writeFile(path, `${["**", "!**/", ...lines].join("\n")}\n`, { mode: 0o600, flag: "wx" });
  } catch {
    return use([]);
  }
  try {
    return await use([`--ignore-file=${path}`]);
  } finally {
    await unlink(path).catch(() => undefined);
  }
}

/** Lines end with CRLF or LF, as in Edit, unless the pattern mentions carriage returns. */
function patternFlags({ pattern, fixedString, multiline }: GrepQuery): readonly string[] {
  const asItIs = [...(fixedString ? ["--fixed-strings"] : []), `--regexp=${pattern}`];
  const across = multiline ? ["--multiline", "--multiline-dotall"] : [];
  if (fixedString ? pattern.includes("\r") : namesCarriageReturns(pattern)) return [...across, ...asItIs];
  if (!multiline) return ["--crlf", ...asItIs];
  return [...across, "--crlf", `--regexp=${fixedString ? textAcrossLineEnds(pattern) : acrossLineEnds(pattern)}`];
}

function grepFlags(query: GrepQuery): readonly string[] {
  const flags: string[] = [];
  if (query.mode === "file_paths") flags.push("--files-with-matches", "--null");
  else {
    flags.push(...separatorFlags, "--no-heading", "--with-filename", "--max-columns=2000", "--max-columns-preview");
    flags.push(query.lineNumbers ? "--line-number" : "--no-line-number");
    if (query.before > 0) flags.push(`--before-context=${Math.floor(query.before)}`);
    if (query.after > 0) flags.push(`--after-context=${Math.floor(query.after)}`);
  }
  if (query.caseInsensitive) flags.push("--ignore-case");
  if (query.fileType !== undefined) flags.push(`--type=${query.fileType}`);
  return [...flags, ...patternFlags(query)];
}

type Bounds = SearchOptions["bounds"];

async function grep(program: string, query: GrepQuery, signal: AbortSignal, bounds: Bounds): Promise<SearchResult> {
  const { cwd, target } = await place(query.path);
  const globs = target === searchedRoot ? query.globs : [];
  const include = globs.filter((glob) => !glob.startsWith("!"));
  const exclude = globs.filter((glob) => glob.startsWith("!")).map((glob) => glob.slice(1));
  return wantedPaths(include, signal, (wanted) =>
    withIncludeFile(include, (includeFlags) =>
      searchWithRipgrep({
        program,
        args: [...always, ...grepFlags(query), ...includeFlags, ...excludeFlags(exclude), neverGit, "--", target],
        cwd,
        limit: query.limit,
        read: query.mode === "file_paths" ? readPaths : readContent,
        wanted,
        signal,
        bounds,
      }),
    ),
  );
}

async function glob(program: string, query: GlobQuery, signal: AbortSignal, bounds: Bounds): Promise<SearchResult> {
  const { cwd, target } = await place(query.folder);
  const include = query.include.map((pattern) => relativeTo(query.folder, pattern));
  return wantedPaths(include, signal, (wanted) =>
    searchWithRipgrep({
      program,
      args: [...always, "--files", "--null", ...excludeFlags(query.exclude), neverGit, "--", target],
      cwd,
      limit: query.limit,
      read: readPaths,
      wanted,
      signal,
      bounds,
    }),
  );
}

interface SearchOptions {
  /** Finds ripgrep. */
  readonly locate?: () => Promise<string | undefined>;
  /** Without ripgrep: the time limit for a pattern in one file. */
  readonly mostPatternMs?: number;
  /** Limits for one run of ripgrep. */
  readonly bounds?: { readonly timeMs?: number; readonly bytes?: number };
}

/** Searches with ripgrep, or without it with our own slower walk. */
export function createSearch(options: SearchOptions = {}): Search {
  let located: Promise<string | undefined> | undefined;
  /** A path that is not UTF-8 cannot be an argument. */
  const programFor = async (path: string) => {
    if (isBeyondText(path)) return undefined;
    located ??= (options.locate ?? locateRipgrep)().then((found) => {
      // Try again next time: without a free file descriptor, it is not found.
      if (found === undefined) located = undefined;
      return found;
    });
    return located;
  };
  return {
    async grep(query, signal) {
      const rg = await programFor(query.path);
      if (rg !== undefined) return grep(rg, query, signal, options.bounds);
      return (await import("./search-walk.ts")).walkGrep(query, signal, options.mostPatternMs ?? 10_000);
    },
    async glob(query, signal) {
      const rg = await programFor(query.folder);
      if (rg !== undefined) return glob(rg, query, signal, options.bounds);
      return (await import("./search-walk.ts")).walkGlob(query, signal);
    },
  };
}
