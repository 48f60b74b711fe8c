import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join, sep } from "node:path";
import { isStandIn } from "../environment/version-files.ts";

export function isProgram(path: string): boolean {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Whether a path, with links resolved, is inside a folder. False for the root. */
export function liesIn(path: string, folder: string): boolean {
  return !folder.endsWith(sep) && `${realpathSync.native(path)}${sep}`.startsWith(folder + sep);
}

/**
 * The folders of PATH with the user's own programs. Excludes relative entries, those in the working directory, and packages
 * that a project installed, because all of these may hold a repository's files.
 */
export function pathFolders(cwd?: string, path = process.env.PATH): readonly string[] {
  return (path ?? "").split(delimiter).filter((folder) => {
    if (!isAbsolute(folder) || folder.includes(join("node_modules", ".bin"))) return false;
    try {
      return cwd === undefined || !liesIn(folder, cwd);
    } catch {
      return false;
    }
  });
}

const systemFolders = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"];

/** The search path for programs that we start ourselves: the system's folders first, none in `cwd`. */
function ownFolders(cwd: string): readonly string[] {
  return [...new Set([...systemFolders, ...pathFolders(cwd)])];
}

/** PATH for programs that we start ourselves. */
export function ownPath(cwd: string): string {
  return ownFolders(cwd).join(delimiter);
}

/** A program that we start ourselves: the system's, or else the user's. */
export function ownProgram(name: string, cwd: string): string | undefined {
  return usersProgram(name, cwd, ownFolders(cwd));
}

/** The program that the user would get. Excludes version managers' stand-ins, which files in `cwd` can redirect. */
export function usersProgram(name: string, cwd: string, folders = pathFolders(cwd)): string | undefined {
  const found = folders.flatMap((folder) => findOnPath(name, cwd, [folder]) ?? []);
  return found.find((file) => !isStandIn(file, realpathSync.native(file)));
}

/**
 * The system's file for a program outside `cwd`. Synchronous, because checking a hundred missing names then takes
 * microseconds.
 */
export function findOnPath(name: string, cwd?: string, folders = pathFolders(cwd)): string | undefined {
  for (const folder of folders) {
    const candidate = join(folder, name);
    try {
      if (isProgram(candidate) && (cwd === undefined || !liesIn(candidate, cwd))) return candidate;
    } catch {
      // Skip a folder that cannot be read.
    }
  }
  return undefined;
}
