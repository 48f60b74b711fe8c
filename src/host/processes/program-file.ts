import { realpathSync } from "node:fs";
import { delimiter, isAbsolute, resolve } from "node:path";
import { sortedUnique, whereItLeads } from "../files/where-it-leads.ts";
import { isProgram } from "./executables.ts";

/** Skips a folder that cannot be read, as the system does. */
function fileIn(folder: string, name: string): string | undefined {
  const file = resolve(folder, name);
  try {
    return isProgram(file) ? realpathSync.native(file) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The canonical file that the system would run for a name; empty if there is none. `undefined` if it depends on the working
 * directory, as with a relative or empty entry in PATH.
 */
export function programFile(name: string): readonly string[] | undefined {
  const path = process.env.PATH;
  // Without PATH, every shell has its own default.
  if (path === undefined || name === "" || /[/\0]/.test(name)) return undefined;
  let depends = false;
  for (const folder of path.split(delimiter)) {
    const file = fileIn(folder, name);
    if (file !== undefined) return depends ? undefined : [file];
    depends ||= !isAbsolute(folder);
  }
  return depends ? undefined : [];
}

/** The canonical folders of PATH, existing or not. `undefined` if one depends on the working directory. */
export async function searchPath(): Promise<readonly string[] | undefined> {
  const folders = process.env.PATH?.split(delimiter) ?? [""];
  if (!folders.every(isAbsolute)) return undefined;
  return sortedUnique((await Promise.all(folders.map(whereItLeads))).flat());
}
