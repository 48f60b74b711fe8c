import { isAbsolute, resolve } from "node:path";
import type { Access } from "../engine/permission.ts";
import type { ToolScope } from "../engine/tool.ts";
import { meantName, shownName } from "../text/shown-name.ts";
import { expandHome } from "../text/user-words.ts";
import { halfCharacter } from "./outcome.ts";

/** By the parsed input of a call: the paths its permission was decided on, by what the model calls them. */
const decided = new WeakMap<object, Map<string, string>>();

/** Where a path of the model's leads: absolute, with its links resolved. Rejects with words when it cannot be told. */
export async function canonicalOf(path: string, scope: ToolScope): Promise<string> {
  const broken = halfCharacter(path);
  if (broken !== undefined) throw new Error(`The path ${JSON.stringify(path)} ${broken}`);
  return scope.host.files.canonical(await meantPath(path, scope), scope.cwd);
}

/**
 * The path that is meant: `~/` is the home, and a name with escapes is the one that was shown so, if there is one, and
 * otherwise has backslashes. Rejects with words for somebody else's home.
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

/**
 * For `access`: the use of a path, also with how it is written where that says more than where it leads. One that cannot be
 * resolved is decided on as it is written, and fails when it runs. Never rejects.
 */
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
  const meant = await meantPath(path, scope).catch(() => path);
  const canonical = await canonicalOf(path, scope).catch(() => resolve(scope.cwd, meant));
  const paths = decided.get(input) ?? new Map<string, string>();
  decided.set(input, paths.set(path, canonical));
  if (canonical === resolve(scope.cwd, meant)) return { type, path: canonical };
  return { type, path: canonical, written: isAbsolute(meant) ? meant : `${scope.cwd}/${meant}` };
}

/**
 * For `run`: the canonical path. Rejects when it is not the one that was decided on: an earlier call, or somebody else,
 * may have put a symbolic link in its way since then.
 */
export async function decidedPath(input: object, path: string, scope: ToolScope): Promise<string> {
  const canonical = await canonicalOf(path, scope);
  const paths = decided.get(input);
  if (paths === undefined) return canonical;
  const before = paths.get(path);
  if (before === canonical) return canonical;
  if (before === undefined) throw new Error(`${path} was not decided on. Nothing was done.`);
  throw new Error(
    `${path} was decided on as ${shownName(before)}, but now leads to ${shownName(canonical)}. Nothing was done.`,
  );
}
