import { resolve } from "node:path";
import type { Connect, CreateOptions, PromptOptions, Query, ResumeOptions, Session } from "./api.ts";
import { checkOptions, checkText } from "./check-options.ts";
import { checkEach } from "./checks.ts";
import type { ListSessionsOptions } from "./node/list-sessions.ts";
import { type SpawnOptions, spawnBackend, spawnChecks } from "./node/spawn.ts";
import { createOver, queryOver, resumeOver } from "./open.ts";
import type { SessionSummary } from "./types.ts";

/**
 * The exports of `tinman/sdk`: those for browsers, and what needs processes or files. Names defined here take precedence.
 */

export * from "./browser.ts";
export type { ListSessionsOptions } from "./node/list-sessions.ts";
export { type SpawnOptions, spawnBackend } from "./node/spawn.ts";

export interface SessionOptions extends CreateOptions, SpawnOptions {}

/** A new session. Without `connect`, starts a program that ends with it. */
export async function createSession(options: SessionOptions = {}): Promise<Session> {
  checkOptions("createSession", options);
  checkEach("createSession", options, spawnChecks);
  const cwd = folderOf(options);
  return createOver(options.connect ?? spawnBackend({ ...options, cwd }), options, cwd);
}

/** Reopens a session as it was left. */
export async function resumeSession(id: string, options: ResumeOptions & SpawnOptions = {}): Promise<Session> {
  checkText("The id of a session", id);
  checkOptions("resumeSession", options);
  checkEach("resumeSession", options, spawnChecks);
  const cwd = folderOf(options);
  return resumeOver(options.connect ?? spawnBackend({ ...options, cwd }), id, options, cwd);
}

/** Relative to this process, unless `connect` can lead to another machine. */
function folderOf({ connect, cwd = process.cwd() }: { readonly connect?: Connect; readonly cwd?: string }): string {
  return connect === undefined ? resolve(cwd) : cwd;
}

/**
 * The sessions whose logs are on this machine, newest first. Starts no process and writes nothing. Skips whatever cannot be
 * read or is not a session log. Rejects only with a TypeError for invalid options, and with the signal's reason.
 */
export async function listSessions(options: ListSessionsOptions = {}): Promise<readonly SessionSummary[]> {
  return (await import("./node/list-sessions.ts")).listSessions(options);
}

/** Runs one prompt in its own session. */
export function query(prompt: string, options: SessionOptions & PromptOptions = {}): Query {
  checkOptions("query", options);
  checkEach("query", options, spawnChecks);
  return queryOver(() => createSession(options), prompt, options);
}
