import { existsSync, statSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { capture } from "./capture.ts";
import { findOnPath } from "./executables.ts";

const limitMs = 2000;
const mostStatusLines = 50;
const mostStatusBytes = 4096;
const mostCommits = 5;
const longestSubject = 200;
const largestFile = 256 * 1024;

interface Repository {
  readonly root: string;
  /** The folder with `HEAD`. */
  readonly folder: string;
  /** The folder with `config`: another one in a linked working tree. */
  readonly common: string;
}

/** A file of git's; `undefined` when it is missing, no regular file (reading a pipe would not end) or far too large. */
async function readSmall(path: string): Promise<string | undefined> {
  try {
    const stats = await stat(path);
    return stats.isFile() && stats.size <= largestFile ? await readFile(path, "utf8") : undefined;
  } catch {
    return undefined;
  }
}

async function readLine(path: string): Promise<string | undefined> {
  return (await readSmall(path))?.split("\n")[0]?.trim();
}

async function gitFolder(dotGit: string): Promise<string | undefined> {
  const stats = statSync(dotGit, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  if (stats.isDirectory()) return dotGit;
  const target = stats.isFile() ? /^gitdir: (.+)$/.exec((await readLine(dotGit)) ?? "")?.[1] : undefined;
  return target === undefined ? undefined : resolve(dirname(dotGit), target);
}

/** Found by looking, without starting git. */
async function findRepository(cwd: string): Promise<Repository | undefined> {
  if (!isAbsolute(cwd)) return undefined;
  for (let root = cwd; ; root = dirname(root)) {
    const folder = await gitFolder(join(root, ".git"));
    if (folder !== undefined) {
      const common = await readLine(join(folder, "commondir"));
      return { root, folder, common: common === undefined ? folder : resolve(folder, common) };
    }
    if (root === dirname(root)) return undefined;
  }
}

/** Branch, or the start of the commit when there is none. */
async function branchOf(repository: Repository): Promise<string | undefined> {
  const head = await readLine(join(repository.folder, "HEAD"));
  const branch = /^ref: refs\/heads\/(.+)$/.exec(head ?? "")?.[1];
  if (branch !== undefined) return clean(branch);
  return head !== undefined && /^[0-9a-f]{40,64}$/.test(head) ? `none (at commit ${head.slice(0, 10)})` : undefined;
}

const programSections = /\[\s*(filter|includeif|include|diff|merge|gpg|credential|protocol|trailer)\b/i;
const programKeys =
  /\b(sshcommand|gitproxy|askpass|pager|editor|uploadpack|receivepack|showsignature|textconv|external|driver|program|command|cmd|helper|process|clean|smudge|alternaterefscommand)\s*=/i;
const fsmonitorValues = /\bfsmonitor\s*=\s*(\S*)/gi;

/** Whether a repository's own settings could make git start programs of its choice. Says yes rather than no. */
export function configRunsPrograms(config: string): boolean {
  if (programSections.test(config) || programKeys.test(config)) return true;
  return Array.from(config.matchAll(fsmonitorValues)).some(
    ([, value = ""]) => !/^(true|false|yes|no|on|off|0|1|)$/i.test(value),
  );
}

async function isTrusted(repository: Repository): Promise<boolean> {
  const paths = [join(repository.common, "config"), join(repository.folder, "config.worktree")];
  const texts = await Promise.all(paths.filter((path) => existsSync(path)).map(readSmall));
  return texts.every((text) => text !== undefined && !configRunsPrograms(text));
}

/** Nothing that a file name or a commit says may look like more than one line of ours. */
function clean(line: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  return line.replace(/[\u0000-\u001f\u007f\u0080-\u009f]/g, " ").slice(0, longestSubject);
}

/** Where git looks is decided by what we found, not by variables that some outer git left behind. */
function gitEnvironment(root: string): Record<string, string | undefined> {
  const kept = new Set(["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"]);
  const inherited = Object.keys(process.env).filter((name) => name.startsWith("GIT_") && !kept.has(name));
  return {
    ...Object.fromEntries(inherited.map((name) => [name, undefined])),
    GIT_CEILING_DIRECTORIES: dirname(root),
    // A missing object must not be fetched: that would start what the repository names.
    GIT_NO_LAZY_FETCH: "1",
    GIT_ALLOW_PROTOCOL: "none",
    GIT_TERMINAL_PROMPT: "0",
    LC_ALL: "C.UTF-8",
  };
}

const careful = [
  "--no-optional-locks",
  "--no-pager",
  ...[
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "log.showSignature=false",
    "safe.bareRepository=explicit",
    "core.quotePath=false",
  ].flatMap((setting) => ["-c", setting]),
];

async function git(program: string, root: string, args: readonly string[]): Promise<string[] | undefined> {
  const result = await capture(program, [...careful, ...args], {
    cwd: root,
    limitMs,
    maxBytes: mostStatusBytes * 4,
    environment: gitEnvironment(root),
  });
  if (result === undefined || (result.code !== 0 && !result.cut)) return undefined;
  const lines = result.text.split("\n");
  if (result.cut) lines.pop();
  return lines.filter((line) => line !== "").map(clean);
}

function bounded(lines: readonly string[]): readonly string[] {
  const shown: string[] = [];
  let bytes = 0;
  for (const line of lines) {
    bytes += Buffer.byteLength(line) + 1;
    if (shown.length === mostStatusLines || bytes > mostStatusBytes) return [...shown, "… and more"];
    shown.push(line);
  }
  return shown;
}

function statusLines(status: readonly string[] | undefined): readonly string[] {
  if (status === undefined) return [];
  return status.length === 0 ? ["Status: clean"] : ["Status:", ...bounded(status)];
}

/** Branch, short status and last commits, as text for the model; `undefined` outside a repository. Never rejects. */
export async function repositoryState(cwd: string): Promise<string | undefined> {
  try {
    const repository = await findRepository(cwd);
    const branch = repository && (await branchOf(repository));
    if (repository === undefined || branch === undefined) return undefined;
    const intro = ["Git repository at the start of this turn", `Root: ${repository.root}`, `Branch: ${branch}`];
    if (!(await isTrusted(repository))) {
      const why = "Status and commits are left out: the repository's own configuration makes git run programs.";
      return [...intro, why].join("\n");
    }
    const program = findOnPath("git");
    if (program === undefined) return intro.join("\n");
    const [status, log] = await Promise.all([
      git(program, repository.root, ["status", "--short", "--ignore-submodules=all", "--untracked-files=normal"]),
      git(program, repository.root, ["log", `--max-count=${mostCommits}`, "--no-color", "--format=%h %s"]),
    ]);
    const commits = log === undefined || log.length === 0 ? [] : ["Last commits:", ...log];
    return [...intro, ...statusLines(status), ...commits].join("\n");
  } catch {
    return undefined;
  }
}
