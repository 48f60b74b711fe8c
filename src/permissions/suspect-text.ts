import { posix } from "node:path";
import type { DecisionContext } from "../core/permission.ts";
import { withoutTrailingSlashes } from "../core/trailing.ts";
import { liesIn } from "./path-names.ts";
import { isProtected, type KnownPlaces } from "./protected-paths.ts";

type Places = KnownPlaces & Pick<DecisionContext, "foldsCase">;

const longestText = 2 * 1024 * 1024;
const deleting =
  /(?:^|[^\w.-])(?:rm|rmdir|unlink|shred|mv|truncate|dd|wipefs|chown|chmod|rsync|clean|rimraf)(?![\w-])|\s-delete\b|--remove-files|--delete\b|--clear\b/;
/** The same in programs: `fs.rmSync(…)`, `shutil.rmtree(…)`, `os.RemoveAll(…)`. */
const deletingCall = /\b(?:rm|rmdir|unlink|remove|delete)\w*\s*\(/i;
const writingCall = /\b(?:write|append|copy|create|rename|symlink|link|move|replace|open|save|dump)\w*\s*\(/i;
const writing = />|(?:^|[^\w.-])(?:cp|tee|install|ln|sed|touch|scp|tar|unzip|curl|wget)(?![\w-])/;

export interface Suspect {
  readonly rule: "protected-place" | "catastrophic";
  readonly why: string;
}

/**
 * A protected place, or all of a home or the workspace, that a text names somewhere. For commands that are not understood,
 * where a path may pass through variables, substitutions and input before it is used: what is named there may be meant.
 */
export function suspectIn(text: string, places: Places): Suspect | undefined {
  const { cwd, home, loginHome = home, foldsCase } = places;
  const deletes = deleting.test(text) || deletingCall.test(text);
  const use = deletes || writing.test(text) || writingCall.test(text) ? "write" : "read";
  const resolved = withKnownValues(text.slice(0, longestText), places);
  const mentionsHome = resolved !== text && resolved.includes(home);
  const words = new Set(resolved.split(/[\s'"`;|&<>(){}=,:]+/));
  if (deletes && reachesHidden(text, words)) words.add(".git");
  for (const word of words) {
    for (const { path, isGuess } of pathsOf(word, { cwd, home, mentionsHome })) {
      if (isProtected(path, places, isGuess ? "read" : use)) {
        return { rule: "protected-place", why: `names ${path}, a protected place, and is not understood` };
      }
      const isWhole = [home, loginHome, cwd].some((folder) => liesIn(folder, path, foldsCase));
      if (deletes && isWhole && word !== ".") {
        return { rule: "catastrophic", why: `may delete, move or replace ${path}, and is not understood` };
      }
    }
  }
  return undefined;
}

/** The ways in which people write the home and the working directory. */
function withKnownValues(text: string, { cwd, home }: Places): string {
  return text
    .replace(/\$\{?HOME\b[^}\s/'"]*\}?/g, home)
    .replace(
      /process\.env(?:\.HOME|\[["']HOME["']\])|\bhomedir\(\)|\bPath\.home\(\)|\bUserHomeDir\(\)|\bDir\.home\b/g,
      home,
    )
    .replace(/(?:environ|ENV|getenv|Getenv)\W{1,2}["']HOME["']\W/g, home)
    .replace(/\$\{?(?:OLD)?PWD\b[^}\s/'"]*\}?/g, cwd)
    .replace(/\$\(\s*pwd[^)]*\)|`\s*pwd[^`]*`|\$\(\s*git rev-parse --show-toplevel\s*\)/g, cwd)
    .replace(/git rev-parse --(?:absolute-)?git-dir/g, `$& ${cwd}/.git `)
    .replace(/(^|[\s'"=:({,;|&])~[\w-]*/g, (_, before: string) => `${before}${home}`);
}

/** Names that begin with a dot are among what is deleted. */
function reachesHidden(text: string, words: ReadonlySet<string>): boolean {
  const parts = text.split(/[|;&]/).map((part) => part.trimStart());
  const listsHidden = parts.some(
    (part, at) => /^ls\s(?:.*\s)?-\w*[aA]/.test(part) && parts[at + 1]?.startsWith("xargs"),
  );
  if (listsHidden || /\bdotglob\b/.test(text)) return true;
  return [...words].some((word) => /^(?:\.\/)?\.(?:g(?:it?)?)?[*?[]/.test(word));
}

/** Where a word may lead. `isGuess`: in the home, by the part of it that is known. */
function pathsOf(
  word: string,
  { cwd, home, mentionsHome }: { readonly cwd: string; readonly home: string; readonly mentionsHome: boolean },
): readonly { readonly path: string; readonly isGuess: boolean }[] {
  const found: { path: string; isGuess: boolean }[] = [];
  if (word.startsWith("/")) found.push({ path: posix.normalize(word), isGuess: false });
  else if (/^\.{1,2}(\/|$)|^\.\w/.test(word)) found.push({ path: posix.normalize(`${cwd}/${word}`), isGuess: false });
  const behind =
    /^(?:\$[\w{}?@-]*)?(\/\.\w.*)$/.exec(word)?.[1] ?? (mentionsHome && /^\.\w/.test(word) ? `/${word}` : "");
  // What follows a variable or a pattern may be nothing.
  const before = /^(\/[^$*?[]*)\/[$*?[]/.exec(word)?.[1];
  if (before !== undefined) found.push({ path: before, isGuess: true });
  if (behind !== "") {
    const isGuess = !(mentionsHome && word.startsWith("/"));
    found.push({ path: posix.normalize(home + behind), isGuess });
  }
  return found.map(({ path, isGuess }) => ({ path: withoutTrailingSlashes(path) || "/", isGuess }));
}
