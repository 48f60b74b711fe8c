import { resolve } from "node:path";
import type { Connect, CreateOptions, PromptOptions, Query, ResumeOptions, Session } from "./api.ts";
import { checkOptions, checkText } from "./check-options.ts";
import { checkEach } from "./checks.ts";
import { type SpawnOptions, spawnBackend, spawnChecks } from "./node/spawn.ts";
import { createOver, queryOver, resumeOver } from "./open.ts";

/* What `tinman/sdk` exports: all of the browser's, and what needs processes or files. A name given here goes before. */

export * from "./browser.ts";
export { type ListSessionsOptions, listSessions } from "./node/list-sessions.ts";
export { type SpawnOptions, spawnBackend } from "./node/spawn.ts";

/** All that a session can be created with here. */
export interface SessionOptions extends CreateOptions, SpawnOptions {}

/** A new session. Without `connect`, of a program that is started for it and ends with it. */
export async function createSession(options: SessionOptions = {}): Promise<Session> {
  checkOptions("createSession", options);
  checkEach("createSession", options, spawnChecks);
  const cwd = folderOf(options);
  return createOver(options.connect ?? spawnBackend({ ...options, cwd }), options, cwd);
}

/** A session as it was left. */
export async function resumeSession(id: string, options: ResumeOptions & SpawnOptions = {}): Promise<Session> {
  checkText("The id of a session", id);
  checkOptions("resumeSession", options);
  checkEach("resumeSession", options, spawnChecks);
  const cwd = folderOf(options);
  return resumeOver(options.connect ?? spawnBackend({ ...options, cwd }), id, options, cwd);
}

/** From here, and not from the folder that a program is started in; behind `connect` may be another machine's. */
function folderOf({ connect, cwd = process.cwd() }: { readonly connect?: Connect; readonly cwd?: string }): string {
  return connect === undefined ? resolve(cwd) : cwd;
}

/** One prompt in a session of its own. */
export function query(prompt: string, options: SessionOptions & PromptOptions = {}): Query {
  checkOptions("query", options);
  checkEach("query", options, spawnChecks);
  return queryOver(() => createSession(options), prompt, options);
}
