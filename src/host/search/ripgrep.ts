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

/** The same for every search: only our own settings, everything but `.git`, no colours, a fixed order. */
const always = [
  "--no-config",
  "--no-ignore-messages",
  "--color=never",
  "--sort=path",
  "--hidden",
  "--no-require-git",
] as const;
/** Last, because the last pattern that matches wins. */
const neverGit = "--glob=!.git";

/** The ripgrep that comes with us, or the user's. */
export async function locateRipgrep(): Promise<string | undefined> {
  try {
    const { rgPath } = await import("@vscode/ripgrep");
    accessSync(rgPath, constants.X_OK);
    return rgPath;
  } catch {
    return usersProgram("rg", process.cwd());
  }
}

/** The searched folder, and what to search in it. A name from outside is never at the start of an argument. */
async function place(path: string): Promise<{ cwd: string; target: string }> {
  const stats = await stat(path);
  if (stats.isDirectory()) return { cwd: path, target: searchedRoot };
  if (!stats.isFile()) throw new Error(`${shownName(path)} is neither a file nor a folder.`);
  return { cwd: dirname(path), target: `${searchedRoot}${basename(path)}` };
}

function excludeFlags(exclude: readonly string[]): readonly string[] {
  return exclude.map((glob) => `--glob=!${glob.replace(/^(?:\.\/|!)+/, "")}`);
}

/** What ripgrep reads as we do. */
const plainGlob = /^[^[\]\\\r\n]{0,999}[^[\]\\\s]$/;

/**
 * Which files ripgrep need not open. Its own include globs win over `.gitignore`: `**` would bring in `node_modules`. A list
 * of what to ignore loses against it instead, so the globs become one: ignore all files but these. It is a file, and
 * without a place for it ripgrep searches more than it needs to: what was asked for is found out afterwards anyway.
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

/** Lines end with CRLF or LF, as in Edit, unless the pattern itself is about carriage returns. */
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

export interface SearchOptions {
  /** Where ripgrep is; `undefined` for nowhere. */
  readonly locate?: () => Promise<string | undefined>;
  /** How long an expression may take for one file where it is not ripgrep that looks for it. */
  readonly mostPatternMs?: number;
  /** What one run of ripgrep may take. */
  readonly bounds?: { readonly timeMs?: number; readonly bytes?: number };
}

/** Searches with ripgrep, or with a slower walk of our own where there is none. */
export function createSearch(options: SearchOptions = {}): Search {
  let located: Promise<string | undefined> | undefined;
  /** A path that is not text cannot be handed to a program. */
  const programFor = async (path: string) => {
    if (isBeyondText(path)) return undefined;
    located ??= (options.locate ?? locateRipgrep)().then((found) => {
      // It may be there the next time: without a free file descriptor, nothing is found.
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
