import type { Dirent } from "node:fs";
import { lstat, opendir, readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isBuildFolder } from "../../engine/build-folders.ts";
import { isMissing } from "../../text/system-errors.ts";
import { liesBelow, sortedUnique, whereItLeads } from "./where-it-leads.ts";

const mostEntries = 20_000;
/** A name that a program splitting its input would read as several words, or as a flag. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for them
const oddName = /^-|[\s'"`\\\u0000-\u001f\u007f-\u009f]/u;

/** Whether a name or path is one plain word and not a flag, for every program that splits lines. */
export function isPlainName(name: string): boolean {
  return !oddName.test(name) && !name.includes("\uFFFD");
}

/**
 * Targets outside a folder of the links below it. `undefined` if the folder is too large, or with `plainNames` if a name is
 * not one plain word. Rejects if something cannot be read.
 */
export async function linksBelow(folder: string, plainNames: boolean): Promise<readonly string[] | undefined> {
  const outside = new Set<string>();
  const isWalked = await walkBelow(folder, async (entry, path, root) => {
    if (plainNames && !isPlainName(entry.name)) return false;
    if (!entry.isSymbolicLink()) return true;
    for (const target of await whereItLeads(path)) if (!liesBelow(target, root)) outside.add(target);
    return true;
  });
  return isWalked ? sortedUnique(outside) : undefined;
}

/**
 * `.git` and `.tinman` in or below folders, with the limits above for all together. With `isSelected` (gets paths below
 * the folder, with a leading slash), only selected ones, or those containing or inside selected paths.
 */
export async function repositoriesIn(
  folders: readonly string[],
  isSelected?: (path: string) => boolean,
): Promise<readonly string[] | undefined> {
  const isRepository = (name: string): boolean => /^\.(git|tinman)$/i.test(name);
  const found = new Set<string>();
  const left = { entries: mostEntries };
  for (const folder of folders) {
    const [root = folder] = await whereItLeads(folder);
    if (isSelected === undefined && isRepository(basename(root))) found.add(root);
    const isWalked = await walkBelow(
      folder,
      async (_, path) => {
        const parts = path.slice(root.length + 1).split("/");
        const at = parts.findIndex(isRepository);
        if (at === -1 || (isSelected === undefined && at < parts.length - 1)) return true;
        const paths = parts.map((_, index) => `/${parts.slice(0, index + 1).join("/")}`);
        if (isSelected === undefined || paths.some(isSelected)) found.add(root + paths[at]);
        return true;
      },
      left,
    );
    if (!isWalked) return found.size > 0 ? sortedUnique(found) : undefined;
  }
  return sortedUnique(found);
}

/** Files in a hooks folder that git runs. */
const hookName =
  /^(applypatch-msg|pre-applypatch|post-applypatch|pre-commit|pre-merge-commit|prepare-commit-msg|commit-msg|post-commit|pre-rebase|post-checkout|post-merge|pre-push|pre-receive|update|proc-receive|post-receive|post-update|reference-transaction|push-to-checkout|pre-auto-gc|post-rewrite|sendemail-validate|fsmonitor-watchman|p4-\w+|p4-\w+-\w+|post-index-change)$/i;

/** Folders in or below a folder with a file that git could run as a hook. Same limits as above. */
export async function hooksBelow(folder: string): Promise<readonly string[] | undefined> {
  const found: string[] = [];
  const isWalked = await walkBelow(folder, async (entry, path) => {
    if (!entry.isDirectory() && hookName.test(entry.name)) found.push(dirname(path));
    return true;
  });
  return isWalked ? sortedUnique(found) : undefined;
}

/** False if there are too many entries, or once `visit` returns false. */
async function walkBelow(
  folder: string,
  visit: (entry: Dirent, path: string, root: string) => Promise<boolean>,
  left = { entries: mostEntries },
): Promise<boolean> {
  const [root] = await whereItLeads(folder);
  // Links in `/proc` differ for every process.
  if (root === undefined || root === "/" || liesBelow(root, "/proc")) return false;
  const folders = [root];
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    try {
      for await (const entry of await opendir(at, { bufferSize: 512 })) {
        left.entries -= 1;
        if (left.entries < 0 || entry.name.includes("\uFFFD")) return false;
        const path = join(at, entry.name);
        if (entry.isDirectory()) folders.push(path);
        if (!(await visit(entry, path, root))) return false;
      }
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }
  return true;
}

const mostOutputs = 5_000;
const deepestOutput = 3;

/**
 * Targets of links in place of build folders, in a folder and a few levels below. Skips the content of build folders, and in
 * very large projects checks only a part.
 */
export async function outputLinks(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  let level = [folder];
  let entries = 0;
  for (let depth = 0; depth <= deepestOutput && level.length > 0; depth += 1) {
    const next: string[] = [];
    for (const at of level) {
      const inside = await readdir(at, { withFileTypes: true }).catch(() => []);
      entries += inside.length;
      for (const entry of inside) {
        const path = join(at, entry.name);
        if (entry.isSymbolicLink() && isBuildFolder(entry.name)) found.push(...(await whereItLeads(path)));
        if (entry.isDirectory() && entry.name !== ".git" && !isBuildFolder(entry.name)) next.push(path);
      }
      if (entries > mostOutputs) return sortedUnique(found);
    }
    level = next;
  }
  return sortedUnique(found);
}

const ignoreFiles = [".ignore", ".rgignore", ".gitignore"];

/** Targets of links in place of ignore files, in a folder and above it. Programs print lines of such files. */
export async function ignoreLinks(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (let at = folder; ; at = dirname(at)) {
    for (const path of ignoreFiles.map((name) => join(at, name))) {
      const stats = await lstat(path).catch(() => undefined);
      if (stats?.isSymbolicLink() === true) found.push(...(await whereItLeads(path)));
    }
    if (at === dirname(at)) return sortedUnique(found);
  }
}
