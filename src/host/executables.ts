import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

function isProgram(path: string): boolean {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Where the system would find a program. Synchronous, because asking for a hundred names that are not there is then a
 * matter of microseconds. Relative entries of PATH are passed over: they would make a repository's files our programs.
 */
export function findOnPath(name: string, path = process.env.PATH ?? ""): string | undefined {
  for (const folder of path.split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const candidate = join(folder, name);
    try {
      if (isProgram(candidate)) return candidate;
    } catch {
      // A folder that we may not look into has nothing for us.
    }
  }
  return undefined;
}
