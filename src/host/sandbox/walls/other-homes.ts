import { lstatSync, readdirSync, realpathSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { delimiter, join } from "node:path";
import type { Containment } from "../../../engine/containment.ts";
import { liesBelow } from "../../files/where-it-leads.ts";

export interface HomesFolders {
  /** Each holds homes of users. */
  readonly folders: readonly string[];
  readonly roots: readonly string[];
}

export const systemHomes: HomesFolders = {
  folders: ["/home", "/var/home", "/export/home"],
  roots: ["/root", "/var/root"],
};

type Environment = Readonly<Record<string, string>>;

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

function foldersIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return [];
  }
}

function ownHomes(environment: Environment): readonly string[] {
  let login = "";
  try {
    login = userInfo().homedir;
  } catch {
    // This user is not in the system's database.
  }
  return [environment.HOME ?? homedir(), login].flatMap((path) => (path === "" ? [] : (realPath(path) ?? [])));
}

/** Folders that variables name. A shared toolchain may be in another user's home. */
function namedFolders(environment: Environment): readonly string[] {
  const words = Object.entries(environment).flatMap(([name, value]) =>
    name === "OLDPWD" ? [] : value.split(delimiter).filter((word) => word.startsWith("/")),
  );
  return [process.execPath, ...words];
}

/**
 * Hides the homes of other users. A home with the workspace, or with a folder that a variable names, stays open, except
 * for the places that are hidden in our own home.
 */
export function othersHomes(
  walls: Containment,
  cwd: string,
  environment: Environment,
  { folders, roots }: HomesFolders,
): { readonly hidden: readonly string[]; readonly shown: readonly string[] } {
  const own = ownHomes(environment);
  const used = [cwd, ...walls.writable, ...walls.caches, ...walls.outputs, ...namedFolders(environment)];
  const isUsed = (home: string) => walls.shown.includes(home) || used.some((path) => liesBelow(path, home));
  const isOwn = (home: string) => own.some((path) => liesBelow(path, home) || liesBelow(home, path));
  const closedIn = (home: string) =>
    own.flatMap((mine) =>
      walls.hidden.filter((path) => liesBelow(path, mine)).map((path) => home + path.slice(mine.length)),
    );
  const hidden: string[] = [];
  const shown: string[] = [];
  const open = (home: string) => {
    if (!isOwn(home)) hidden.push(...closedIn(home));
  };
  for (const home of roots) {
    if (lstatSync(home, { throwIfNoEntry: false })?.isDirectory() !== true || isOwn(home)) continue;
    if (isUsed(home)) open(home);
    else hidden.push(home);
  }
  for (const folder of folders) {
    if (realPath(folder) !== folder || walls.writable.some((path) => liesBelow(folder, path))) continue;
    const homes = foldersIn(folder);
    const opened = homes.filter((home) => isOwn(home) || isUsed(home));
    for (const home of opened) open(home);
    // A single mount hides them all.
    if (opened.length === homes.length) continue;
    hidden.push(folder);
    shown.push(...opened);
  }
  return { hidden, shown };
}
