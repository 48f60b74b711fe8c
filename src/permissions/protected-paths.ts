import type { DecisionContext, ProtectedPaths } from "../core/permission.ts";
import { type Homes, namedPlaces } from "./named-places.ts";
import { folded, isInside, plain } from "./path-names.ts";

/** Everything by which a protected path is known. */
export type KnownPlaces = Homes &
  Pick<DecisionContext, "cwd" | "reached" | "repositories"> & {
    /** Of the repositories around the paths of the call. */
    readonly around?: ProtectedPaths | undefined;
  };

/** Places that start programs or configure Tinman, wherever a repository lies; also those of its submodules. */
const closedAnywhere = [
  /\/\.git\/((modules|worktrees)\/(.+\/)?)?(hooks(\/|$)|config(\.worktree)?$)/,
  /\/\.tinman(\/|$)/,
  /^\/proc\/[^/]+\/(task\/[^/]+\/)?(environ|mem|maps|auxv|cmdline|fd|cwd|root)(\/|$)/,
];
/** Whatever is written into a repository may decide what git runs. */
const keptAnywhere = /\/\.git(\/|$)/;

/** Paths in the form in which they are compared: folded, and with a slash at the end. */
const comparable = new WeakMap<readonly string[], readonly string[]>();

function comparableOf(paths: readonly string[]): readonly string[] {
  const known = comparable.get(paths);
  if (known !== undefined) return known;
  const made = paths.map((path) => withSlash(folded(plain(path))));
  comparable.set(paths, made);
  return made;
}

function withSlash(path: string): string {
  return path === "/" ? path : `${path}/`;
}

function holds(places: readonly string[], path: string): boolean {
  return comparableOf(places).some((place) => path.startsWith(place));
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
  if (places.some(({ closed }) => holds(closed, compared))) return true;
  if (closedAnywhere.some((pattern) => pattern.test(name))) return true;
  if (use === "read") return false;
  if (keptAnywhere.test(name) || places.some(({ kept }) => holds(kept, compared))) return true;
  return places.some(
    ({ programs }) => holds(programs, compared) && !programs.some((place) => worksIn(path, place, known)),
  );
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
  const lastName = plain(written).split("/").at(-1) ?? "";
  return way.slice(0, -1).find((link) => link.endsWith(`/${lastName}`) && reached?.links.includes(link) === true);
}

/** The first of these places that is a folder or lies in it; the folder in the form in which paths are compared. */
function placeIn(folder: string, places: readonly string[]): string | undefined {
  const at = comparableOf(places).findIndex((place) => place.startsWith(folder));
  return at === -1 ? undefined : places[at];
}

/** A protected place that is used with all of a folder; `move`: that is taken away with it. */
export function protectedIn(folder: string, known: KnownPlaces, use: "read" | "write" | "move"): string | undefined {
  const path = plain(folder);
  if (isInside(path, "/proc")) return "the environments of processes";
  if (/\/\.git(\/(modules|worktrees)(\/.*)?)?$/i.test(path)) return "the configuration of git";
  const compared = withSlash(folded(path));
  for (const { closed, kept, programs, links } of homePlacesOf(known)) {
    const lists = use === "read" ? [closed] : [closed, kept, programs, links];
    for (const places of lists) {
      const found = placeIn(compared, places);
      if (found !== undefined) return found;
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
