import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { createPace, type Pace } from "../../async/pace.ts";
import type { GlobQuery, GrepQuery, SearchResult } from "../../engine/ports.ts";
import { compileGlob } from "../../text/glob-pattern.ts";
import { nameOfBytes, shownName } from "../../text/shown-name.ts";
import { isOutOfFiles, outOfFiles } from "../files/open-files.ts";
import { onDisk } from "../files/system-path.ts";
import { type IgnoreRule, inheritedRules, isIgnored, rulesOf } from "./ignore-rules.ts";
import { createLineSearch, type FoundLine } from "./line-search.ts";
import { searchableBytes } from "./searched-file.ts";
import { relativeTo, wantedPaths } from "./wanted-paths.ts";

/*
 * Searches without ripgrep, with limits: JavaScript patterns, where one that takes too long for a file ends the search; large
 * files are skipped; only `.gitignore` is read, up to the root of the repository; few file types are known.
 */

const largestFile = 10 * 1024 * 1024;

const fileTypes: Readonly<Record<string, readonly string[]>> = {
  c: ["c", "h"],
  cpp: ["cc", "cpp", "cxx", "h", "hh", "hpp"],
  css: ["css", "scss"],
  go: ["go"],
  html: ["htm", "html"],
  java: ["java"],
  js: ["cjs", "js", "jsx", "mjs"],
  json: ["json"],
  md: ["md", "markdown"],
  py: ["py", "pyi"],
  ruby: ["rb"],
  rust: ["rs"],
  sh: ["bash", "sh", "zsh"],
  ts: ["cts", "mts", "ts", "tsx"],
  yaml: ["yaml", "yml"],
};

/** The state of one search. */
interface Walk {
  readonly signal: AbortSignal;
  readonly pace: Pace;
  isIncomplete: boolean;
}

/** The result, or `otherwise` if something cannot be read. */
async function attempt<T>(walk: Walk, act: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await act();
  } catch (error) {
    walk.signal.throwIfAborted();
    if (isOutOfFiles(error)) throw outOfFiles();
    walk.isIncomplete = true;
    return otherwise;
  }
}

async function entriesOf(
  folder: string,
): Promise<readonly { readonly name: string; readonly entry: Dirent<Buffer> }[]> {
  const entries = await readdir(onDisk(folder), { withFileTypes: true, encoding: "buffer" });
  entries.sort((a, b) => Buffer.compare(a.name, b.name));
  return entries.map((entry) => ({ name: nameOfBytes(entry.name), entry }));
}

async function* filesIn(folder: string, inherited: readonly IgnoreRule[], walk: Walk): AsyncGenerator<string> {
  walk.signal.throwIfAborted();
  const entries = await attempt(walk, () => entriesOf(folder), []);
  const rules = [...inherited, ...(await attempt(walk, () => rulesOf(folder, walk.pace), []))];
  for (const { name, entry } of entries) {
    const path = join(folder, name);
    if (name === ".git" || (await isIgnored(path, entry.isDirectory(), rules, walk.pace))) continue;
    if (entry.isDirectory()) yield* filesIn(path, rules, walk);
    else if (entry.isFile()) yield path;
  }
}

async function* filesBelow(folder: string, walk: Walk): AsyncGenerator<string> {
  const inherited = await attempt(walk, () => inheritedRules(folder, walk.pace), []);
  for await (const path of filesIn(folder, inherited, walk)) yield path.slice(join(folder, "/").length);
}

/** Whether a path, or a folder around it, is excluded. */
function leavingOut(exclude: readonly string[], pace: Pace): (path: string) => Promise<boolean> {
  const globs = exclude.map((glob) => compileGlob(glob.replace(/^(?:\.\/|!)+/, "").replace(/\/$/, "")));
  for (const { problem } of globs) if (problem !== undefined) throw new Error(problem);
  return async (path) => {
    for (let end = path.indexOf("/"); globs.length > 0; end = path.indexOf("/", end + 1)) {
      const part = end === -1 ? path : path.slice(0, end);
      for (const glob of globs) {
        if (glob.matches(part)) return true;
        const rest = pace.rest();
        if (rest !== undefined) await rest;
      }
      if (end === -1) break;
    }
    return false;
  };
}

function typeFilter(type: string | undefined): (path: string) => boolean {
  if (type === undefined) return () => true;
  const endings = Object.hasOwn(fileTypes, type) ? fileTypes[type] : undefined;
  if (endings === undefined) throw new Error(`unrecognized file type: ${type}`);
  return (path) => endings.some((ending) => path.endsWith(`.${ending}`));
}

function shownLines(path: string, found: readonly FoundLine[], query: GrepQuery): readonly string[] {
  if (query.mode === "file_paths") return [`./${shownName(path)}`];
  const shown: string[] = [];
  let previous: number | undefined;
  for (const { number, text, matches } of found) {
    if (previous !== undefined && number > previous + 1 && query.before + query.after > 0) shown.push("--");
    const mark = matches ? ":" : "-";
    shown.push(`./${shownName(path)}${mark}${query.lineNumbers ? `${number + 1}${mark}` : ""}${text}`);
    previous = number;
  }
  return shown;
}

function resultOf(lines: readonly string[], limit: number, walk: Walk): SearchResult {
  const result = { lines: lines.slice(0, limit), truncated: lines.length > limit };
  return walk.isIncomplete ? { ...result, unreadable: true } : result;
}

/** `mostMs`: the time limit for the pattern in one file. */
export async function walkGrep(query: GrepQuery, signal: AbortSignal, mostMs: number): Promise<SearchResult> {
  const stats = await stat(onDisk(query.path));
  const isFolder = stats.isDirectory();
  if (!isFolder && !stats.isFile()) throw new Error(`${shownName(query.path)} is neither a file nor a folder.`);
  const walk: Walk = { signal, pace: createPace(signal), isIncomplete: false };
  const folder = isFolder ? query.path : dirname(query.path);
  const globs = isFolder ? query.globs : [];
  const isLeftOut = leavingOut(
    globs.filter((glob) => glob.startsWith("!")).map((glob) => glob.slice(1)),
    walk.pace,
  );
  const ofType = typeFilter(query.fileType);
  const separated = query.mode === "content" && query.before + query.after > 0;
  const include = globs.filter((glob) => !glob.startsWith("!"));
  const search = createLineSearch(query, mostMs, signal);
  try {
    return await wantedPaths(include, signal, async (wanted) => {
      const lines: string[] = [];
      for await (const path of isFolder ? filesBelow(folder, walk) : [basename(query.path)]) {
        signal.throwIfAborted();
        if (!ofType(path) || !(await wanted(path)) || (await isLeftOut(path))) continue;
        const bytes = await attempt(walk, () => searchableBytes(join(folder, path), largestFile), undefined);
        const found = bytes === undefined ? [] : await search.find(bytes);
        if (found.length === 0) continue;
        if (separated && lines.length > 0) lines.push("--");
        for (const line of shownLines(path, found, query)) lines.push(line);
        if (lines.length > query.limit) break;
      }
      return resultOf(lines, query.limit, walk);
    });
  } finally {
    await search.close();
  }
}

export async function walkGlob(query: GlobQuery, signal: AbortSignal): Promise<SearchResult> {
  const walk: Walk = { signal, pace: createPace(signal), isIncomplete: false };
  const isLeftOut = leavingOut(query.exclude, walk.pace);
  const include = query.include.map((pattern) => relativeTo(query.folder, pattern));
  return wantedPaths(include, signal, async (wanted) => {
    const lines: string[] = [];
    for await (const path of filesBelow(query.folder, walk)) {
      if (!(await wanted(path)) || (await isLeftOut(path))) continue;
      lines.push(`./${shownName(path)}`);
      if (lines.length > query.limit) break;
    }
    return resultOf(lines, query.limit, walk);
  });
}
