import type { DecisionContext, ProtectedPaths } from "../../engine/permission.ts";
import { type Homes, namedPlaces } from "./named-places.ts";
import { folded, isInside, plain } from "./path-names.ts";

/** Everything needed to recognise a protected path. */
export type KnownPlaces = Homes &
  Pick<DecisionContext, "cwd" | "reached" | "repositories"> & {
    /** Protected paths of the repositories around the call's paths. */
    readonly around?: ProtectedPaths | undefined;
  };

/** Places in any folder that start programs, configure Tinman or hold keys, including those of submodules. */
const closedAnywhere = [
  /\/\.git\/((modules|worktrees)\/(.+\/)?)?(hooks(\/|$)|config(\.worktree)?$)/,
  /\/\.tinman(\/|$)/,
  /^\/proc\/[^/]+\/(task\/[^/]+\/)?(environ|mem|maps|smaps|smaps_rollup|numa_maps|stack|map_files|auxv|cmdline|fd|cwd|root)(\/|$)/,
  /^\/run\/user\/\d+\/(keyring|gnupg|podman|docker\.sock)/,
  /^\/etc\/ssh\/ssh_host_[^/]*key$/,
  /^\/dev\/(tty(\d+|[sv]\w+)?|pts\/[^/]+|console|vcs[au]?\d*|hvc\d+)$/,
  /^\/dev\/((sd|hd|vd|xvd)[a-z]+\d*|(nbd|rbd|bcache|zram|sg|hidraw|sr|pmem|mtd)\d\w*|nvme\d\w*|mmcblk\w+|dm-\d+|md\d+|loop\d+|r?disk\d\w*)$/,
];
/** Anything written into a repository may decide what git runs. */
const keptAnywhere = /\/\.git(\/|$)/;
/** Files that name programs for agents to start, protected in every folder. */
const startsServers = /\/\.mcp\.json$/;
/** Files in a home that shells run or source at start-up: their settings, prompts, themes and plug-ins. */
const startsShell =
  /^\.((bash|zsh|ksh|mksh|csh|tcsh|fish|sh|profile|p10k|zim|zpre|zinit|zplug|zgen|antigen|antidote|fzf|iterm2_shell|oh-my|liquidprompt|starship|spaceship|powerlevel|git-prompt|git-completion|dir_?colors|xinit|xsession|xprofile|xserver)[\w.-]*|[\w-]+\.(zsh|bash|sh|fish|ksh|csh)|(shell)?(aliases|exports|functions|prompt|theme|plugins|extra|paths?)(\.local)?|(shell|common|local)rc)$/;
/** Dot folders in a home that are not settings themselves. Every other dot name there is some program's settings. */
const harmlessDots = new Set([".cache", ".config", ".local", ".npm", ".tmp", ".trash"]);

/** A list of places keyed by their comparison form: folded, with a trailing slash. */
interface Comparable {
  readonly places: ReadonlyMap<string, string>;
  /** For each folder around a place, the first place in it. */
  readonly below: ReadonlyMap<string, string>;
  /** Characters of the longest place. */
  readonly longest: number;
}

/** Every path of every command is compared with every list, so lists are indexed once. */
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

/** The outermost of these places that contains a path (in comparison form) or equals it. */
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

/** Places found on the machine rather than known by name. */
function repositoriesOf({ repositories, around }: KnownPlaces): readonly ProtectedPaths[] {
  return [repositories, around].filter((found) => found !== undefined);
}

function homePlacesOf(known: KnownPlaces): readonly ProtectedPaths[] {
  return known.reached === undefined ? [namedPlaces(known)] : [namedPlaces(known), known.reached];
}

/** The folders of users other than ours, in comparison form. */
const othersHome = /^(?:\/(?:home|users|var\/home|export\/home)\/[^/]+|\/(?:var\/)?root)(?=\/|$)/;
const othersHomes = /^\/(?:home|users|var\/home|export\/home)$/;
/** Places that no project has in its own folder. */
const onlyInHomes =
  /^\/\.(?:ssh|gnupg|aws|azure|kube|config\/gcloud|docker\/config\.json|netrc|git-credentials|pgpass|\w+_history|password-store|mozilla)(?:\/|$)/;

/** A path (in comparison form) in another user's home, and the places known there, as if that home were ours. */
function asOurs(
  name: string,
  known: KnownPlaces,
): { readonly home: string; readonly path: string; readonly known: KnownPlaces } | undefined {
  const home = othersHome.exec(name)?.[0];
  if (home === undefined || namedPlaces(known).homes.includes(home)) return undefined;
  const [rest, cwd] = [name.slice(home.length), folded(plain(known.cwd))];
  // A container's workspace may be named like a home.
  if (isInside(home, cwd) && !onlyInHomes.test(rest)) return undefined;
  const { repositories: _, around: __, reached: ___, ...ours } = known;
  const works = isInside(cwd, home) ? known.home + cwd.slice(home.length) : "/dev/null";
  return { home, path: known.home + rest, known: { ...ours, cwd: works } };
}

/** Whether a canonical path needs explicit approval for this use. */
export function isProtected(path: string, known: KnownPlaces, use: "read" | "write"): boolean {
  const name = folded(plain(path));
  const other = asOurs(name, known);
  if (other !== undefined && isProtected(other.path, other.known, use)) return true;
  const compared = withSlash(name);
  const places = [...homePlacesOf(known), ...repositoriesOf(known)];
  if (places.some(({ closed }) => isClosed(closed, path, compared, known))) return true;
  if (closedAnywhere.some((pattern) => pattern.test(name))) return true;
  if (use === "read") return false;
  if (keptAnywhere.test(name) || startsServers.test(name) || places.some(({ kept }) => holds(kept, compared)))
    return true;
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
  // Logins inside it stay closed.
  return closed.some((other) => !agents.has(other) && isInside(path, other));
}

/** Made by the prompt of zsh for each user, and sourced when a shell starts. */
const promptCache = /^\.cache\/p10k-/;

/** `~/.anythingrc`: some program reads it at start-up. If the home is the workspace, only the shell's count. */
function isDotFile(name: string, known: KnownPlaces): boolean {
  return namedPlaces(known).homes.some((home) => {
    if (!name.startsWith(`${home}/.`)) return false;
    const rest = name.slice(home.length + 1);
    if (promptCache.test(rest)) return true;
    if (isInside(home, folded(known.cwd))) return startsShell.test(rest);
    return !rest.includes("/") && !harmlessDots.has(rest) && !isInside(folded(known.cwd), name);
  });
}

/** Whether the session works on the programs in a place. A home that is the workspace can have its own `bin`. */
function worksIn(path: string, place: string, { cwd, home, loginHome }: KnownPlaces): boolean {
  if (!isInside(path, place)) return false;
  if (isInside(cwd, place)) return true;
  return [home, loginHome].some(
    (folder) => folder !== undefined && place === plain(`${folder}/bin`) && isInside(folder, cwd),
  );
}

/** The link that a written path names, if a protected place depends on it. `way`: the path's links, then its target. */
export function namedLink(written: string, way: readonly string[], { reached }: KnownPlaces): string | undefined {
  const needed = way.slice(0, -1).filter((link) => reached?.links.includes(link) === true);
  if (needed.length === 0) return undefined;
  const lastName = plain(written).split("/").at(-1) ?? "";
  return needed.find((link) => link.endsWith(`/${lastName}`));
}

/** The first of these places that is a folder (in comparison form) or inside it. */
function placeIn(folder: string, list: readonly string[]): string | undefined {
  return list.length === 0 ? undefined : comparableOf(list).below.get(folder);
}

/** A protected place that is used along with a whole folder; `move`: that is moved or deleted with it. */
export function protectedIn(folder: string, known: KnownPlaces, use: "read" | "write" | "move"): string | undefined {
  const path = plain(folder);
  if (isInside(path, "/proc")) return "process environments";
  if (path === "/etc/ssh") return "the host's keys";
  if (/\/\.git(\/(modules|worktrees)(\/.*)?)?$/i.test(path)) return "git's configuration";
  const name = folded(path);
  const other = asOurs(name, known);
  const inOther = other === undefined ? undefined : protectedIn(other.path, other.known, use);
  if (other !== undefined && inOther !== undefined) return inOther.replace(known.home, other.home);
  if (othersHomes.test(name) && !isInside(path, known.cwd)) return `${path}/*/.ssh`;
  const compared = withSlash(name);
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
    // Reading a whole repository from above is routine. Only naming its git folder counts.
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

/** Paths whose content needs explicit approval: canonical, or with `*` for any user. Leaves out `.git` folders, which searches skip anyway. */
export function protectedPlaces(known: Omit<KnownPlaces, "cwd">): readonly string[] {
  const { reached, repositories } = known;
  const found = (repositories?.closed ?? []).filter((place) => !keptAnywhere.test(folded(place)));
  const named = namedPlaces(known);
  return [...named.closed, ...named.others, ...(reached?.closed ?? []), ...found];
}
