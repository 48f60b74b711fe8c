import { posix } from "node:path";
import type { DecisionContext } from "../../engine/permission.ts";
import { withoutTrailingSlashes } from "../../text/text-cut.ts";
import { catastropheOf } from "./path-scope.ts";
import { isProtected, type KnownPlaces } from "./protected-paths.ts";

type Places = KnownPlaces & Pick<DecisionContext, "foldsCase">;

const longestText = 2 * 1024 * 1024;
const deleting =
  /(?:^|[^\w.-])(?:rm|rmdir|unlink|shred|mv|truncate|dd|wipefs|chown|chmod|rsync|clean|rimraf|remove_directory|delete|delete-directory|destroy|wipe|erase|srm|trash(?:-put)?|gvfs-trash|u?mount|fdupes|jdupes|rdfind)(?![\w-])|\s-delete\b|--remove-files|--delete\b|--clear\b|--(?:basetemp|clearCache|emptyOutDir)\b/;
/** Programs that may replace anything in the folder they work in. */
const replacingAll =
  /(?:^|[^\w.-])(?:tar|bsdtar|unzip|cpio|unrar|7z[az]?)(?![\w-])|--work-tree\b|--git-dir\b|\bGIT_(?:WORK_TREE|DIR)=|\bworktree (?:remove|move)\b/;
/** The same in code: `fs.rmSync(…)`, `shutil.rmtree(…)`, `os.RemoveAll(…)`. */
const deletingCall = /\b(?:rm|rmdir|unlink|remove|delete)\w*\s*\(/i;
const writingCall = /\b(?:write|append|copy|create|rename|symlink|link|move|replace|open|save|dump)\w*\s*\(/i;
const writing = />|(?:^|[^\w.-])(?:cp|tee|install|ln|sed|touch|scp|tar|unzip|curl|wget)(?![\w-])/;

export interface Suspect {
  readonly rule: "protected-place" | "catastrophic";
  readonly why: string;
}

/**
 * A protected place, or a whole home or workspace, named anywhere in a text. For commands that are not understood:
 * their paths may pass through variables, substitutions and input, so any named path may be used.
 */
export function suspectIn(text: string, places: Places): Suspect | undefined {
  const { cwd, home } = places;
  if (deletesComputed(text)) {
    return { rule: "catastrophic", why: "may delete a whole folder, and only the program knows which" };
  }
  const deletes = mayDelete(text);
  const use = deletes || writing.test(text) || writingCall.test(text) ? "write" : "read";
  const resolved = withKnownValues(text.slice(0, longestText), places);
  const mentionsHome = resolved !== text && resolved.includes(home);
  const words = new Set(resolved.split(/[\s'"`;|&<>(){}=,:]+/));
  if (deletes && (reachesHidden(text, words) || deletesNestedRepositories(text))) words.add(".git");
  if (deletes && goesHome.test(text)) words.add(home);
  if (removesUser.test(text)) return { rule: "catastrophic", why: "may delete a user with their home" };
  if (deletesHere(text)) words.add(cwd);
  if (/\/proc\b/.test(text) && /\benviron\b/.test(text)) words.add("/proc/self/environ");
  if (/\bsed\b/.test(text)) for (const file of sedFiles(resolved)) words.add(file);
  if (deletes && /\bdirname\b/.test(text)) for (const word of [...words]) words.add(posix.dirname(word));
  for (const word of words) {
    for (const { path, isGuess } of pathsOf(word, { cwd, home, mentionsHome })) {
      if (isProtected(path, places, isGuess ? "read" : use)) {
        return { rule: "protected-place", why: `names ${path}, a protected place, and is not fully understood` };
      }
      const catastrophe = deletes && word !== "." ? catastropheOf(path, places) : undefined;
      if (catastrophe !== undefined) {
        return { rule: "catastrophic", why: `may delete, move or replace ${path}, ${catastrophe}` };
      }
    }
  }
  return undefined;
}

/** Whether a text names something that deletes. */
export function mayDelete(text: string): boolean {
  return (
    deleting.test(text) || deletingCall.test(text) || replacingAll.test(text) || partsOf(text).some(replacesFolders)
  );
}

/** A command that prints the working directory, and whose output is used. Expects single spaces. */
const printsFolder =
  /(?<=\$\( ?|` ?)(?:command |builtin |\/(?:usr\/)?bin\/)?(?:pwd|(?:realpath|readlink)(?: -\w{1,8}){0,3} \.|git rev-parse --show-toplevel)(?=[ )`])|(?:pwd|git rev-parse --show-toplevel)(?: -[LP])? ?(?=\|)/g;

/** Programs that replace each file with another. */
const compressor = /^(?:gzip|gunzip|bzip2|bunzip2|xz|unxz|lzma|zstd|unzstd|lz4|pigz|compress)$/;
const deletingAll =
  /(?:^|[^\w.-])(?:rm|rmdir|shred|rimraf|remove_directory|srm|wipe|trash(?:-put)?|gvfs-trash|worktree (?:remove|move))\b|--target-dir\b|--remove-source-files\b|--clear(?![\w-])/;
/** Options of test runners whose folder is emptied first. */
const emptiesHere = /--basetemp[= ]["']?\.\/?["']?(?:\s|$)/;
const removesUser = /(?:^|[^\w.-])(?:userdel|deluser)\s/;
/** `chdir` without an argument goes to the home in Perl and Ruby. */
const goesHome = /\bchdir\s?(?:;|\(\s?\))/;

const deletingCallHere =
  /\b(?:rm|rmdir|unlink|remove|delete)\w{0,20}\((?:["']\.\/?["']|os\.getcwd\(\)|process\.cwd\(\)|Path\(\))/i;

/** A call that deletes a folder with its content. */
const treeCall =
  /\b(?:rmtree|remove_tree|rm_rf?|rmSync|removeSync|RemoveAll|remove_dir_all|emptyDir(?:Sync)?|remove_entry(?:_secure)?|deleteDirectory|delete-directory|rimraf)(?: ?\( ?| (?=["'`$@%(]))/g;
/** A cheap first check that all of these pass. */
const deletingWord = /rm|remove|delete|rimraf|emptydir/i;
/** The same in Ruby, whose calls need no brackets, and in Node with an option. */
const rubyCall = /\b(?:rm_rf?|remove_dir|remove_entry(?:_secure)?)(?: ?\( ?| (?=\w))/g;
const nodeCall = /\b(?:rm|rmdir|rmdirSync) ?\( ?/g;
const isRecursive = /\brecursive["']? ?:/;
/** Such a call under another name. */
const renamedCall = /\b(?:rmtree|remove_tree) as\b|= ?[\w.]*\b(?:rmtree|remove_tree|rmSync)\b(?! ?\()/;
const computedCall = /\w ?\[[^\]]{1,100}\] ?\(/;
/** A list of words for a program, one of them computed. */
const listedWords = /["']rm["'] ?, ?\[? ?(?=(?:["']-\w*["'] ?, ?)*["']-\w*[rR])(?:["']-{1,2}\w*["'] ?, ?)+[^"'\s\]]/;
/** The text after such a call, if the folder is a literal. */
const writtenOut = /^\(?["'][^"'$#{}\\]*["'] ?(?:[,;)']|$)/;
/** A quoted command to which a program appends the path to delete. */
const appendedFolder =
  /(?:[(=,]|\b(?:system|exec|popen)) ?(["'])(?:(?!\1).){0,200}\brm (?:-\w+ )+\1 ?(?:[.+,%]|[A-Za-z_$])/;

/** Whether a program in the text deletes a folder whose path it computes. */
function deletesComputed(text: string): boolean {
  if (!deletingWord.test(text)) return false;
  const plain = text.slice(0, longestText).replace(/[ \t]+/g, " ");
  if (appendedFolder.test(plain) || renamedCall.test(plain) || listedWords.test(plain)) return true;
  const isNode = isRecursive.test(plain);
  if (isNode && computedCall.test(plain)) return true;
  return [treeCall, rubyCall, ...(isNode ? [nodeCall] : [])].some((pattern) =>
    Array.from(plain.matchAll(pattern)).some(
      ({ 0: call, index }) => !writtenOut.test(plain.slice(index + call.length, index + call.length + 1_000)),
    ),
  );
}

/** `git clean` with two forces also deletes the repositories that lie in the working tree. */
function deletesNestedRepositories(text: string): boolean {
  return partsOf(text).some((part) => {
    if (!/\bgit\b.*\bclean\b/.test(part)) return false;
    const short = (part.match(/ -\w+/g) ?? []).join("").split("f").length - 1;
    return short + (part.match(/ --force\b/g)?.length ?? 0) > 1;
  });
}

const partsOf = (text: string): readonly string[] => text.split(/[|;&\n(){}`]/);

function replacesFolders(part: string): boolean {
  const words = part.split(/\s+/);
  return words.some((word) => compressor.test(word)) && words.some((word) => /^-\w*r/.test(word));
}

/** Whether a deleting part of the command names the working directory itself. */
function deletesHere(text: string): boolean {
  if (deletingCallHere.test(text) || emptiesHere.test(text)) return true;
  return partsOf(text).some((part) => {
    if (/^\s{0,9}(?:find|fd|git)\b/.test(part) && !/\bworktree\b/.test(part)) return false;
    return /\s["']?\.\/?["']?(?:\s|$)/.test(part) && (deletingAll.test(part) || replacesFolders(part));
  });
}

/** Files named in a sed script: they follow a command's letter without a space. */
function sedFiles(text: string): readonly string[] {
  return Array.from(text.matchAll(/(?:[rRwW]| -i)([~/.][^\s;}'"]*)/g), ([, file = ""]) => file);
}

/** Replaces the usual spellings of the home and the working directory with their paths. */
function withKnownValues(text: string, { cwd, home }: Places): string {
  return (
    text
      .replace(/[ \t]+/g, " ")
      // Cutting or replacing a part can leave the folder itself, or one above it.
      .replace(/\$\{HOME[%#:/^,@][^}]*\}/g, `$& ${home} `)
      .replace(/\$\{HOME\}|\$HOME\b/g, home)
      .replace(
        /process\.env(?:\.HOME|\[["']HOME["']\])|\bhomedir\(\)|\bPath\.home\(\)|\bUserHomeDir\(\)|\bDir\.home\b/g,
        ` ${home}`,
      )
      .replace(/(?:environ|ENV|getenv|Getenv)\W{1,2}["']HOME["']\W/g, ` ${home}`)
      .replace(/\$\{(?:OLD)?PWD[%#:/^,@][^}]*\}/g, `$& ${cwd} `)
      .replace(/\$\{(?:OLD)?PWD\}|\$(?:OLD)?PWD\b/g, cwd)
      .replace(printsFolder, ` ${cwd} `)
      .replace(/git(?: -[cC] ?\S+)* rev-parse --(?:absolute-git-dir|git-dir|git-common-dir)/g, `$& ${cwd}/.git `)
      .replace(/git(?: -[cC] ?\S+)* rev-parse --git-path ["']?([\w./-]+)/g, `$& ${cwd}/.git/$1 `)
      .replace(/(^|[\s'"=:({,;|&])~[\w-]*/g, (_, before: string) => `${before}${home}`)
  );
}

/** The flags with which these list hidden files. */
const hiddenFlags: Readonly<Record<string, RegExp>> = {
  rg: /^(?:--hidden|--unrestricted|-\w*\.\w*|-(?:[^\Wu]|u(?!u))*uu\w*)$/,
  fd: /^(?:--hidden|--unrestricted|-[^\WHu]*[Hu]\w*)$/,
  fdfind: /^(?:--hidden|--unrestricted|-[^\WHu]*[Hu]\w*)$/,
  du: /^(?:--all|-[^\Wa]*a\w*)$/,
  tree: /^-[^\Wa]*a\w*$/,
};

/** Whether a part lists all files of the working directory, or works on them with a program that it starts. */
function listsEverything(part: string): boolean {
  const [program = "", ...words] = part.split(/\s+/).filter((word) => word !== "");
  const started = words.findIndex((word) => /^(?:-[xX]|--exec(?:-batch)?)$/.test(word));
  const own = started < 0 ? words : words.slice(0, started);
  if (!own.some((word) => hiddenFlags[program]?.test(word) === true)) return false;
  const operands = own.filter((word) => !word.startsWith("-"));
  const takesPattern = program.startsWith("fd") || (program === "rg" && !own.includes("--files"));
  const folders = takesPattern ? operands.slice(1) : operands;
  return folders.length === 0 || folders.some((folder) => /^["']?\.\/?["']?$/.test(folder));
}

const takesNames = /^(?:xargs|while|parallel)\b/;

/** Whether dotfiles are among the files deleted. */
function reachesHidden(text: string, words: ReadonlySet<string>): boolean {
  const parts = text.split(/[|;&]/).map((part) => part.trimStart());
  const listsHidden = parts.some((part, at) => {
    const isUsed = parts.slice(at + 1).some((later) => takesNames.test(later)) || /\s(?:-[xX]|--exec)/.test(part);
    return isUsed && (/^ls\s(?:.*\s)?-\w*[aA]/.test(part) || listsEverything(part));
  });
  if (listsHidden || /\b(?:dotglob|nocaseglob|extglob|globstar)\b/.test(text)) return true;
  return [...words].some((word) => /^(?:\.\/)?\.(?:g(?:it?)?)?[*?[]/.test(word));
}

/** The paths that a word may mean. `isGuess`: only part of the word is known. */
function pathsOf(
  word: string,
  { cwd, home, mentionsHome }: { readonly cwd: string; readonly home: string; readonly mentionsHome: boolean },
): readonly { readonly path: string; readonly isGuess: boolean }[] {
  const found: { path: string; isGuess: boolean }[] = [];
  if (word.startsWith("/")) found.push({ path: posix.normalize(word), isGuess: false });
  else if (/^\.{1,2}(\/|$)|^\.\w|\/\.\.(?:\/|$)/.test(word))
    found.push({ path: posix.normalize(`${cwd}/${word}`), isGuess: false });
  const behind =
    /^(?:\$[\w{}?@-]*)?(\/\.\w.*)$/.exec(word)?.[1] ?? (mentionsHome && /^\.\w/.test(word) ? `/${word}` : "");
  // A variable or pattern may expand to nothing, or to everything in the folder.
  const varies = /^(?:\/|\.\.\/)/.test(word) ? word.search(/[$*?[]/) : -1;
  if (varies > 0)
    found.push({ path: posix.resolve(cwd, word.slice(0, word.lastIndexOf("/", varies) + 1)), isGuess: true });
  const login = /(?:^|\/)(\.(?:ssh|aws|gnupg|kube)\/.*)$/.exec(word)?.[1];
  if (login !== undefined) found.push({ path: `${home}/${login}`, isGuess: true });
  if (behind !== "") {
    const isGuess = !(mentionsHome && word.startsWith("/"));
    found.push({ path: posix.normalize(home + behind), isGuess });
  }
  return found.map(({ path, isGuess }) => ({ path: withoutTrailingSlashes(path) || "/", isGuess }));
}
