import type { Containment } from "../../engine/containment.ts";
import type { AccessClass, DecisionContext, Found } from "../../engine/permission.ts";
import { lookupKey } from "../../engine/permission.ts";
import { namedPlaces } from "../places/named-places.ts";
import { liesIn } from "../places/path-names.ts";
import type { Piece } from "./containable.ts";
import { isLocalRequest, needOf } from "./needs.ts";

export interface Situation {
  readonly context: DecisionContext;
  readonly sandbox: NonNullable<DecisionContext["sandbox"]>;
  readonly found: Found;
  readonly class: AccessClass;
  /** Part of the command is not understood. */
  readonly isUnknown: boolean;
}

/** Sub-commands of git that change a repository's settings. In the sandbox they run no hooks, which could change them. */
const changesSettings = /^(?:branch|checkout|switch|submodule|worktree|remote|init|clone|sparse-checkout)$/;
/** Sub-commands whose hooks check commits, so they must run, and get nothing that other parts need. */
const checksCommits = /^(?:commit|am|cherry-pick|revert)$/;

/**
 * The walls around a command. Its parts share them, so code of the project, and what is not understood, must not get what
 * other parts need.
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
  // Git runs hooks, so it gets the folders that it names, and others only the folders around what they write.
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
    barred: reads ? [] : [...new Set([...repositories.barred, ...startUp, `${cwd}/.tinman`, `${cwd}/.mcp.json`])],
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

/** Whether a part runs code of the project: a build, a test, an installer with scripts. */
function isProjectCode({ part }: Piece): boolean {
  const need = needOf(part.words ?? []);
  if (need?.runsNothing === true) return false;
  return part.touches.some(({ use }) => use === "project") || need?.runsScripts === true;
}

function isGit({ part, judged }: Piece): boolean {
  return /^row git\b/.test(judged.rule) && part.words?.[0]?.split("/").at(-1) === "git" && judged.class !== "read";
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
  /** Git changes settings, and runs no hooks. */
  readonly isSetting: boolean;
}

/**
 * Git can write its repository, but never hooks, and settings only with sub-commands that need it. For other programs
 * the repository is read-only.
 */
function repositoryWalls(git: readonly Piece[], { context }: Situation): RepositoryWalls {
  const { closed = [], kept = [] } = context.repositories ?? {};
  if (git.length === 0) {
    const barred = [`${context.cwd}/.git`, ...kept, ...closed];
    return { writable: [], kept: [], barred, unwanted: [], isSetting: false };
  }
  // Beside another sub-command, whose hooks run, settings stay closed.
  const isSetting = git.every((piece) => changesSettings.test(subCommand(piece)));
  const own = kept.filter((path) => closed.some((place) => place === `${path}/hooks`));
  return {
    writable: own,
    // Git reads it even if it is an empty folder, so it cannot be kept from existing.
    kept: isSetting ? [] : closed.filter((path) => path.endsWith("/config.worktree")),
    barred: [
      ...kept.filter((path) => !own.includes(path)),
      ...closed.filter((path) => !path.endsWith("/config.worktree") && !(isSetting && path.endsWith("/config"))),
    ],
    // Git reads settings from where these say. It needs neither, and an empty one would stop it.
    unwanted: isSetting ? [] : own.flatMap((path) => [`${path}/commondir`, `${path}/config.worktree`]),
    isSetting,
  };
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

/** What a proven command uses outside the workspace. */
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

/** What a proven command reads in the homes of other users, which are hidden. */
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
