import { opendir } from "node:fs/promises";
import { join } from "node:path";
import { isMissing, liesBelow, sortedUnique, whereItLeads } from "./where-it-leads.ts";

const mostEntries = 20_000;
/** A name that a program which splits its input would not take for one word, or would take for a flag. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const oddName = /^-|[\s'"`\\\u0000-\u001f\u007f-\u009f]/u;

/**
 * Where the symbolic links below a folder lead that leave it; with `plainNames` no answer when a name below is not surely one
 * plain word. No answer either for a folder that is too large to be walked. Rejects when something in it cannot be read.
 */
export async function linksBelow(folder: string, plainNames: boolean): Promise<readonly string[] | undefined> {
  const [root] = await whereItLeads(folder);
  // In `/proc` every process has other links.
  if (root === undefined || root === "/" || liesBelow(root, "/proc")) return undefined;
  const outside = new Set<string>();
  const folders = [root];
  let entries = 0;
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    try {
      for await (const entry of await opendir(at, { bufferSize: 512 })) {
        entries += 1;
        if (entries > mostEntries || entry.name.includes("\uFFFD")) return undefined;
        if (plainNames && oddName.test(entry.name)) return undefined;
        const path = join(at, entry.name);
        if (entry.isDirectory()) folders.push(path);
        if (!entry.isSymbolicLink()) continue;
        for (const target of await whereItLeads(path)) if (!liesBelow(target, root)) outside.add(target);
      }
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }
  return sortedUnique(outside);
}
