import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";

/** Programs that stand in for others, of which files in the folder or above it choose one. */
const managers = new Set(
  "asdf mise rtx pyenv rbenv nodenv jenv goenv phpenv luaenv rustup volta-shim proto-shim vfox".split(" "),
);

/** Whether a program is the stand-in of a version manager. */
export function isStandIn(path: string, realPath: string): boolean {
  return basename(dirname(path)) === "shims" || managers.has(basename(realPath));
}

/** One line of a file by which version managers choose, where it can name nothing but versions. */
const plainLines: Readonly<Record<string, RegExp>> = {
  ".tool-versions": /^[A-Za-z][\w-]*(?:[ \t]+[A-Za-z0-9][\w.+-]*)+$/,
  "mise.toml": /^(?:\[tools\]|[A-Za-z][\w-]*[ \t]*=[ \t]*"[A-Za-z0-9][\w.+-]*")$/,
  "rust-toolchain.toml":
    /^(?:\[toolchain\]|(?:channel|profile)[ \t]*=[ \t]*"[A-Za-z0-9][\w.+-]*"|(?:components|targets)[ \t]*=[ \t]*\[[\w",\t -]*\])$/,
};
const oneVersion = /^(?:[A-Za-z0-9][\w.+-]*|lts\/[\w*]+)$/;

/** How each line of a file must look; `undefined` for files by which nothing is chosen. */
function formOf(name: string): RegExp | undefined {
  if (name === ".mise.toml") return plainLines["mise.toml"];
  if (name === ".nvmrc" || name === "rust-toolchain") return oneVersion;
  if (Object.hasOwn(plainLines, name)) return plainLines[name];
  return /^\.[\w-]+-versions?$/.test(name) ? oneVersion : undefined;
}

/** Any other settings of theirs, which can hold commands, variables and paths. */
const otherSettings =
  /^(?:\.asdfrc|\.prototools|\.rtx\.toml|\.miserc\.toml|\.?mise\..+\.toml|\.?mise|\.vfox\.toml|\.sdkmanrc)$/;
const nestedSettings = /^mise(?:\..*)?$/;
const largestFile = 1024 * 1024;

/**
 * Whether files in a folder, or above it, may make a version manager run a program of the repository's, or show a file that
 * is none of its own: whatever is not plainly a list of versions. Files in the home and above it are the user's.
 */
export function mayChooseProgram(folder: string): boolean {
  const home = process.env.HOME || homedir();
  for (let at = folder; at !== home; at = dirname(at)) {
    const names = namesIn(at);
    if (
      names.some((name) => otherSettings.test(name)) ||
      namesIn(join(at, ".config")).some((name) => nestedSettings.test(name))
    )
      return true;
    if (names.some((name) => !isPlain(at, name))) return true;
    if (at === dirname(at)) break;
  }
  return false;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isPlain(folder: string, name: string): boolean {
  const form = formOf(name);
  if (form === undefined && name !== "package.json") return true;
  const text = smallText(join(folder, name));
  if (text === undefined) return false;
  // It can name programs in a way of its own, also behind an escape.
  if (form === undefined) return !text.includes('"devEngines"') && !text.includes("\\u");
  const lines = text.split("\n").map((line) => line.replace(/#.*/, "").trim());
  return lines.every((line) => line === "" || form.test(line));
}

/** The text of a file that is no link, no pipe and not too large. */
function smallText(path: string): string | undefined {
  const found = lstatSync(path);
  return found.isFile() && found.size <= largestFile ? readFileSync(path, "utf8") : undefined;
}
