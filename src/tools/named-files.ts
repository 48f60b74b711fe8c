import type { Access } from "../core/permission.ts";
import type { ToolScope } from "../core/tool.ts";

/** Commands that are judged by their words have few of them; others are not harmless anyway. */
const mostWords = 200;
const recursiveFlag = /^(?:-[A-Za-z]*[rR]|--recursive)/;
/** Flags with which the first word of grep is surely its pattern. */
const grepFlag =
  /^(?:-[abcEFGhHiIlLnoPqrRsvwxyz]+|-[ABCm]\d*|--(?:count|recursive|ignore-case|line-number|files-with-matches|word-regexp))$/;
/** Links in `/proc` lead somewhere else for every process that follows them. */
const processLink = /^\/proc\/[^/]+\/(?:task\/[^/]+\/)?(?:cwd|root|exe|fd|map_files)$/;

/** What the words of a command may name, links resolved: a harmless program must not read what Read may not. */
export async function namedFiles(command: string, scope: ToolScope): Promise<readonly Access[]> {
  const [program, ...all] = command.trim().split(/\s+/);
  const words = all.slice(0, mostWords);
  const recursive = words.some((word) => recursiveFlag.test(word));
  const names = pathWords(program === "grep", recursive, words);
  const paths = (await Promise.all(names.map((name) => resolved(name, scope)))).flat();
  return paths.map((path) => ({ type: "read", path, ...(recursive ? { recursive } : {}) }));
}

/** A number may be a flag's value: it is looked up, but the working directory is then not taken for left out. */
function pathWords(isGrep: boolean, recursive: boolean, words: readonly string[]): readonly string[] {
  const names = words.filter((word) => !word.startsWith("-"));
  const isNumber = (name: string): boolean => /^\d+$/.test(name);
  const hasPath = names.filter((name) => !isNumber(name)).length > (isGrep ? 1 : 0);
  const flags = words.filter((word) => word.startsWith("-"));
  const beginsWithPattern = isGrep && flags.every((flag) => grepFlag.test(flag)) && !isNumber(names[0] ?? "0");
  return [...(beginsWithPattern ? names.slice(1) : names), ...(recursive && !hasPath ? ["."] : [])];
}

async function resolved(word: string, { cwd, host }: ToolScope): Promise<readonly string[]> {
  const written = belowProc(word, cwd);
  if (written?.isLink === true) return [written.path];
  const canonical = await host.files.canonical(word, cwd).catch(() => undefined);
  return [...new Set([written?.path, canonical])].filter((path) => path !== undefined);
}

/**
 * A path below `/proc` as it is written, because the command would follow its own links there and not ours. `undefined`
 * for other paths.
 */
function belowProc(word: string, cwd: string): { readonly path: string; readonly isLink: boolean } | undefined {
  const names = (word.startsWith("/") ? word : `${cwd}/${word}`).split("/");
  const walked: string[] = [];
  for (const [index, name] of names.entries()) {
    if (name === "..") walked.pop();
    else if (name !== "" && name !== ".") walked.push(name);
    const path = `/${walked.join("/")}`;
    // What follows is left as it is: from here on, `..` is the parent of something unknown.
    if (processLink.test(path)) return { path: [path, ...names.slice(index + 1)].join("/"), isLink: true };
  }
  return walked[0] === "proc" ? { path: `/${walked.join("/")}`, isLink: false } : undefined;
}
