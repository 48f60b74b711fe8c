import { readdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";

/** Earlier builds kept copies of config.yaml in the cache, keys included. Removes them; never throws. */
export function removeOldCopies(ownHome: string): void {
  const folder = join(ownHome, "cache");
  for (const name of namesIn(folder)) {
    if (!/^config\.json(?:\.\d+-[a-z0-9]+)?$/.test(name)) continue;
    try {
      unlinkSync(join(folder, name));
    } catch {
      // It is a folder, or the home is read-only.
    }
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
