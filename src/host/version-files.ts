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

const version = "[A-Za-z0-9][\\w.+-]*";
const oneVersion = new RegExp(`^(?:(?:v?${version}|lts/[\\w*]+)[ \\t]*(?:#.*)?\\n?|#.*\\n|\\s)*$`);
const toolVersions = new RegExp(
  `^(?:[A-Za-z][\\w-]*(?:[ \\t]+${version})+[ \\t]*(?:#.*)?(?:\\n|$)|#.*(?:\\n|$)|\\s)*$`,
);
const miseTools = new RegExp(
  `^(?:\\[tools\\][ \\t]*\\n|[A-Za-z][\\w-]*[ \\t]*=[ \\t]*"${version}"[ \\t]*(?:\\n|$)|#.*(?:\\n|$)|\\s)*$`,
);
const toolchain = new RegExp(
  `^(?:\\[toolchain\\][ \\t]*\\n|(?:channel|profile)[ \\t]*=[ \\t]*"${version}"[ \\t]*(?:\\n|$)|(?:components|targets)[ \\t]*=[ \\t]*\\[[\\w",\\s-]*\\][ \\t]*(?:\\n|$)|#.*(?:\\n|$)|\\s)*$`,
);

/** Files by which version managers choose, in the plain form in which they can name nothing but versions. */
const plainForms: Readonly<Record<string, RegExp>> = {
  ".tool-versions": toolVersions,
  "mise.toml": miseTools,
  ".mise.toml": miseTools,
  "rust-toolchain.toml": toolchain,
  ".nvmrc": oneVersion,
  // It can name programs in a way of its own.
  "package.json": /^(?![\s\S]*(?:"devEngines"|\\u))/,
  "rust-toolchain": new RegExp(`${oneVersion.source}|${toolchain.source}`),
};

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
    if (names.some((name) => !isPlain(join(at, name), formOf(name)))) return true;
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

function formOf(name: string): RegExp | undefined {
  if (/^\.[\w-]+-versions?$/.test(name) && name !== ".tool-versions") return oneVersion;
  return Object.hasOwn(plainForms, name) ? plainForms[name] : undefined;
}

function isPlain(path: string, form: RegExp | undefined): boolean {
  if (form === undefined) return true;
  const found = lstatSync(path);
  return found.isFile() && found.size <= largestFile && form.test(readFileSync(path, "utf8"));
}
