import { realpathSync } from "node:fs";
import { delimiter, isAbsolute, resolve } from "node:path";
import { sortedUnique, whereItLeads } from "../files/where-it-leads.ts";
import { isProgram } from "./executables.ts";

/** The system passes over a folder that it may not look into. */
function fileIn(folder: string, name: string): string | undefined {
  const file = resolve(folder, name);
  try {
    return isProgram(file) ? realpathSync.native(file) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The canonical file that the system would run for a name; nothing when there is none. No answer where it depends on the
 * folder that the command is in: a folder of PATH that is relative, or empty, is another one after every `cd`. Only when the
 * program lies in ours is it told, because that is then the likeliest.
 */
export function programFile(name: string): readonly string[] | undefined {
  const path = process.env.PATH;
  // Without PATH every shell has a list of its own.
  if (path === undefined || name === "" || /[/\0]/.test(name)) return undefined;
  let depends = false;
  for (const folder of path.split(delimiter)) {
    const file = fileIn(folder, name);
    if (file !== undefined) return depends ? undefined : [file];
    depends ||= !isAbsolute(folder);
  }
  return depends ? undefined : [];
}

/** The canonical folders of PATH, whether they are there or not; no answer when one depends on the folder of the command. */
export async function searchPath(): Promise<readonly string[] | undefined> {
  const folders = process.env.PATH?.split(delimiter) ?? [""];
  if (!folders.every(isAbsolute)) return undefined;
  return sortedUnique((await Promise.all(folders.map(whereItLeads))).flat());
}
