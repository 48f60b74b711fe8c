import { readFileSync, realpathSync, statSync } from "node:fs";
import { mkdir, readFile, rename, unlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { capture } from "./capture.ts";
import { findOnPath, liesIn, pathFolders } from "./executables.ts";
import { isStandIn } from "./version-files.ts";

/** What is looked for, and how to ask for the version where it is not `--version`. */
const tools: Readonly<Record<string, readonly string[] | undefined>> = {
  git: undefined,
  node: undefined,
  npm: undefined,
  pnpm: undefined,
  yarn: undefined,
  bun: undefined,
  deno: undefined,
  python3: undefined,
  uv: undefined,
  go: ["version"],
  cargo: undefined,
  rustc: undefined,
  java: undefined,
  ruby: undefined,
  php: undefined,
  docker: undefined,
  make: undefined,
  cmake: undefined,
  gcc: undefined,
  clang: undefined,
  jq: undefined,
  rg: undefined,
  gh: undefined,
};

const probeLimitMs = 500;
const probeBytes = 4096;
/** A program that did not answer is asked again at the next starts, but not forever. */
const mostTries = 3;

/** Programs that answer for whichever version the current folder asks for. */
interface Tool {
  readonly name: string;
  /** As PATH has it: some programs do what the name says by which they are called. */
  readonly path: string;
  readonly realPath: string;
  /** Name, real path and what changes when it is replaced. */
  readonly key: string;
}

interface Known {
  /** Empty: it did not say. */
  readonly version: string;
  readonly tries: number;
}

interface Cache {
  /** The folders of PATH as they were, and the programs that were found in them. */
  readonly folders: string;
  readonly paths: Readonly<Record<string, string>>;
  /** By the key of the tool. */
  readonly versions: Readonly<Record<string, Known>>;
}

const emptyCache: Cache = { folders: "", paths: {}, versions: {} };

/** Changes when a program is added to a folder of PATH, removed, or put in another's place. */
function stateOf(folders: readonly string[]): string {
  return JSON.stringify(folders.map((folder) => [folder, statSync(folder, { throwIfNoEntry: false })?.mtimeMs]));
}

function searchPath(cwd: string, folders: readonly string[]): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of Object.keys(tools)) {
    const path = findOnPath(name, cwd, folders);
    if (path !== undefined) found[name] = path;
  }
  return found;
}

function identify(paths: Readonly<Record<string, string>>, cwd: string): readonly Tool[] {
  return Object.keys(tools).flatMap((name) => {
    const path = paths[name];
    if (path === undefined) return [];
    try {
      // What was found for another folder may lie in this one.
      if (liesIn(path, cwd)) return [];
      const realPath = realpathSync.native(path);
      const stats = statSync(realPath);
      return [{ name, path, realPath, key: `${name} ${realPath} ${stats.mtimeMs} ${stats.size}` }];
    } catch {
      return [];
    }
  });
}

async function readCache(file: string): Promise<Cache> {
  try {
    const { folders, paths, versions } = JSON.parse(await readFile(file, "utf8")) as Record<keyof Cache, unknown>;
    if (typeof folders !== "string" || !isObject(paths) || !isObject(versions)) return emptyCache;
    const known = Object.entries(versions).filter((entry): entry is [string, Known] => isKnown(entry[1]));
    const found = Object.entries(paths).filter((entry): entry is [string, string] => typeof entry[1] === "string");
    return { folders, paths: Object.fromEntries(found), versions: Object.fromEntries(known) };
  } catch {
    return emptyCache;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isKnown(value: unknown): value is Known {
  const { version, tries } = (value ?? {}) as Partial<Record<keyof Known, unknown>>;
  return typeof version === "string" && typeof tries === "number";
}

async function writeCache(file: string, cache: Cache): Promise<void> {
  const temporary = `${file}.${process.pid}-${Date.now()}.tmp`;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(temporary, JSON.stringify(cache), { mode: 0o600, flag: "wx" });
    await rename(temporary, file);
  } catch {
    await unlink(temporary).catch(() => undefined);
  }
}

/** Scripts of a package have their version beside them; starting Node to ask for it would be the slowest question of all. */
function packageVersion(tool: Tool): string {
  for (let folder = dirname(tool.realPath); folder !== dirname(folder); folder = dirname(folder)) {
    try {
      const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Record<
        string,
        unknown
      >;
      return name === tool.name && typeof version === "string" ? version : "";
    } catch {
      // Further up.
    }
  }
  return "";
}

/**
 * Whether asking could do more than answer, or give an answer that holds only here: a version manager's stand-in answers
 * for the current folder, and some of Apple's open a window that offers an installation.
 */
function mustNotBeAsked(tool: Tool): boolean {
  const choosesVersion = isStandIn(tool.path, tool.realPath) || basename(tool.realPath) === "corepack";
  return choosesVersion || (process.platform === "darwin" && dirname(tool.path) === "/usr/bin");
}

async function ask(tool: Tool, tries: number): Promise<Known> {
  if (tool.realPath === process.execPath) return { version: process.versions.node, tries };
  if (/\.[cm]?js$/.test(tool.realPath)) return { version: packageVersion(tool), tries: mostTries };
  if (mustNotBeAsked(tool)) return { version: "", tries: mostTries };
  // Not in the user's folder: files there can decide what some of these programs run or download.
  const answer = await capture(tool.path, tools[tool.name] ?? ["--version"], {
    cwd: "/",
    limitMs: probeLimitMs,
    maxBytes: probeBytes,
    environment: { GOTOOLCHAIN: "local" },
    withErrors: true,
  });
  return { version: answer?.code === 0 ? (/\d+(?:\.\d+)+/.exec(answer.text)?.[0] ?? "") : "", tries };
}

/**
 * The developer tools on PATH that do not lie in `cwd`, as `name version`, or `name` where the version is not known. Versions are kept in
 * `cacheFile`: as long as the programs are the same nothing is started to ask for them. Never rejects.
 */
export async function toolVersions(cacheFile: string, cwd: string): Promise<readonly string[]> {
  const { folders: lastFolders, paths: lastPaths, versions } = await readCache(cacheFile);
  const searched = pathFolders(cwd);
  const folders = stateOf(searched);
  const paths = folders === lastFolders ? lastPaths : searchPath(cwd, searched);
  const found = identify(paths, cwd);
  const isSettled = (known: Known | undefined) =>
    known !== undefined && (known.version !== "" || known.tries >= mostTries);
  const unknown = found.filter((tool) => !isSettled(versions[tool.key]));
  const answers = await Promise.all(
    unknown.map(
      async (tool): Promise<[string, Known]> => [tool.key, await ask(tool, (versions[tool.key]?.tries ?? 0) + 1)],
    ),
  );
  const fresh: Record<string, Known> = Object.fromEntries(answers);
  if (unknown.length > 0 || folders !== lastFolders) {
    await writeCache(cacheFile, { folders, paths, versions: { ...versions, ...fresh } });
  }
  return found.map((tool) => `${tool.name} ${(fresh[tool.key] ?? versions[tool.key])?.version ?? ""}`.trim());
}
