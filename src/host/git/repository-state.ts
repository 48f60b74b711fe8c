import { dirname, join } from "node:path";
import { textStart } from "../../text/text-cut.ts";
import { capture } from "../processes/capture.ts";
import { usersProgram } from "../processes/executables.ts";
import { type Repository, readSmall, repositoriesAround } from "./repository.ts";
import { isTrusted } from "./repository-programs.ts";

const limitMs = 2000;
const mostStatusLines = 50;
const mostStatusBytes = 4096;
const mostCommits = 5;
const longestSubject = 200;

async function readLine(path: string): Promise<string | undefined> {
  return (await readSmall(path))?.split("\n")[0]?.trim();
}

/** The branch, or without one the start of the commit id. */
async function branchOf(repository: Repository): Promise<string | undefined> {
  const head = await readLine(join(repository.folder, "HEAD"));
  const branch = /^ref: refs\/heads\/(.+)$/.exec(head ?? "")?.[1];
  if (branch !== undefined) return clean(branch);
  return head !== undefined && /^[0-9a-f]{40,64}$/.test(head) ? `none (at commit ${head.slice(0, 10)})` : undefined;
}

/** Keeps file names and commits from looking like several lines. */
function clean(line: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern removes them
  return textStart(line.replace(/[\u0000-\u001f\u007f\u0080-\u009f]/g, " "), longestSubject);
}

/**
 * Git uses our repository, not variables of an outer git. The user's settings apply, because without them git would
 * refuse (`safe.directory`) or report another status. Of their programs only filters run.
 */
function gitEnvironment(root: string): Record<string, string | undefined> {
  const kept = new Set(["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"]);
  const inherited = Object.keys(process.env).filter((name) => name.startsWith("GIT_") && !kept.has(name));
  return {
    ...Object.fromEntries(inherited.map((name) => [name, undefined])),
    GIT_CEILING_DIRECTORIES: dirname(root),
    // Fetching a missing object would start programs that the repository names.
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

/** Branch, short status and latest commits as text for the model. `undefined` outside a repository. Never rejects. */
export async function repositoryState(cwd: string): Promise<string | undefined> {
  try {
    const { repositories, unclear } = await repositoriesAround(cwd);
    const repository = repositories[0];
    const branch = repository && (await branchOf(repository));
    if (repository === undefined || branch === undefined || repository.root === repository.folder) return undefined;
    const intro = ["Git repository at the start of this turn", `Root: ${repository.root}`, `Branch: ${branch}`];
    // A single one is the one that git would use.
    if (unclear || repositories.length > 1 || !(await isTrusted(repository))) {
      const why = "Status and commits are omitted, because the repository's configuration makes git run programs.";
      return [...intro, why].join("\n");
    }
    const program = usersProgram("git", cwd);
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
