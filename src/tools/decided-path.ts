import { resolve } from "node:path";
import type { ToolScope } from "../core/tool.ts";

/** By the parsed input of a call: the path its permission was decided on. */
const decided = new WeakMap<object, string>();

/**
 * For `access`: the canonical path. One that cannot be resolved is decided on as it is written, and fails when it runs.
 * Never rejects.
 */
export async function decidePath(input: object, path: string, scope: ToolScope): Promise<string> {
  const canonical = await scope.host.files.canonical(path, scope.cwd).catch(() => resolve(scope.cwd, path));
  decided.set(input, canonical);
  return canonical;
}

/**
 * For `run`: the canonical path. Rejects when it is not the one that was decided on: an earlier call, or somebody else,
 * may have put a symbolic link in its way since then.
 */
export async function decidedPath(input: object, path: string, scope: ToolScope): Promise<string> {
  const canonical = await scope.host.files.canonical(path, scope.cwd);
  const before = decided.get(input);
  if (before === undefined || before === canonical) return canonical;
  throw new Error(`${path} was decided on as ${before}, but now leads to ${canonical}. Nothing was done.`);
}
