import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** See the lookup `installed`. */
export function installedTool(folder: string, tool: string): readonly string[] | undefined {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, "node_modules/.bin", tool))) return [];
    if (at === dirname(at)) return undefined;
  }
}
