import { lstat, readlink } from "node:fs/promises";
import { dirname, isAbsolute, join, parse, sep } from "node:path";
import { nameOfBytes } from "../../text/shown-name.ts";
import { isMissing } from "../../text/system-errors.ts";
import { onDisk } from "./system-path.ts";

/** Linux opens paths of up to 4,096 bytes; links and `..` can make what is written longer than what is opened. */
export const longestPath = 16_384;
/** As many as Linux follows in one path. */
const maxLinks = 40;

/** The target of a link; `undefined` when the path is something else or nothing. */
async function linkTarget(path: string): Promise<string | undefined> {
  try {
    const place = onDisk(path);
    if (!(await lstat(place)).isSymbolicLink()) return undefined;
    return nameOfBytes(await readlink(place, { encoding: "buffer" }));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function pathError(code: string, words: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${words}, '${path}'`), { code, path });
}

/** What is to be done with a name on the way: follow it if it is a link, take it for a plain name, or go no further. */
export type Step = "follow" | "keep" | "stop";

/**
 * The absolute path with every symbolic link resolved, in the way the system itself walks: `link/..` is the parent of the
 * link's target. What does not exist is kept by name, also behind a link that points nowhere. Rejects a loop of links.
 * Where `stepAt` says to stop, the names that are left are added as they are.
 */
export async function canonicalPath(path: string, base: string, stepAt?: (path: string) => Step): Promise<string> {
  if (path.includes("\0") || base.includes("\0")) {
    throw pathError("EINVAL", "a path cannot hold a NUL character", path.replaceAll("\0", "\\0"));
  }
  if (path.length > longestPath) throw pathError("ENAMETOOLONG", "the path is too long", `${path.slice(0, 100)}…`);
  const start = isAbsolute(path) ? path : join(parse(base).root === "" ? process.cwd() : "", base) + sep + path;
  const root = parse(start).root;
  // The next name to look at is the last one.
  const names = start.slice(root.length).split(sep).reverse();
  let current = root;
  let links = 0;
  for (let name = names.pop(); name !== undefined; name = names.pop()) {
    if (name === "" || name === ".") continue;
    if (name === "..") {
      current = dirname(current);
      continue;
    }
    const next = join(current, name);
    const step = stepAt?.(next) ?? "follow";
    if (step === "stop") return [next, ...names.reverse()].join(sep);
    const target = step === "keep" ? undefined : await linkTarget(next);
    if (target === undefined) {
      current = next;
      continue;
    }
    links += 1;
    if (links > maxLinks) throw pathError("ELOOP", "too many symbolic links", path);
    if (isAbsolute(target)) current = parse(target).root;
    names.push(...target.split(sep).reverse());
  }
  return current;
}
