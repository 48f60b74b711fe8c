import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** The folder of the package that this program was started from. */
export function ownProgram(folder = __dirname): string {
  for (let at = folder; at !== dirname(at); at = dirname(at)) if (existsSync(join(at, "package.json"))) return at;
  return folder;
}
