import type { ToolScope } from "../core/tool.ts";

/** By the parsed input of a call: whether git might run programs of the repository's choice when it was decided on. */
const decided = new WeakMap<object, boolean>();

function isGit(command: string): boolean {
  return /^\s*git(?:\s|$)/.test(command);
}

function mightRunPrograms({ host, cwd }: ToolScope): Promise<boolean> {
  return host.repositories.runsPrograms(cwd).catch(() => true);
}

/** For `access`: whether the command is git and might run programs that the repository names. Never rejects. */
export async function decideGit(input: object, command: string, scope: ToolScope): Promise<boolean> {
  if (!isGit(command)) return false;
  const runsPrograms = await mightRunPrograms(scope);
  decided.set(input, runsPrograms);
  return runsPrograms;
}

/** For `run`: whether the command was decided on as harmless git, and is that no longer. Never rejects. */
export async function isOtherGitNow(input: object, scope: ToolScope): Promise<boolean> {
  return decided.get(input) === false && (await mightRunPrograms(scope));
}
