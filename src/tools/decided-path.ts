import { isAbsolute, resolve } from "node:path";
import type { Access } from "../core/permission.ts";
import type { ToolScope } from "../core/tool.ts";

/** By the parsed input of a call: the paths its permission was decided on, by what the model calls them. */
const decided = new WeakMap<object, Map<string, string>>();

/**
 * For `access`: the canonical path. One that cannot be resolved is decided on as it is written, and fails when it runs.
 * Never rejects.
 */
export async function decidePath(input: object, path: string, scope: ToolScope): Promise<string> {
  const canonical = await scope.host.files.canonical(path, scope.cwd).catch(() => resolve(scope.cwd, path));
  const paths = decided.get(input) ?? new Map<string, string>();
  decided.set(input, paths.set(path, canonical));
  return canonical;
}

/** For `access`: the use of a path, also with how it is written where that says more than where it leads. Never rejects. */
export async function decideUse<T extends "read" | "write">(
  type: T,
  input: object,
  path: string,
  scope: ToolScope,
): Promise<Extract<Access, { type: T }>>;
export async function decideUse(
  type: "read" | "write",
  input: object,
  path: string,
  scope: ToolScope,
): Promise<Extract<Access, { type: "read" | "write" }>> {
  const canonical = await decidePath(input, path, scope);
  if (canonical === resolve(scope.cwd, path)) return { type, path: canonical };
  return { type, path: canonical, written: isAbsolute(path) ? path : `${scope.cwd}/${path}` };
}

/**
 * For `run`: the canonical path. Rejects when it is not the one that was decided on: an earlier call, or somebody else,
 * may have put a symbolic link in its way since then.
 */
export async function decidedPath(input: object, path: string, scope: ToolScope): Promise<string> {
  const canonical = await scope.host.files.canonical(path, scope.cwd);
  const paths = decided.get(input);
  if (paths === undefined) return canonical;
  const before = paths.get(path);
  if (before === canonical) return canonical;
  if (before === undefined) throw new Error(`${path} was not decided on. Nothing was done.`);
  throw new Error(`${path} was decided on as ${before}, but now leads to ${canonical}. Nothing was done.`);
}
