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

/** Whether something lies in a folder, links followed. In the root, where everything lies, this says no. */
export function liesIn(path: string, folder: string): boolean {
  return !folder.endsWith(sep) && `${realpathSync.native(path)}${sep}`.startsWith(folder + sep);
}

/**
 * The folders of PATH whose programs are the user's own. Relative entries are passed over, and so are those in the folder
 * that is worked in and those of packages that a project installed: they would make a repository's files our programs.
 */
export function pathFolders(cwd?: string): readonly string[] {
  return (process.env.PATH ?? "").split(delimiter).filter((folder) => {
    if (!isAbsolute(folder) || folder.includes(join("node_modules", ".bin"))) return false;
    try {
      return cwd === undefined || !liesIn(folder, cwd);
    } catch {
      return false;
    }
  });
}

const systemFolders = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"];

/** The folders in which we look for programs of our own: the system's first, and none of `cwd`'s. */
function ownFolders(cwd: string): readonly string[] {
  return [...new Set([...systemFolders, ...pathFolders(cwd)])];
}

/** PATH for programs that we start for ourselves. */
export function ownPath(cwd: string): string {
  return ownFolders(cwd).join(delimiter);
}

/** A program that we start for ourselves: the system's, or else the user's. */
export function ownProgram(name: string, cwd: string): string | undefined {
  return usersProgram(name, cwd, ownFolders(cwd));
}

/** The one that the user would get; not a stand-in, for which files in `cwd` might choose another. */
export function usersProgram(name: string, cwd: string, folders = pathFolders(cwd)): string | undefined {
  const found = folders.flatMap((folder) => findOnPath(name, cwd, [folder]) ?? []);
  return found.find((file) => !isStandIn(file, realpathSync.native(file)));
}

/**
 * Where the system would find a program that is none of `cwd`'s. Synchronous, because asking for a hundred names that are
 * not there is then a matter of microseconds.
 */
export function findOnPath(name: string, cwd?: string, folders = pathFolders(cwd)): string | undefined {
  for (const folder of folders) {
    const candidate = join(folder, name);
    try {
      if (isProgram(candidate) && (cwd === undefined || !liesIn(candidate, cwd))) return candidate;
    } catch {
      // A folder that we may not look into has nothing for us.
    }
  }
  return undefined;
}
