import { closeSync, openSync, readSync } from "node:fs";
import { basename, isAbsolute } from "node:path";
import { sortedUnique, whereItLeads } from "../files/where-it-leads.ts";
import { findOnPath, isProgram } from "../processes/executables.ts";
import { programFile, searchPath } from "../processes/program-file.ts";
import { type Language, languagePlaces, loaderPlaces } from "./loaded-code.ts";
import { isStandIn, mayChooseProgram } from "./version-files.ts";

type Helpers = readonly string[] | "any";

/** Binaries that start other programs by name: which ones, or `any`. Git's sub-commands have git's own names. */
const helpers: ReadonlyMap<string, Helpers> = new Map<string, Helpers>([
  ...alike("tar gtar bsdtar", "gzip bzip2 xz lzma lzip lzop zstd lz4 compress uncompress rsh ssh"),
  ...alike("diff3 sdiff", "diff"),
  ...alike("patch", "ed"),
  ...alike("zip", "unzip"),
  ...alike("less", "lessecho"),
  ...alike("dpkg", "dpkg-query dpkg-deb dpkg-split"),
  ...alike("rsync scp sftp", "ssh rsh"),
  ...alike("git-clone git-fetch git-pull git-push git-ls-remote git-remote", "ssh"),
  ...alike("git-archive", "gzip"),
  ...alike("cc c++ gcc g++ clang clang++ rustc ghc", "as ld collect2 cc gcc lld ld.lld ld.gold ld.mold"),
  ...alike("gh glab hub", "git ssh"),
  // Plug-ins, toolchains and interpreters, whose names depend on the project or the user's settings.
  ..."git-submodule git-bisect git-difftool git-mergetool man go cargo rustup uv uvx kubectl helm docker podman"
    .split(" ")
    .map((name) => [name, "any"] as const),
]);

function alike(names: string, helped: string): readonly (readonly [string, readonly string[]])[] {
  return names.split(" ").map((name) => [name, helped.split(" ")] as const);
}

/**
 * Places where a program finds code besides its own file: helpers, libraries and modules. `undefined` if a place depends on
 * the working directory, or files around `from` control a version manager's shim.
 */
export async function searchedPlaces(program: string, from?: string): Promise<readonly string[] | undefined> {
  const file = program.includes("/") ? absoluteProgram(program) : programFile(program)?.[0];
  if (startsAnother(program, file) && (from === undefined || mayChooseProgram(from))) return undefined;
  const script = file === undefined ? undefined : scriptIn(file);
  const written = loaderPlaces(process.env);
  for (const language of languagesOf(basename(program), script)) written.push(...languagePlaces(language, process.env));
  if (!written.every(isAbsolute)) return undefined;
  const names = [program, file ?? program].map((path) => basename(path));
  const started = script === undefined ? names.map((name) => helpers.get(name)).find(Boolean) : "any";
  const found = started === "any" ? await searchPath() : filesOf(started ?? []);
  if (found === undefined) return undefined;
  return sortedUnique([...found, ...(await Promise.all(written.map(whereItLeads))).flat()]);
}

/** `file` is canonical. On PATH, a stand-in may be a link, or a script in a folder of stand-ins. */
function startsAnother(program: string, file: string | undefined): boolean {
  if (file === undefined) return false;
  const found = program.includes("/") ? program : (findOnPath(program) ?? file);
  return isStandIn(found, file);
}

function absoluteProgram(path: string): string | undefined {
  return isAbsolute(path) && isProgram(path) ? path : undefined;
}

function filesOf(names: readonly string[]): readonly string[] | undefined {
  const files = names.map(programFile);
  return files.includes(undefined) ? undefined : files.flatMap((found) => found ?? []);
}

/** Enough for the interpreter, and for the command in a version manager's shim. */
const headBytes = 4096;

/** The start of a script; `undefined` for a binary. An unreadable file may be a script. */
function scriptIn(file: string): string | undefined {
  let handle: number | undefined;
  try {
    handle = openSync(file, "r");
    const head = Buffer.alloc(headBytes);
    const text = head.toString("latin1", 0, readSync(handle, head, 0, headBytes, 0));
    return text.startsWith("#!") ? text : undefined;
  } catch {
    return "";
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

const interpreters: Readonly<Record<Language, RegExp>> = {
  python: /^(python|pypy)[\d.]*$/,
  perl: /^perl[\d.]*$/,
  ruby: /^ruby[\d.]*$/,
  node: /^(node|nodejs)$/,
};
const mentions: Readonly<Record<Language, RegExp>> = {
  python: /python|pypy|pyenv/,
  perl: /perl/,
  ruby: /ruby|rbenv/,
  node: /node/,
};
const languages: readonly Language[] = ["python", "perl", "ruby", "node"];

/** A shell script may start an interpreter, as shims do, and then names the language. */
function languagesOf(name: string, script: string | undefined): readonly Language[] {
  if (script === undefined) return languages.filter((language) => interpreters[language].test(name));
  const [line = ""] = script.split("\n", 1);
  const text = /sh\s*$|sh\s+-\w+\s*$/.test(line) ? script : line;
  const named = languages.filter((language) => mentions[language].test(text));
  return script === "" || /\/(asdf|mise)\b|\basdf exec/.test(text) ? languages : named;
}
