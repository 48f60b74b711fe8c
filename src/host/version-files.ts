import { lstatSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";

/** Programs that stand in for others, of which a file in the folder or above it chooses one. */
const managers = new Set([
  "asdf",
  "mise",
  "rtx",
  "pyenv",
  "rbenv",
  "nodenv",
  "jenv",
  "goenv",
  "rustup",
  "volta-shim",
  "proto-shim",
]);

/** Files by which they choose, and what in them may name a program or a file of the repository's instead of a version. */
const versionFiles: Readonly<Record<string, RegExp>> = {
  ".tool-versions": /path:|\.\.\//,
  "mise.toml": /\bpath\s*[:=]/,
  ".mise.toml": /\bpath\s*[:=]/,
  "mise.local.toml": /\bpath\s*[:=]/,
  ".mise.local.toml": /\bpath\s*[:=]/,
  ".prototools": /path:|:\s*\/\//,
  "rust-toolchain": /\bpath\s*=|\//,
  "rust-toolchain.toml": /\bpath\s*=/,
  ".python-version": /\.\.|^\//m,
  ".ruby-version": /\.\.|^\//m,
  ".node-version": /\.\.|^\//m,
  ".java-version": /\.\.|^\//m,
  ".go-version": /\.\.|^\//m,
  // It has commands.
  ".asdfrc": /^/,
};
const largestFile = 64 * 1024;

/** Whether a program is the stand-in of a version manager. */
export function isStandIn(path: string, realPath: string): boolean {
  return basename(dirname(path)) === "shims" || managers.has(basename(realPath));
}

/**
 * Whether files in a folder, or above it, make a version manager run a program of the repository's, or show a file that is
 * none of its own. Files in the home and above it are the user's.
 */
export function versionsAreChosenByPath(folder: string): boolean {
  const home = process.env.HOME || homedir();
  for (let at = folder; at !== home; at = dirname(at)) {
    if (Object.entries(versionFiles).some(([name, telling]) => isTelling(join(at, name), telling))) return true;
    if (at === dirname(at)) break;
  }
  return false;
}

function isTelling(path: string, telling: RegExp): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return false;
  return !found.isFile() || found.size > largestFile || telling.test(readFileSync(path, "utf8"));
}
