import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Every page for readers: those at the top, and those in the folders below. */
export function pages(): readonly string[] {
  const folders = ["docs", "examples", "bench"].filter((folder) => existsSync(folder));
  const inFolders = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((path) => join(folder, path)),
  );
  return [...readdirSync("."), ...inFolders].filter((path) => path.endsWith(".md")).sort();
}
