import { isAbsolute, resolve } from "node:path";
import type { Access } from "../engine/permission.ts";
import type { DecidedScope, ToolScope } from "../engine/tool.ts";
import { meantName, shownName, shownWritten } from "../text/shown-name.ts";
import { expandHome } from "../text/user-words.ts";
import { halfCharacter } from "./outcome.ts";

/** A path of the model as an absolute path with links resolved. Rejects with a message if that is impossible. */
export async function canonicalOf(path: string, scope: ToolScope): Promise<string> {
  const broken = halfCharacter(path);
  if (broken !== undefined) throw new Error(`The path ${JSON.stringify(path)} ${broken}`);
  return scope.host.files.canonical(await meantPath(path, scope), scope.cwd);
}

/**
 * The path that the model means: `~/` is the home, and a name with escapes is an existing name shown that way, if any.
 * Rejects with a message for another user's home.
 */
async function meantPath(path: string, scope: ToolScope): Promise<string> {
  const expanded = expandHome(path, scope.home);
  if (!expanded.includes("\\x")) return expanded;
  let meant = "";
  for (const [index, name] of expanded.split("/").entries()) {
    const before = index === 0 ? "" : `${meant}/`;
    const shownSo = meantName(name);
    const isThere =
      shownSo !== undefined &&
      (await scope.host.files.stat(resolve(scope.cwd, before + shownSo)).catch(() => undefined)) !== undefined;
    meant = before + (isThere ? shownSo : name);
  }
  return meant;
}

/** For `access`: the use of a path, with its written form if that says more than its target. Never rejects. */
export async function decideUse<T extends "read" | "write">(
  type: T,
  path: string,
  scope: ToolScope,
): Promise<Extract<Access, { type: T }>>;
export async function decideUse(type: "read" | "write", path: string, scope: ToolScope): Promise<PathAccess> {
  const meant = await meantPath(path, scope).catch(() => path);
  const canonical = await canonicalOf(path, scope).catch(() => resolve(scope.cwd, meant));
  if (canonical === resolve(scope.cwd, meant)) return { type, path: canonical };
  return { type, path: canonical, written: writtenOf(meant, scope) };
}

/**
 * For `run` and `preview`: the canonical path. Rejects unless it is the one decided on, because an earlier call or another
 * program can have put a link in its way.
 */
export async function decidedPath(path: string, scope: DecidedScope): Promise<string> {
  const canonical = await canonicalOf(path, scope);
  const meant = await meantPath(path, scope);
  const written = writtenOf(meant, scope);
  const decided = scope.accesses.find(
    (access): access is PathAccess =>
      isPathAccess(access) &&
      (access.written === undefined ? access.path === resolve(scope.cwd, meant) : access.written === written),
  );
  if (decided === undefined) throw new Error(`${shownWritten(path)} was not decided on. Nothing was done.`);
  if (decided.path === canonical) return canonical;
  throw new Error(
    `${shownWritten(path)} was decided on as ${shownName(decided.path)}, but now leads to ${shownName(canonical)}. Nothing was done.`,
  );
}

type PathAccess = Extract<Access, { type: "read" | "write" }>;

function isPathAccess(access: Access): access is PathAccess {
  return access.type === "read" || access.type === "write";
}

function writtenOf(meant: string, { cwd }: ToolScope): string {
  return isAbsolute(meant) ? meant : `${cwd}/${meant}`;
}
