import { type Dirent, existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { GlobQuery, GrepQuery, SearchResult } from "../core/ports.ts";
import { textStart } from "../core/text-cut.ts";
import { compileGlob, normaliseGlob } from "./glob-pattern.ts";

/*
 * The search for machines without ripgrep. It promises less: patterns are JavaScript's, a hard one can take long, and an
 * abort is seen only between files; files above the size limit are passed over; of the ignore files only `.gitignore` is
 * read, up to the root of the repository; few file types are known.
 */

const largestFile = 10 * 1024 * 1024;
const longestLine = 2000;
const binarySample = 8192;

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

interface Rule {
  /** The folder of the `.gitignore`, absolute. */
  readonly base: string;
  readonly pattern: RegExp;
  readonly negated: boolean;
  readonly folderOnly: boolean;
}

function parseRule(line: string, base: string): readonly Rule[] {
  const text = line.replace(/\r$/, "").replace(/(?<!\\)\s+$/, "");
  if (text === "" || text.startsWith("#")) return [];
  const negated = text.startsWith("!");
  const body = negated ? text.slice(1) : text;
  const folderOnly = body.endsWith("/");
  try {
    return [{ base, pattern: compileGlob(folderOnly ? body.slice(0, -1) : body), negated, folderOnly }];
  } catch {
    return [];
  }
}

async function rulesOf(folder: string): Promise<readonly Rule[]> {
  const text = (await searchableText(join(folder, ".gitignore"))) ?? "";
  return text.split("\n").flatMap((line) => parseRule(line, folder));
}

/** Rules of the folders above, from the root of the repository down. Outside a repository there are none. */
async function inheritedRules(folder: string): Promise<readonly Rule[]> {
  const above: string[] = [];
  for (let at = folder; !existsSync(join(at, ".git")); at = dirname(at)) {
    if (at === dirname(at)) return [];
    above.unshift(dirname(at));
  }
  return (await Promise.all(above.map(rulesOf))).flat();
}

function isIgnored(path: string, isFolder: boolean, rules: readonly Rule[]): boolean {
  const last = rules.findLast(
    (rule) => (isFolder || !rule.folderOnly) && rule.pattern.test(path.slice(rule.base.length + 1)),
  );
  return last !== undefined && !last.negated;
}

async function* walk(folder: string, inherited: readonly Rule[], signal: AbortSignal): AsyncGenerator<string> {
  signal.throwIfAborted();
  const entries: Dirent[] = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const rules = [...inherited, ...(await rulesOf(folder))];
  entries.sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)));
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.name === ".git" || isIgnored(path, entry.isDirectory(), rules)) continue;
    if (entry.isDirectory()) yield* walk(path, rules, signal);
    else if (entry.isFile()) yield path;
  }
}

async function* filesBelow(folder: string, signal: AbortSignal): AsyncGenerator<string> {
  for await (const path of walk(folder, await inheritedRules(folder), signal)) yield path.slice(folder.length + 1);
}

/** The path and the folders that it is in. */
function withParents(path: string): readonly string[] {
  const names = path.split("/");
  return names.map((_, index) => names.slice(0, index + 1).join("/"));
}

function filter(include: readonly string[], exclude: readonly string[]): (path: string) => boolean {
  const wanted = include.map((glob) => compileGlob(normaliseGlob(glob)));
  const unwanted = exclude.map((glob) => compileGlob(glob.replace(/^(?:\.\/|!)+/, "").replace(/\/$/, "")));
  return (path) =>
    (wanted.length === 0 || wanted.some((pattern) => pattern.test(path))) &&
    !withParents(path).some((part) => unwanted.some((pattern) => pattern.test(part)));
}

function typeFilter(type: string | undefined): (path: string) => boolean {
  if (type === undefined) return () => true;
  const endings = Object.hasOwn(fileTypes, type) ? fileTypes[type] : undefined;
  if (endings === undefined) throw new Error(`unrecognized file type: ${type}`);
  return (path) => endings.some((ending) => path.endsWith(`.${ending}`));
}

/** The text of a file that can be searched; `undefined` for a large or binary one, and for a pipe, which may never end. */
async function searchableText(path: string): Promise<string | undefined> {
  try {
    const stats = await stat(path);
    if (!stats.isFile() || stats.size > largestFile) return undefined;
    const bytes = await readFile(path);
    return bytes.subarray(0, binarySample).includes(0) ? undefined : bytes.toString("utf8");
  } catch {
    return undefined;
  }
}

function expression(query: GrepQuery): RegExp {
  const source = query.fixedString ? query.pattern.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&") : query.pattern;
  return new RegExp(source, `g${query.caseInsensitive ? "i" : ""}${query.multiline ? "ms" : ""}`);
}

/** The numbers, from 0, of the lines that a match touches. */
function matchingLines(text: string, lines: readonly string[], pattern: RegExp, multiline: boolean): Set<number> {
  const found = new Set<number>();
  if (!multiline) {
    for (const [number, line] of lines.entries()) {
      pattern.lastIndex = 0;
      if (pattern.test(line)) found.add(number);
    }
    return found;
  }
  let number = 0;
  let at = 0;
  for (const match of text.matchAll(pattern)) {
    for (; at < match.index; at += 1) if (text[at] === "\n") number += 1;
    const height = match[0].replace(/\n$/, "").split("\n").length;
    for (let line = number; line < number + height; line += 1) found.add(line);
  }
  return found;
}

function shownLines(path: string, lines: readonly string[], found: ReadonlySet<number>, query: GrepQuery): string[] {
  const near = new Set<number>();
  for (const number of found) {
    const last = Math.min(number + query.after, lines.length - 1);
    for (let at = Math.max(0, number - query.before); at <= last; at += 1) near.add(at);
  }
  const shown: string[] = [];
  let previous: number | undefined;
  for (const number of [...near].sort((a, b) => a - b)) {
    if (previous !== undefined && number > previous + 1 && query.before + query.after > 0) shown.push("--");
    const mark = found.has(number) ? ":" : "-";
    const text = textStart(lines[number] ?? "", longestLine);
    shown.push(query.lineNumbers ? `./${path}${mark}${number + 1}${mark}${text}` : `./${path}${mark}${text}`);
    previous = number;
  }
  return shown;
}

async function grepFile(folder: string, path: string, query: GrepQuery, pattern: RegExp): Promise<readonly string[]> {
  const text = await searchableText(join(folder, path));
  if (text === undefined) return [];
  const lines = text.split("\n");
  if (text.endsWith("\n")) lines.pop();
  const found = matchingLines(text, lines, pattern, query.multiline);
  if (found.size === 0) return [];
  return query.mode === "file_paths" ? [`./${path}`] : shownLines(path, lines, found, query);
}

export async function walkGrep(query: GrepQuery, signal: AbortSignal): Promise<SearchResult> {
  const pattern = expression(query);
  const stats = await stat(query.path);
  const isFolder = stats.isDirectory();
  if (!isFolder && !stats.isFile()) throw new Error(`${query.path} is neither a file nor a folder.`);
  const folder = isFolder ? query.path : dirname(query.path);
  const include = query.globs.filter((glob) => !glob.startsWith("!"));
  const exclude = query.globs.filter((glob) => glob.startsWith("!")).map((glob) => glob.slice(1));
  const wanted = isFolder ? filter(include, exclude) : () => true;
  const ofType = typeFilter(query.fileType);
  const lines: string[] = [];
  const separated = query.mode === "content" && query.before + query.after > 0;
  for await (const path of isFolder ? filesBelow(folder, signal) : [basename(query.path)]) {
    signal.throwIfAborted();
    if (!wanted(path) || !ofType(path)) continue;
    const found = await grepFile(folder, path, query, pattern);
    if (separated && lines.length > 0 && found.length > 0) lines.push("--");
    for (const line of found) lines.push(line);
    if (lines.length > query.limit) break;
  }
  return { lines: lines.slice(0, query.limit), truncated: lines.length > query.limit };
}

export async function walkGlob(query: GlobQuery, signal: AbortSignal): Promise<SearchResult> {
  const wanted = filter(query.include, query.exclude);
  const lines: string[] = [];
  for await (const path of filesBelow(query.folder, signal)) {
    if (!wanted(path)) continue;
    if (lines.length >= query.limit) return { lines, truncated: true };
    lines.push(`./${path}`);
  }
  return { lines, truncated: false };
}
