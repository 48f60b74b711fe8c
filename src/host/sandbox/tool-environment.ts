import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { Containment } from "../../engine/containment.ts";
import { liesBelow } from "../files/where-it-leads.ts";

type Environment = Readonly<Record<string, string>>;

interface Cache {
  readonly variable: string;
  /** The default location below the home. */
  readonly usual: string;
}

/**
 * Programs that fail without a writable cache. They get one in the session's temp folder, because a contained command
 * must not write code that the program later runs outside.
 */
const caches: readonly Cache[] = [
  { variable: "GOCACHE", usual: ".cache/go-build" },
  { variable: "UV_CACHE_DIR", usual: ".cache/uv" },
  { variable: "CCACHE_DIR", usual: ".cache/ccache" },
  { variable: "ZIG_GLOBAL_CACHE_DIR", usual: ".cache/zig" },
  { variable: "npm_config_cache", usual: ".npm" },
  { variable: "DOTNET_CLI_HOME", usual: ".dotnet" },
  { variable: "GRADLE_USER_HOME", usual: ".gradle" },
];

/** The user's own caches, which such a program still reads. */
const readCaches: readonly (Cache & { readonly with: string })[] = [
  { variable: "NUGET_PACKAGES", usual: ".nuget/packages", with: "DOTNET_CLI_HOME" },
  { variable: "GRADLE_RO_DEP_CACHE", usual: ".gradle/caches", with: "GRADLE_USER_HOME" },
];

/** Since Go 1.18, a build asks git for the version of the code. */
const goWithVersions = 18;

/**
 * Go mistakes the empty folder that blocks a new `.git` for a repository, asks git about it, and fails. `missing`: the
 * blocked paths.
 */
export function goFlagsFor(missing: readonly string[], cwd: string, flags = ""): string | undefined {
  const git = missing.find((path) => basename(path) === ".git" && liesBelow(cwd, dirname(path)));
  if (git === undefined || flags.includes("-buildvcs")) return undefined;
  for (let at = cwd; liesBelow(at, dirname(git)); at = dirname(at)) {
    try {
      const version = /^go 1\.(\d+)/m.exec(readFileSync(join(at, "go.mod"), "utf8"))?.[1];
      return Number(version) >= goWithVersions ? `${flags} -buildvcs=false`.trim() : undefined;
    } catch {
      // The module's root is further up.
    }
  }
  return undefined;
}

interface Surroundings extends Pick<Containment, "writable" | "network" | "repositories"> {
  readonly goFlags: string | undefined;
}

/** Additional variables of contained commands. */
export function toolEnvironment(
  environment: Environment,
  temp: string,
  { writable, network, repositories, goFlags }: Surroundings,
): Environment {
  const home = environment.HOME ?? homedir();
  const canWrite = (path: string) => writable.some((folder) => liesBelow(path, folder));
  const own = caches
    .filter(({ variable, usual }) => !canWrite(environment[variable] ?? join(home, usual)))
    .map(({ variable }) => [variable, join(temp, "caches", variable.toLowerCase())] as const);
  const moved = new Set<string>(own.map(([variable]) => variable));
  const read = readCaches
    .filter(({ variable, usual, with: by }) => moved.has(by) && !environment[variable] && existsSync(join(home, usual)))
    .map(({ variable, usual }) => [variable, join(home, usual)] as const);
  return {
    TMPDIR: temp,
    TMP: temp,
    TEMP: temp,
    ...Object.fromEntries([...own, ...read]),
    ...(goFlags === undefined ? {} : { GOFLAGS: goFlags }),
    // Offline, npm would retry for a minute before it fails.
    ...(network === "session" ? { npm_config_fetch_retries: "0" } : {}),
    // Husky 8 fails an installation in which it cannot write hooks. For git, it must not skip them.
    ...(repositories.length === 0 ? { HUSKY: "0" } : {}),
    // As root, tar restores file owners by default. That fails here, because the sandbox has only one user.
    ...(process.getuid?.() === 0 ? { TAR_OPTIONS: "--no-same-owner" } : {}),
  };
}
