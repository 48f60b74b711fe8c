import { posix } from "node:path";
import {
  type AccessClass,
  type CommandPart,
  type DecisionContext,
  type Evidence,
  type Found,
  type JudgedPart,
  type Lookup,
  lookupKey,
  type Touch,
} from "../engine/permission.ts";
import { withoutTrailingSlashes } from "../text/text-cut.ts";
import { raised, worse } from "./autonomy.ts";
import { liesIn } from "./places/path-names.ts";
import { catastropheOf, isExpendable, isSettingsPlace, isSystemPlace, scopeOf } from "./places/path-scope.ts";
import { type KnownPlaces, namedLink, protectedIn } from "./places/protected-paths.ts";
import { suspectIn } from "./places/suspect-text.ts";
import { unescaped } from "./programs/arg.ts";
import { allowingRule } from "./rules/rules.ts";

type Own = Pick<JudgedPart, "class" | "protected" | "rule" | "why">;
type Places = KnownPlaces &
  Pick<DecisionContext, "readable" | "temp" | "foldsCase" | "rules" | "made"> & {
    readonly ways?: Found | undefined;
  };

/** What each part of a command can do, given what was found at its paths. */
export function judgeReading({ reading, found, met }: Evidence, context: DecisionContext): JudgedPart {
  const places = { ...context, around: met?.around, ways: met?.ways };
  const judged = judgePart(reading.root, found, places);
  const worst = worstPart(judged);
  // The text may still reveal unknown words. A protected place in it needs approval at every level.
  const isOpaque = worst.class === "high" && !worst.protected;
  const listed = (reading.suspects ?? []).map((touch) => judgeTouch(touch, found, places)).find((one) => one.protected);
  const suspect = isOpaque ? (suspectIn(reading.text, places) ?? listed) : undefined;
  return suspect === undefined ? judged : { ...judged, class: "high", protected: true, ...suspect };
}

function judgePart(part: CommandPart, found: Found, places: Places, isCovered = false): JudgedPart {
  const { kind, source } = part;
  const rule = part.words === undefined ? undefined : allowingRule(part, places.rules);
  const isAllowed = isCovered || rule !== undefined;
  const itself = own(part.class, part.rule, part.why);
  const touched = part.touches.map((touch) => judgeTouch(touch, found, places)).reduce(worst, itself);
  const allowed = own("read", "allow-rule", `is allowed by the rule ${rule ?? "above"}`);
  const parts = part.parts.map((inner) => {
    // Allowing a wrapper's words allows the command it runs, but not substitutions or redirections.
    return judgePart(inner, found, places, isAllowed && (inner.kind === "unwrapped" || kind === "unwrapped"));
  });
  // A rule means the system's program, not one of that name in the workspace or one changed by variables.
  const isLifted = isAllowed && !touched.protected && !neverLifted.has(touched.rule);
  return { kind, source, ...(isLifted ? allowed : touched), parts };
}

const neverLifted = new Set([
  "program-in-workspace",
  "unknown-variable",
  "dangerous-variable",
  "sets-variable",
  "moved-path",
]);

/** The part that decides: protected ones first, then the highest class, then the first. */
export function worstPart(part: JudgedPart): JudgedPart {
  return part.parts.map(worstPart).reduce((a, b) => (isWorse(b, a) ? b : a), part);
}

function isWorse(a: Own, b: Own): boolean {
  if (a.protected !== b.protected) return a.protected;
  return a.class !== b.class && worse(a.class, b.class) === a.class;
}

function worst(a: Own, b: Own): Own {
  return isWorse(b, a) ? b : a;
}

function judgeTouch(touch: Touch, found: Found, places: Places): Own {
  const answer = found.get(lookupKey(touch.lookup));
  const { path } = touch.lookup;
  const isRepositoryLost = touch.use === "delete" && touch.lookup.what === "repositories-below";
  if (isRepositoryLost) return judgeRepositories(touch, answer ?? [], places);
  if (touch.lookup.what === "emptied") return judgeEmptied(touch, found, places);
  if (answer === undefined) return noAnswer(touch);
  if (touch.use === "set") return own("read", "assignment", `sets ${path}`);
  if (touch.use === "git") {
    const git = own(touch.class, "git", "queries git");
    const borrowed: Touch = { ...touch, use: "read", class: "read", recursive: false };
    return answer.map((place) => judgeFile(borrowed, place, places)).reduce(worst, git);
  }
  if (touch.use === "project") return judgeProject(touch, answer, places);
  if (touch.use === "delete") return judgeDeletion(touch, answer, places);
  if (touch.lookup.what === "existing") return judgeExisting(touch, answer);
  if (touch.lookup.what === "work-tree") return judgeTree(touch, answer, places);
  const through = judgeWay(touch, places);
  if (through !== undefined) return through;
  if (touch.lookup.what === "hooks-below" && answer[0] !== undefined) {
    return protectedPlace(`copies ${answer[0]}, with files that git would run as hooks`);
  }
  // The folders of a pattern's matches are not moved themselves.
  const around = touch.lookup.what === "matches" && touch.use === "write" ? new Set(answer.map(folderOf)) : undefined;
  const judged = answer.map((real) => {
    if (touch.lookup.what === "shadowing-modules") return shadowing(touch.lookup, real);
    if (touch.use === "run") return judgeRun(path, real, places);
    return judgeFile(around?.has(real) === true ? stayingPut(touch) : touch, real, places);
  });
  return judged.reduce(worst, own(touch.class, `${touch.use}-workspace`, `${touch.use}s ${path}`));
}

function stayingPut({ moves: _, ...touch }: Touch): Touch {
  return { ...touch, recursive: false };
}

/** A path that leaves a protected place through a link still belongs to that place. */
function judgeWay({ use, lookup }: Touch, places: Places): Own | undefined {
  if (use !== "read" && use !== "write") return undefined;
  const way = places.ways?.get(lookupKey(lookup)) ?? [];
  const through = way.find((link) => scopeOf(link, places, use) === "protected");
  if (through !== undefined) return protectedPlace(`${use}s ${through}, a protected place`);
  const link = use === "write" ? namedLink(lookup.path, way, places) : undefined;
  return link === undefined ? undefined : protectedPlace(`writes ${link}, a link to a protected place`);
}

function noAnswer({ use, lookup }: Touch): Own {
  if (lookup.what === "shadowing-modules")
    return own("high", "program-in-workspace", `loads what is in ${lookup.path}`);
  if (use === "run") {
    const why = `runs ${lookup.path}, which the PATH may find in the workspace`;
    return own("high", "program-in-workspace", why);
  }
  if (lookup.what === "signatures") {
    const why = "shows commits, and git's settings make it check signatures with another program";
    return own("high", "git-checks-signatures", why);
  }
  if (lookup.what === "installed") {
    const why = `runs ${lookup.from}, which the project has not installed, so a package of that name would be fetched`;
    return own("high", "not-installed", why);
  }
  if (lookup.what === "fetched-branches") {
    const why = "fetches into local branches, as the repository is configured, and may overwrite or delete them";
    return own("high", "fetches-branches", why);
  }
  if (use === "git") {
    const why = "uses git, and the repository's configuration may make it run other programs or read other places";
    return own("high", "git-config-runs-programs", why);
  }
  if (use === "set") {
    const why = `sets ${lookup.path}, which is in the environment and may change what programs do`;
    return own("high", "dangerous-variable", why);
  }
  if (use === "delete") return cannotBeUndone(`deletes ${unescaped(lookup.path)}`);
  const words: Partial<Record<Lookup["what"], string>> = {
    "names-below": `takes names from ${lookup.path}, but there are too many, or one has a space, a quote or a leading dash`,
    "tracked-names": `takes tracked names from ${lookup.path}, but one has a space, a quote or a leading dash`,
    credentials: `reads all of ${lookup.path}, where git's settings are unclear, or too many folders could have some with credentials; name a smaller folder`,
    dashes: `uses the pattern ${lookup.path}, which matches a name with a leading dash; put ./ in front of the pattern`,
    "repositories-below": `copies ${lookup.path}, which has too many files to examine`,
    "hooks-below": `copies ${lookup.path}, which has too many files to examine`,
    "links-below": `follows links below ${lookup.path}, which has too many files to examine`,
  };
  const why = words[lookup.what] ?? `uses ${lookup.path}, which could not be resolved`;
  return own("high", "unknown-path", why);
}

/** Files that git cannot restore can only be deleted if a build regenerates them or this session created them. */
function judgeDeletion(touch: Touch, unsaved: readonly string[], places: Places): Own {
  const lost = unsaved.find((path) => !isExpendable(path, places));
  if (lost !== undefined) return cannotBeUndone(`deletes ${lost}`);
  const path = posix.normalize(unescaped(touch.lookup.path));
  const isOurs = liesIn(path, places.cwd, places.foldsCase) || isExpendable(path, places);
  if (touch.lookup.from === "existing" && unsaved.length === 0 && !isOurs) return cannotBeUndone(`deletes ${path}`);
  const why = `deletes ${unescaped(touch.lookup.path)}, which can be restored`;
  return own(touch.class, "delete-restorable", why);
}

/** Repositories deleted along with a folder, unless a build put them there. */
function judgeRepositories(touch: Touch, repositories: readonly string[], places: Places): Own {
  const isRoot = (path: string) => path === `${withoutTrailingSlashes(unescaped(touch.lookup.path))}/.git`;
  const lost = repositories.find((path) => isRoot(path) || !isExpendable(path, places));
  if (lost !== undefined) return { ...protectedPlace(`deletes ${lost}, a protected place`), rule: "catastrophic" };
  // Some builds fetch dependencies as repositories. Other repositories in a build folder may contain work.
  const other = repositories.find((path) => !/\/(?:_deps|node_modules|\.?venv|target|\.cache)\//.test(path));
  if (other !== undefined) return cannotBeUndone(`deletes ${other}`);
  return own(touch.class, "delete-restorable", "deletes no repository");
}

/** A pattern that takes everything in a home or the workspace, unless git or a build can restore it. */
function judgeEmptied(touch: Touch, found: Found, places: Places): Own {
  const { path } = touch.lookup;
  const unsaved =
    found.get(lookupKey({ what: "unsaved", path })) ??
    found.get(lookupKey({ what: "unsaved", path, from: "existing" }));
  const isRestorable = unsaved?.every((lost) => isExpendable(lost, places)) === true;
  const emptied = isRestorable ? [] : (found.get(lookupKey(touch.lookup)) ?? []);
  for (const folder of emptied) {
    const catastrophe = catastropheOf(folder, places);
    if (catastrophe === undefined) continue;
    return { ...protectedPlace(`deletes everything in ${folder}, ${catastrophe}`), rule: "catastrophic" };
  }
  return own(touch.class, "delete-restorable", "leaves something in every folder");
}

/** Harmless if the file does not exist. Otherwise it may be obeyed, or overwritten: `high`. */
function judgeExisting({ class: accessClass, use, anyBelow }: Touch, [existing]: readonly string[]): Own {
  if (use === "read" && existing === undefined) return own("read", "no-settings", "finds no settings");
  if (use === "read") return own(accessClass, "obeys-settings", `obeys the settings in ${existing}`);
  if (existing === undefined) return own(accessClass, "write-new", "overwrites nothing");
  if (anyBelow === true) {
    return own("high", "any-name", "applies a patch, which may write any file, also one that Tinman or git obeys");
  }
  return own("high", "overwrite", `may overwrite ${existing}`);
}

function cannotBeUndone(does: string): Own {
  return own("high", "delete", `${does}, which cannot be undone`);
}

/** Git can write any file in a working tree. If that is a home, this includes its protected places. */
function judgeTree(touch: Touch, roots: readonly string[], places: Places): Own {
  const use = touch.use === "write" ? "write" : "read";
  // Leave out repositories: a bare one contains its own settings, which git is meant to use.
  const { repositories: _, around: __, ...homes } = places;
  const [contained] = roots.flatMap((root) => protectedIn(root, homes, use) ?? []);
  if (contained !== undefined) return protectedPlace(`uses a repository that contains ${contained}, a protected place`);
  return own(touch.class, "write-workspace", "writes files in the repository");
}

/** Builds and tests run code they find, so it must be in the workspace. */
function judgeProject(touch: Touch, found: readonly string[], { cwd, foldsCase }: Places): Own {
  const outside = found.find((path) => !liesIn(path, cwd, foldsCase));
  if (outside === undefined) return own(touch.class, "project", "runs the project's code");
  const why = `runs code in ${outside}, which is outside the workspace`;
  return own("high", "project-outside", why);
}

/** Programs in the workspace must not be mistaken for the system's. */
function judgeRun(name: string, real: string, { cwd, foldsCase }: Places): Own {
  if (!liesIn(real, cwd, foldsCase)) return own("read", "program", `runs ${real}`);
  return own("high", "program-in-workspace", `would run ${real} instead of the system's ${name}`);
}

function shadowing({ from }: Lookup, real: string): Own {
  return own("high", "program-in-workspace", `would load ${real}, which Python prefers to what ${from} needs`);
}

function judgeFile(touch: Touch, path: string, places: Places): Own {
  const use = touch.use === "write" ? "write" : "read";
  const verb = `${use}s`;
  const catastrophe = touch.moves === true ? catastropheOf(path, places) : undefined;
  if (catastrophe !== undefined) {
    return { ...protectedPlace(`deletes, moves or replaces ${path}, ${catastrophe}`), rule: "catastrophic" };
  }
  const takesEach = touch.moves === true || (touch.anyBelow === true && use === "write");
  const contained = touch.recursive ? protectedIn(path, places, takesEach ? "move" : use) : undefined;
  if (contained !== undefined) {
    return protectedPlace(`${verb} all of ${path}, including ${contained}, a protected place`);
  }
  const scope = scopeOf(path, places, use);
  if (scope === "protected") return protectedPlace(`${verb} ${path}, a protected place`);
  if (scope === "workspace") return own(touch.class, `${use}-workspace`, `${verb} ${path}`);
  if (use === "write" && isSystemPlace(path, places)) {
    return own("high", "write-system", `writes ${path}, which belongs to the system`);
  }
  if (use === "write" && isSettingsPlace(path, places)) {
    return own("high", "write-settings", `writes ${path}, which your programs may obey`);
  }
  if (use === "write" && liesIn(path, places.temp, places.foldsCase)) {
    return own(worse("medium", touch.class), "write-temp", `writes ${path}, in the temp folder`);
  }
  return own(raised(touch.class), `${use}-outside`, `${verb} ${path}, which is outside the workspace`);
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

function own(accessClass: AccessClass, rule: string, why: string): Own {
  return { class: accessClass, protected: false, rule, why };
}

function protectedPlace(why: string): Own {
  return { class: "high", protected: true, rule: "protected-place", why };
}
