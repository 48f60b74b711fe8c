import { posix } from "node:path";
import { isBuilt } from "../core/build-folders.ts";
import type { CommandPart, Lookup, Touch } from "../core/permission.ts";
import { unescaped } from "./arg.ts";
import { classed } from "./parts.ts";

/**
 * What the parts of a command change for the parts behind them. What is looked up before the command runs says nothing about
 * a path behind a new link, a name that was not there, or a repository and a program that the command makes itself.
 */
export interface MovedPaths {
  /** The same part, `high` when it uses what an earlier one may have changed; and what it changes is kept. */
  guard(part: CommandPart, changes?: { readonly makesLinks?: boolean; readonly keepsNames?: boolean }): CommandPart;
  /** Told of parts that may run at the same time as others, in another order, or again. */
  overlaps(): void;
  /** Whether paths may lead elsewhere afterwards. */
  readonly makesLinks: boolean;
  /** For a second look, in which the order does not count; `undefined` when there is no need for it. */
  readonly again: MovedPaths | undefined;
}

interface Changes {
  /** Links, or folders that may hold some. */
  links: boolean;
  /** Such as take the place of folders that builds fill. */
  outputs: boolean;
  /** Any file. */
  files: boolean;
  /** Which files there are. */
  names: boolean;
  /** Files that may make a repository of a folder. */
  repositories: boolean;
  /** Files by which version managers choose programs. */
  versions: boolean;
}

const partOfRepository = /\/(HEAD|config|objects|refs|commondir|\.git)(\/|$)/i;
const versionFile = /(?:^|[/.-])(?:tool-?versions?|prototools|asdfrc|toolchain|mise|\w+-version)(?:\.\w+)*$/i;
/** Where git would write, it writes whatever was changed. */
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
      ? { links: false, outputs: false, files: false, names: false, repositories: false, versions: false }
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
      changes.versions ||= places.some(({ path }) => versionFile.test(path));
      const asked = runs ? { ...part, touches: [...part.touches, searchPath] } : part;
      // A rule may allow what is high in itself, but not what was written a moment ago.
      if (why === undefined || (part.class === "high" && script === undefined)) return asked;
      return classed(
        asked,
        "high",
        "moved-path",
        `${why}, which an earlier part of the command may have changed; it can run by itself`,
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

/** A word of a program that is not understood which names a file that an earlier part has written. */
function writtenWord(part: CommandPart, written: ReadonlySet<string>, cwd: string): string | undefined {
  if (part.class !== "high" || written.size === 0) return undefined;
  return part.words?.find((word) => word !== undefined && written.has(posix.resolve(cwd, word)));
}

function whyChanged({ touches }: CommandPart, changes: Changes, cwd: string): string | undefined {
  for (const { use, lookup, class: accessClass } of touches) {
    const { what, path } = lookup;
    if (what === "search-path" && changes.versions && lookup.from !== undefined) return `runs ${path}`;
    if (what === "output-links" && !changes.outputs) continue;
    if (askNoFile.has(what)) continue;
    // What git itself puts into the working tree changes nothing about its settings.
    if (use === "git" && accessClass === "read" && changes.repositories) return `uses git in ${path}`;
    if (changes.links && !(what === "path" && path === cwd) && use !== "git") return `uses ${path}`;
    // What was put into a build folder meanwhile is what builds put there.
    const isMadeAgain = what === "unsaved" && isBuilt(unescaped(path), cwd);
    if (!changes.names || !namesAreAsked.has(what) || isMadeAgain) continue;
    return what === "unsaved" ? `deletes ${unescaped(path)}` : `takes names from ${path}`;
  }
  return undefined;
}
