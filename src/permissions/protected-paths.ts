import type { DecisionContext, ProtectedPaths } from "../core/permission.ts";
import { type Homes, namedPlaces } from "./named-places.ts";
import { folded, isInside, plain } from "./path-names.ts";

/** Everything by which a protected path is known. */
export type KnownPlaces = Homes &
  Pick<DecisionContext, "cwd" | "reached" | "repositories"> & {
    /** Of the repositories around the paths of the call. */
    readonly around?: ProtectedPaths | undefined;
  };

/** Places that start programs, configure Tinman or hold keys, wherever they are; also those of submodules. */
const closedAnywhere = [
  /\/\.git\/((modules|worktrees)\/(.+\/)?)?(hooks(\/|$)|config(\.worktree)?$)/,
  /\/\.tinman(\/|$)/,
  /^\/proc\/[^/]+\/(task\/[^/]+\/)?(environ|mem|maps|smaps|smaps_rollup|numa_maps|stack|map_files|auxv|cmdline|fd|cwd|root)(\/|$)/,
  /^\/etc\/ssh\/ssh_host_[^/]*key$/,
  /^\/dev\/((sd|hd|vd|xvd)[a-z]+\d*|nvme\d\w*|mmcblk\w+|dm-\d+|md\d+|loop\d+|r?disk\d\w*)$/,
];
/** Whatever is written into a repository may decide what git runs. */
const keptAnywhere = /\/\.git(\/|$)/;
/** Folders in a home that hold nothing themselves. All other names with a dot there are settings of some program. */
const harmlessDots = new Set([".cache", ".config", ".local", ".npm", ".tmp", ".trash"]);

/** A list of places by the paths in which they are compared: folded, each with a slash at the end. */
interface Comparable {
  readonly places: ReadonlyMap<string, string>;
  /** By each folder around a place, the first place in it. */
  readonly below: ReadonlyMap<string, string>;
  /** Characters of the longest place. */
  readonly longest: number;
}

/** Every path of every command is compared with every list, so a list is taken apart once. */
const comparable = new WeakMap<readonly string[], Comparable>();

function comparableOf(list: readonly string[]): Comparable {
  const known = comparable.get(list);
  if (known !== undefined) return known;
  const places = new Map<string, string>();
  const below = new Map<string, string>();
  let longest = 0;
  for (const place of list) {
    const path = withSlash(folded(plain(place)));
    longest = Math.max(longest, path.length);
    places.set(path, place);
    for (let end = path.indexOf("/"); end !== -1; end = path.indexOf("/", end + 1)) {
      const folder = path.slice(0, end + 1);
      if (!below.has(folder)) below.set(folder, place);
    }
  }
  const made = { places, below, longest };
  comparable.set(list, made);
  return made;
}

function withSlash(path: string): string {
  return path === "/" ? path : `${path}/`;
}

/** The first of these places, from the root on, that a path (in the form in which paths are compared) is or lies in. */
function placeAround(list: readonly string[], path: string): string | undefined {
  if (list.length === 0) return undefined;
  const { places, longest } = comparableOf(list);
  for (let end = path.indexOf("/"); end !== -1 && end < longest; end = path.indexOf("/", end + 1)) {
    const found = places.get(path.slice(0, end + 1));
    if (found !== undefined) return found;
  }
  return undefined;
}

function holds(places: readonly string[], path: string): boolean {
  return placeAround(places, path) !== undefined;
}

/** What was found on the machine, apart from what is known by name. */
function repositoriesOf({ repositories, around }: KnownPlaces): readonly ProtectedPaths[] {
  return [repositories, around].filter((found) => found !== undefined);
}

function homePlacesOf(known: KnownPlaces): readonly ProtectedPaths[] {
  return known.reached === undefined ? [namedPlaces(known)] : [namedPlaces(known), known.reached];
}

/** Whether a canonical path needs an explicit yes for this use. */
export function isProtected(path: string, known: KnownPlaces, use: "read" | "write"): boolean {
  const name = folded(plain(path));
  const compared = withSlash(name);
  const places = [...homePlacesOf(known), ...repositoriesOf(known)];
  if (places.some(({ closed }) => isClosed(closed, path, compared, known))) return true;
  if (closedAnywhere.some((pattern) => pattern.test(name))) return true;
  if (use === "read") return false;
  if (keptAnywhere.test(name) || places.some(({ kept }) => holds(kept, compared))) return true;
  if (isDotFile(name, known)) return true;
  return places.some(
    ({ programs }) => holds(programs, compared) && !programs.some((place) => worksIn(path, place, known)),
  );
}

function isClosed(closed: readonly string[], path: string, compared: string, known: KnownPlaces): boolean {
  const place = placeAround(closed, compared);
  if (place === undefined) return false;
  const { agents } = namedPlaces(known);
  if (!agents.has(place) || !isInside(known.cwd, place) || !isInside(path, known.cwd)) return true;
  // A login below it stays closed.
  return closed.some((other) => !agents.has(other) && isInside(path, other));
}

/** `~/.anythingrc`: some program reads it when it starts. Where the home is the workspace, these are its ordinary files. */
function isDotFile(name: string, known: KnownPlaces): boolean {
  return namedPlaces(known).homes.some((home) => {
    if (!name.startsWith(`${home}/.`) || isInside(home, folded(known.cwd))) return false;
    const rest = name.slice(home.length + 1);
    return !rest.includes("/") && !harmlessDots.has(rest) && !isInside(folded(known.cwd), name);
  });
}

/** Whether the session is about the programs in a place. A home that is a workspace may have a `bin` like any other. */
function worksIn(path: string, place: string, { cwd, home, loginHome }: KnownPlaces): boolean {
  if (!isInside(path, place)) return false;
  if (isInside(cwd, place)) return true;
  return [home, loginHome].some(
    (folder) => folder !== undefined && place === plain(`${folder}/bin`) && isInside(folder, cwd),
  );
}

/** A link that a protected place depends on, when a way (its links, and then its end) shows that this very link is named. */
export function namedLink(written: string, way: readonly string[], { reached }: KnownPlaces): string | undefined {
  const needed = way.slice(0, -1).filter((link) => reached?.links.includes(link) === true);
  if (needed.length === 0) return undefined;
  const lastName = plain(written).split("/").at(-1) ?? "";
  return needed.find((link) => link.endsWith(`/${lastName}`));
}

/** The first of these places that is a folder or lies in it; the folder in the form in which paths are compared. */
function placeIn(folder: string, list: readonly string[]): string | undefined {
  return list.length === 0 ? undefined : comparableOf(list).below.get(folder);
}

/** A protected place that is used with all of a folder; `move`: that is taken away with it. */
export function protectedIn(folder: string, known: KnownPlaces, use: "read" | "write" | "move"): string | undefined {
  const path = plain(folder);
  if (isInside(path, "/proc")) return "the environments of processes";
  if (path === "/etc/ssh") return "the keys of the host";
  if (/\/\.git(\/(modules|worktrees)(\/.*)?)?$/i.test(path)) return "the configuration of git";
  const compared = withSlash(folded(path));
  const { agents } = namedPlaces(known);
  const isWorkplace = (place: string): boolean => agents.has(place) && isInside(known.cwd, place);
  for (const { closed, kept, programs, links } of homePlacesOf(known)) {
    const lists = use === "read" ? [closed] : [closed, kept, programs, links];
    for (const places of lists) {
      const found = placeIn(compared, places);
      if (found === undefined || isWorkplace(found)) continue;
      return found;
    }
  }
  for (const { closed, kept } of repositoriesOf(known)) {
    // From above, a repository is read as a whole every day; what counts is whether somebody points at its own folder.
    const found = holds(kept, compared) ? placeIn(compared, closed) : undefined;
    if (found !== undefined) return found;
    if (use !== "move") continue;
    const hooks = placeIn(
      compared,
      kept.filter((place) => !keptAnywhere.test(folded(place))),
    );
    if (hooks !== undefined) return hooks;
  }
  return undefined;
}

/** Canonical paths whose content is shown only after an explicit yes. Where searches pass over `.git`, these are left out. */
export function protectedPlaces(known: Omit<KnownPlaces, "cwd">): readonly string[] {
  const { reached, repositories } = known;
  const found = (repositories?.closed ?? []).filter((place) => !keptAnywhere.test(folded(place)));
  return [...namedPlaces(known).closed, ...(reached?.closed ?? []), ...found];
}
