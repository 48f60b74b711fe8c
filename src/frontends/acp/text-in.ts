import { readFileSync, statSync } from "node:fs";

/** More than anybody reads in a diff. */
const mostBytes = 1024 * 1024;

/** What a file holds now; `undefined` when it is not there, is no text, or is too large. At once, because it is about to change. */
export function textIn(path: string): string | undefined {
  try {
    const found = statSync(path);
    if (!found.isFile() || found.size > mostBytes) return undefined;
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
  } catch {
    return undefined;
  }
}
