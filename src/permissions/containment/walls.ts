import type { Containment } from "../../engine/containment.ts";
import type { AccessClass, DecisionContext, Found, Touch } from "../../engine/permission.ts";
import { lookupKey } from "../../engine/permission.ts";
import { namedPlaces } from "../places/named-places.ts";
import { liesIn } from "../places/path-names.ts";
import { type Piece, picksNames } from "./containable.ts";
import { isLocalRequest, needOf } from "./needs.ts";

export interface Situation {
  readonly context: DecisionContext;
  readonly sandbox: NonNullable<DecisionContext["sandbox"]>;
  readonly found: Found;
  readonly class: AccessClass;
  /** The effect of a part is unknown. */
  readonly isUnknown: boolean;
}

/** Sub-commands of git that write a repository's settings. They run without hooks, because a hook could change settings. */
const changesSettings = /^(?:branch|checkout|switch|submodule|worktree|remote|init|clone|sparse-checkout)$/;
/** Sub-commands whose hooks check commits, so they must run, and get nothing that other parts need. */
const checksCommits = /^(?:commit|am|cherry-pick|revert)$/;
/** Sub-commands that write whatever files a patch names, instead of those that commits have. */
const appliesPatches = /^(?:apply|am)$/;

/**
 * The walls around a command. All its parts share them. So if a part is unknown or runs the project's code, the command
 * doesn't get what only other parts need.
 */
export function wallsFor(pieces: readonly Piece[], situation: Situation): Containment {
  const { context, sandbox, isUnknown } = situation;
  const { cwd } = context;
  const reads = situation.class === "read";
  const runsCode = isUnknown || pieces.some(isProjectCode);
  const isShared = (piece: Piece): boolean => needOf(piece.part.words ?? [])?.runsScripts === true;
  const ownCode = isUnknown ? [] : pieces.filter(isShared);
  const beside = pieces.some(runsChecks) ? pieces.filter((piece) => !usesNetwork(piece)) : pieces;
  const entitled = runsCode ? ownCode : beside;
  const needed = entitled.flatMap(({ part }) => (part.words === undefined ? [] : (needOf(part.words) ?? [])));
  const below = (names: string | undefined): readonly string[] =>
    (names?.split(" ") ?? []).map((name) => `${context.home}/${name}`);
  const git = runsCode ? [] : pieces.filter(isGit);
  const repositories = repositoryWalls(git, situation);
  // Git can run hooks, so it gets only the folders that its command names. Other programs get the folders of their files.
  const isTrusted = !runsCode && git.length === 0;
  const elsewhere = isTrusted ? foldersOf(touchedElsewhere(pieces, situation, ["write", "delete"])) : [];
  const named = touchedElsewhere(git, situation, ["write", "delete"]);
  const caches = needed.flatMap(({ caches: names }) => below(names));
  const kept = keptPlaces(context);
  const startUp = kept.filter((place) => caches.some((cache) => liesIn(place, cache, context.foldsCase)));
  return {
    writable: [sandbox.temp, ...(reads ? [] : [cwd, ...elsewhere])],
    repositories: reads ? [] : repositories.writable,
    newFolders: reads ? [] : named,
    caches: [...(reads ? [] : sandbox.writable), ...caches],
    outputs: isTrusted || reads ? [] : redirectedTo(pieces, situation),
    kept: reads ? [] : [...kept, ...repositories.kept],
    barred: reads
      ? []
      : [
          ...new Set([
            ...repositories.barred,
            ...startUp,
            ...repositories.startsPrograms,
            ...filled(pieces, situation),
          ]),
        ],
    unwanted: reads ? [] : repositories.unwanted,
    // With the network, git reads logins, which hooks of the project must not see.
    runsHooks: !repositories.isSetting && !entitled.some((piece) => isGit(piece) && usesNetwork(piece)),
    hidden: hiddenPlaces(context),
    shown: [
      ...[...context.readable, ...needed.flatMap(({ logins }) => below(logins))],
      ...(runsCode ? [] : readInHomes(pieces, situation)),
    ],
    network: networkFor(entitled, situation),
    processes: sandbox.hasServers && needed.some(({ processes }) => processes === true) ? "session" : "own",
  };
}

function networkFor(pieces: readonly Piece[], { sandbox }: Situation): Containment["network"] {
  if (sandbox.network === "all") return "host";
  const asking = pieces.filter(usesNetwork);
  const isWithin = sandbox.hasServers && asking.every(({ part }) => isLocalRequest(part.words ?? []));
  return asking.length === 0 || isWithin ? "session" : "host";
}

/**
 * Whether a part runs code of the project: a build, a test, an installer with scripts. A package manager that only looks
 * up or downloads obeys the project's files too, but runs none of them.
 */
function isProjectCode({ part }: Piece): boolean {
  const need = needOf(part.words ?? []);
  if (need?.runsScripts === true) return true;
  return need?.network !== true && part.touches.some(({ use }) => use === "project");
}

function isGit({ part, judged }: Piece): boolean {
  const isKnown = /^row git\b/.test(judged.rule) || picksNames(judged);
  return isKnown && part.words?.[0]?.split("/").at(-1) === "git" && judged.class !== "read";
}

function usesNetwork({ part }: Piece): boolean {
  return needOf(part.words ?? [])?.network === true;
}

function subCommand({ part }: Piece): string {
  return part.words?.find((word, at) => at > 0 && word?.[0] !== "-") ?? "";
}

function runsChecks(piece: Piece): boolean {
  return isGit(piece) && checksCommits.test(subCommand(piece));
}

interface RepositoryWalls {
  readonly writable: readonly string[];
  readonly kept: readonly string[];
  readonly barred: readonly string[];
  readonly unwanted: readonly string[];
  /** Files of the working tree that name programs to start. Git can replace tracked ones. */
  readonly startsPrograms: readonly string[];
  /** Git writes settings, and runs without hooks. */
  readonly isSetting: boolean;
}

/**
 * Git can write its repository, but never hooks, and settings only by sub-commands that need to. Other programs can
 * only read it.
 */
function repositoryWalls(git: readonly Piece[], { context }: Situation): RepositoryWalls {
  const { closed = [], kept = [] } = context.repositories ?? {};
  const startsPrograms = startsProgramsIn(context.cwd);
  if (git.length === 0) {
    const barred = [`${context.cwd}/.git`, ...kept, ...closed];
    return { writable: [], kept: [], barred, unwanted: [], startsPrograms, isSetting: false };
  }
  // Other sub-commands run hooks, so a single one of them closes the settings.
  const isSetting = git.every((piece) => changesSettings.test(subCommand(piece)));
  const own = kept.filter((path) => closed.some((place) => place === `${path}/hooks`));
  // Switching branches replaces tracked files, also those in a folder of hooks. Without the right to, git would leave
  // some of them as they are, and still succeed.
  const writesTree =
    git.some(({ part }) => part.touches.some(isTreeWrite)) &&
    !git.some((piece) => appliesPatches.test(subCommand(piece)));
  const isTracked = (path: string) =>
    writesTree && !path.endsWith("/.git") && !own.some((folder) => liesIn(path, folder, context.foldsCase));
  return {
    writable: own,
    startsPrograms: writesTree ? [] : startsPrograms,
    // An empty folder in its place would make git fail, so a missing one is not blocked.
    kept: isSetting ? [] : closed.filter((path) => path.endsWith("/config.worktree")),
    barred: [
      ...kept.filter((path) => !own.includes(path) && !isTracked(path)),
      ...closed.filter((path) => !path.endsWith("/config.worktree") && !(isSetting && path.endsWith("/config"))),
    ],
    // These files redirect git to other settings. Blocking them with empty folders would make git fail.
    unwanted: isSetting ? [] : own.flatMap((path) => [`${path}/commondir`, `${path}/config.worktree`]),
    isSetting,
  };
}

/** Files that Tinman obeys, in existing folders of the workspace that something is unpacked into. */
function filled(pieces: readonly Piece[], { context, found }: Situation): readonly string[] {
  const { cwd, foldsCase } = context;
  const folders = pieces.flatMap(({ part: { touches } }) =>
    touches.flatMap(({ anyBelow, lookup }) => {
      if (anyBelow !== true || lookup.what !== "path") return [];
      return found.get(lookupKey({ what: "existing", path: lookup.path })) ?? [];
    }),
  );
  const within = [...new Set(folders)].filter((folder) => folder !== cwd && liesIn(folder, cwd, foldsCase));
  return within.flatMap((folder) => startsProgramsIn(folder));
}

function startsProgramsIn(folder: string): readonly string[] {
  return [`${folder}/.tinman`, `${folder}/.mcp.json`];
}

function isTreeWrite({ use, lookup }: Touch): boolean {
  return use === "write" && lookup.what === "work-tree";
}

/** Places that decide what programs do, in the workspace or other writable folders. */
function keptPlaces(context: DecisionContext): readonly string[] {
  const { cwd, reached } = context;
  const { kept, programs } = namedPlaces(context);
  const places = [
    ...kept,
    ...programs,
    ...(reached?.kept ?? []),
    ...(reached?.programs ?? []),
    ...(reached?.links ?? []),
  ];
  return places.filter((place) => !liesIn(cwd, place, context.foldsCase));
}

/** Credentials, histories and Tinman's own files. A session can work inside an agent's folder. */
function hiddenPlaces(context: DecisionContext): readonly string[] {
  const { cwd, reached } = context;
  const { closed } = namedPlaces(context);
  return [...closed, ...(reached?.closed ?? [])].filter((place) => !liesIn(cwd, place, context.foldsCase));
}

/** Paths that a proven command uses outside the workspace. */
function touchedElsewhere(
  pieces: readonly Piece[],
  { context, found }: Situation,
  uses: readonly string[],
): readonly string[] {
  const paths = pieces.flatMap(({ part }) =>
    part.touches
      .filter(({ use }) => uses.includes(use))
      .flatMap(({ lookup }) =>
        lookup.what === "path" || lookup.what === "matches" ? (found.get(lookupKey(lookup)) ?? []) : [],
      ),
  );
  const outside = paths.filter((path) => !liesIn(path, context.cwd, context.foldsCase) && !path.startsWith("/dev/"));
  return [...new Set(outside)];
}

const homes = /^\/(?:home|root|var\/(?:home|root)|export\/home)(?:\/|$)/;

/** Paths that a proven command reads in the homes of other users, which are hidden. */
function readInHomes(pieces: readonly Piece[], situation: Situation): readonly string[] {
  const { home, foldsCase } = situation.context;
  const paths = touchedElsewhere(pieces, situation, ["read"]);
  return paths.filter((path) => homes.test(path) && !liesIn(path, home, foldsCase));
}

function foldersOf(paths: readonly string[]): readonly string[] {
  return [...new Set(paths.map((path) => path.slice(0, path.lastIndexOf("/")) || "/"))].filter((path) => path !== "/");
}

/** Files outside the workspace that redirections write. */
function redirectedTo(pieces: readonly Piece[], { context, found }: Situation): readonly string[] {
  return pieces.flatMap(({ part, judged }) => {
    if (part.kind !== "redirection" || judged.class === "high") return [];
    return part.touches.flatMap(({ use, lookup }) => {
      const [path] = use === "write" && lookup.what === "path" ? (found.get(lookupKey(lookup)) ?? []) : [];
      const isOutside =
        path !== undefined && !liesIn(path, context.cwd, context.foldsCase) && !path.startsWith("/dev/");
      return isOutside ? [path] : [];
    });
  });
}
