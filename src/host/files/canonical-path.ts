import { lstat, readlink } from "node:fs/promises";
import { dirname, isAbsolute, join, parse, sep } from "node:path";
import { nameOfBytes } from "../../text/shown-name.ts";
import { isMissing } from "../../text/system-errors.ts";
import { aboutPath, onDisk } from "./system-path.ts";

/** Linux opens paths of up to 4,096 bytes, but links and `..` can make the written path longer. */
export const longestPath = 16_384;
/** Linux's limit for one path. */
const maxLinks = 40;

/** A link's target; `undefined` if the path is not a link. */
async function linkTarget(path: string): Promise<string | undefined> {
  try {
    const place = onDisk(path);
    if (!(await lstat(place)).isSymbolicLink()) return undefined;
    return nameOfBytes(await readlink(place, { encoding: "buffer" }));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw aboutPath(error, path);
  }
}

function pathError(code: string, words: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${words}, '${path}'`), { code, path });
}

/** The action at a name: follow it as a link, keep it as a plain name, or stop there. */
export type Step = "follow" | "keep" | "stop";

/**
 * The absolute path with all links resolved as the system does: `link/..` is the parent of the link's target. Keeps names that
 * do not exist, even behind a dangling link. Rejects a loop of links. After `stop`, the remaining names are appended unchanged.
 */
export async function canonicalPath(path: string, base: string, stepAt?: (path: string) => Step): Promise<string> {
  if (path.includes("\0") || base.includes("\0")) {
    throw pathError("EINVAL", "a path cannot contain a NUL character", path.replaceAll("\0", "\\0"));
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
