import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";

/** Version managers' stand-ins, whose target is chosen by files in the folder or above it. */
const managers = new Set(
  "asdf mise rtx pyenv rbenv nodenv jenv goenv phpenv luaenv rustup volta-shim proto-shim vfox".split(" "),
);

/** Whether a program is a version manager's stand-in. */
export function isStandIn(path: string, realPath: string): boolean {
  return basename(dirname(path)) === "shims" || managers.has(basename(realPath));
}

/** A line that names only a version. */
const plainLines: Readonly<Record<string, RegExp>> = {
  ".tool-versions": /^[A-Za-z][\w-]*(?:[ \t]+[A-Za-z0-9][\w.+-]*)+$/,
  "mise.toml": /^(?:\[tools\]|[A-Za-z][\w-]*[ \t]*=[ \t]*"[A-Za-z0-9][\w.+-]*")$/,
  "rust-toolchain.toml":
    /^(?:\[toolchain\]|(?:channel|profile)[ \t]*=[ \t]*"[A-Za-z0-9][\w.+-]*"|(?:components|targets)[ \t]*=[ \t]*\[[\w",\t -]*\])$/,
};
const oneVersion = /^(?:[A-Za-z0-9][\w.+-]*|lts\/[\w*]+)$/;

/** The required form of each line; `undefined` for unrelated files. */
function formOf(name: string): RegExp | undefined {
  if (name === ".mise.toml") return plainLines["mise.toml"];
  if (name === ".nvmrc" || name === "rust-toolchain") return oneVersion;
  if (Object.hasOwn(plainLines, name)) return plainLines[name];
  return /^\.[\w-]+-versions?$/.test(name) ? oneVersion : undefined;
}

/** Other settings files of version managers, which can contain commands, variables and paths. */
const otherSettings =
  /^(?:\.asdfrc|\.prototools|\.rtx\.toml|\.miserc\.toml|\.?mise\..+\.toml|\.?mise|\.vfox\.toml|\.sdkmanrc)$/;
const nestedSettings = /^mise(?:\..*)?$/;
const largestFile = 1024 * 1024;

/**
 * Whether files in a folder or above it may make a version manager run one of the repository's programs, or show a foreign
 * file. Everything that is not a plain list of versions counts. Files in the home and above it are the user's.
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
  // It has its own way to name programs, even behind an escape.
  if (form === undefined) return !text.includes('"devEngines"') && !text.includes("\\u");
  const lines = text.split("\n").map((line) => line.replace(/#.*/, "").trim());
  return lines.every((line) => line === "" || form.test(line));
}

/** The text of a regular file of limited size; links do not count. */
function smallText(path: string): string | undefined {
  const found = lstatSync(path);
  return found.isFile() && found.size <= largestFile ? readFileSync(path, "utf8") : undefined;
}
