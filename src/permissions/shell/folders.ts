import { posix } from "node:path";
import { withoutTrailingSlashes } from "../../text/text-cut.ts";
import { type Arg, textOf } from "../programs/arg.ts";

/** Every possible working directory; `undefined` if unknown. */
export type Folders = readonly string[] | undefined;

const mostFolders = 8;

export function either(a: Folders, b: Folders): Folders {
  if (a === undefined || b === undefined) return undefined;
  if (a === b) return a;
  const both = [...new Set([...a, ...b])];
  return both.length > mostFolders ? undefined : both;
}

/**
 * The target of `cd`. A shell usually resolves `x/..` by its text, without checking whether `x` is a link; with some
 * options it follows links. So both results are kept.
 */
export function enter(folders: Folders, target: Arg | undefined): Folders {
  const name = textOf(target);
  if (folders === undefined || name === undefined || name === "" || name.startsWith("-")) return undefined;
  const reached = folders.flatMap((folder) => {
    const path = name.startsWith("/") ? name : `${folder === "/" ? "" : folder}/${name}`;
    return /\/\.\.(\/|$)/.test(path) ? [posix.normalize(path), path] : [posix.normalize(path)];
  });
  const plain = [...new Set(reached.map((path) => withoutTrailingSlashes(path) || "/"))];
  return plain.length > mostFolders ? undefined : plain;
}
