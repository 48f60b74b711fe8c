import { posix } from "node:path";
import { isBuilt } from "../../engine/build-folders.ts";
import type { CommandPart, Lookup, Touch } from "../../engine/permission.ts";
import { classed } from "../parts.ts";
import { unescaped } from "../programs/arg.ts";

/**
 * How parts of a command affect later parts. Lookups before the command runs say nothing about paths through new links,
 * new names, or repositories and programs that the command itself creates.
 */
export interface MovedPaths {
  /**
   * Returns the part, raised to `high` if it uses what an earlier part may have changed. Records the part's own
   * changes.
   */
  guard(part: CommandPart, changes?: { readonly makesLinks?: boolean; readonly keepsNames?: boolean }): CommandPart;
  /** Marks that parts may run concurrently, in another order, or repeatedly. */
  overlaps(): void;
  /** Whether paths may resolve differently afterwards. */
  readonly makesLinks: boolean;
  /** For a second pass that ignores the order; `undefined` if none is needed. */
  readonly again: MovedPaths | undefined;
}

interface Changes {
  /** Links, or folders that may contain some. */
  links: boolean;
  /** Links that replace build output folders. */
  outputs: boolean;
  /** Any file. */
  files: boolean;
  /** Which files exist. */
  names: boolean;
  /** Files that may turn a folder into a repository. */
  repositories: boolean;
  /** Files that make version managers choose programs. */
  versions: boolean;
  /** Files that programs obey even to print their version. */
  settings: boolean;
  /** Modules that Python may load. */
  modules: boolean;
}

const partOfRepository = /\/(HEAD|config|objects|refs|commondir|\.git)(\/|$)/i;
const versionFile = /(?:^|[/.-])(?:tool-?versions?|prototools|asdfrc|toolchain|mise|\w+-version)(?:\.\w+)*$/i;
/** Lookups that earlier changes to files do not affect. */
const askNoFile: ReadonlySet<Lookup["what"]> = new Set(["program", "search-path", "variable", "work-tree"]);
const namesAreAsked: ReadonlySet<Lookup["what"]> = new Set(["dashes", "names-below", "tracked-names", "unsaved"]);
const searchPath: Touch = {
  use: "run",
  class: "read",
  lookup: { what: "search-path", path: "PATH" },
  recursive: false,
};

export function createMovedPaths(cwd: string, known?: Changes): MovedPaths {
  const changes: Changes =
    known === undefined
      ? {
          links: false,
          outputs: false,
          files: false,
          names: false,
          repositories: false,
          versions: false,
          settings: false,
          modules: false,
        }
      : { ...known };
  let isOrdered = true;
  const written = new Set<string>();
  return {
    guard(part, { makesLinks = false, keepsNames = false } = {}) {
      const script = writtenWord(part, written, cwd);
      const why = script === undefined ? whyChanged(part, changes, cwd) : `uses ${script}`;
      const runs = changes.files && part.touches.some(({ use }) => use === "run");
      const places = part.touches.filter(({ use }) => use === "write").map(({ lookup }) => lookup);
      for (const { path } of places) written.add(path);
      changes.files ||= places.length > 0;
      changes.names ||= places.length > 0 && !keepsNames;
      changes.links ||= makesLinks;
      changes.outputs ||= makesLinks && places.some(({ path }) => isBuilt(path, cwd));
      changes.repositories ||=
        makesLinks || places.some(({ what, path }) => what === "matches" || partOfRepository.test(path));
      changes.settings ||= part.touches.some(({ use, recursive, lookup }) => {
        return (
          use === "write" &&
          (recursive ||
            lookup.what !== "path" ||
            /\/(?:\.npmrc|go\.(?:mod|work)|rust-toolchain(?:\.toml)?)$/.test(lookup.path))
        );
      });
      // Builds and installers run the project's code anyway.
      const isProject = part.touches.some(({ use }) => use === "project");
      changes.modules ||= !isProject && part.touches.some((touch) => mayMakeModule(touch, cwd));
      changes.versions ||= places.some(({ path }) => versionFile.test(path));
      const asked = runs ? { ...part, touches: [...part.touches, searchPath] } : part;
      // A rule may allow a `high` part, but not a script that this command has just written.
      if (why === undefined || (part.class === "high" && script === undefined)) return asked;
      return classed(
        asked,
        "high",
        "moved-path",
        `${why}, which an earlier part of the command may have changed; run it as a separate command`,
      );
    },
    overlaps: () => {
      isOrdered = false;
    },
    get makesLinks() {
      return changes.links;
    },
    get again() {
      const isNew = known === undefined && changes.files;
      return isOrdered || !isNew ? undefined : createMovedPaths(cwd, changes);
    },
  };
}

function mayMakeModule({ use, lookup: { what, path }, recursive }: Touch, cwd: string): boolean {
  if (use !== "write" || isBuilt(unescaped(path), cwd)) return false;
  return what === "matches" || (what === "path" && (recursive || /\.(?:py[cdw]?|so|dylib)$/.test(path)));
}

/** A word of an unknown call that names a file written by an earlier part. */
function writtenWord(part: CommandPart, written: ReadonlySet<string>, cwd: string): string | undefined {
  if (part.class !== "high" || written.size === 0) return undefined;
  return part.words?.find((word) => word !== undefined && written.has(posix.resolve(cwd, word)));
}

function whyChanged({ touches }: CommandPart, changes: Changes, cwd: string): string | undefined {
  for (const { use, lookup, class: accessClass } of touches) {
    const { what, path } = lookup;
    if (what === "existing" && use === "read" && changes.settings) return `obeys ${path}`;
    if (what === "shadowing-modules" && changes.modules) return `loads modules in ${path}`;
    if (what === "search-path" && changes.versions && lookup.from !== undefined) return `runs ${path}`;
    if (what === "output-links" && !changes.outputs) continue;
    if (askNoFile.has(what)) continue;
    // Files that git writes into the working tree do not change its settings.
    if (use === "git" && accessClass === "read" && changes.repositories) return `uses git in ${path}`;
    if (changes.links && !(what === "path" && path === cwd) && use !== "git") return `uses ${path}`;
    // Files written to a build folder meanwhile are build output.
    const isBuildOutput = what === "unsaved" && isBuilt(unescaped(path), cwd);
    if (!changes.names || !namesAreAsked.has(what) || isBuildOutput) continue;
    return what === "unsaved" ? `deletes ${unescaped(path)}` : `takes names from ${path}`;
  }
  return undefined;
}
