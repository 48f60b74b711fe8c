import { realpathSync } from "node:fs";
import { basename, dirname } from "node:path";
import { findOnPath, pathFolders } from "../processes/executables.ts";
import { isStandIn } from "./version-files.ts";

/** In the order of the list. */
const names =
  "git node npm pnpm yarn bun deno python3 uv go cargo rustc java ruby php docker make cmake gcc clang jq rg gh".split(
    " ",
  );

/** Other names of a tool's folders and files. */
const otherNames: Readonly<Record<string, readonly string[] | undefined>> = {
  python3: ["python"],
  java: ["jdk", "openjdk"],
  clang: ["llvm"],
};

/**
 * The developer tools on PATH outside `cwd`, as `name version`, or `name` if the path does not show the version. Starts no
 * program: asking twenty for their versions would take longer than a whole run.
 */
export function installedTools(cwd: string): readonly string[] {
  const folders = pathFolders(cwd);
  return names.flatMap((name) => {
    const path = findOnPath(name, cwd, folders);
    return path === undefined ? [] : `${name} ${versionOf(name, path)}`.trim();
  });
}

function versionOf(name: string, path: string): string {
  let real: string;
  try {
    real = realpathSync.native(path);
  } catch {
    // It was removed meanwhile.
    return "";
  }
  if (real === process.execPath) return process.versions.node;
  // A version manager's stand-in runs the version that the current folder chooses.
  return isStandIn(path, real) ? "" : (versionInPath(name, real) ?? "");
}

/** The version after the tool's name: `/usr/bin/python3.11`, `…/java-17-openjdk/bin/java`, `…/Cellar/jq/1.7.1/bin/jq`. */
function versionInPath(name: string, real: string): string | undefined {
  const known = [name, ...(otherNames[name] ?? [])];
  // The 3 in `python3` is not a version.
  const telling = basename(real) === name ? dirname(real) : real;
  const found = Array.from(telling.matchAll(/(?<=^|[/-])([a-z]+)[@/-]?v?(\d+(?:\.\d+)*)(?=[-/_+]|$)/gi));
  return found.findLast(([, word = ""]) => known.includes(word.toLowerCase()))?.[2];
}
