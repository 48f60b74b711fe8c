import { posix } from "node:path";
import { withoutTrailingSlashes } from "../core/trailing.ts";
import { type Arg, textOf } from "./arg.ts";

/** Every folder that may be the working directory; `undefined` when that is not known. */
export type Folders = readonly string[] | undefined;

const mostFolders = 8;

export function either(a: Folders, b: Folders): Folders {
  if (a === undefined || b === undefined) return undefined;
  if (a === b) return a;
  const both = [...new Set([...a, ...b])];
  return both.length > mostFolders ? undefined : both;
}

/**
 * Where `cd` leads. A shell takes `x/..` for where it was, without asking what `x` is, unless that does not work or it was
 * told otherwise; so both readings are kept.
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
