import { createPace } from "../../async/pace.ts";
import type { EngineParts } from "../engine-parts.ts";
import type { SessionState } from "../log/history.ts";
import type {
  Access,
  AccessClass,
  CommandReading,
  Decision,
  DecisionContext,
  Evidence,
  Found,
  Lookup,
  Met,
  PermissionPolicy,
  ProtectedPaths,
} from "../permission.ts";
import { accessClasses, lookupKey } from "../permission.ts";
import type { Host } from "../ports.ts";

/** Parses the commands among the accesses, and looks up what the decision depends on. */
export async function withEvidence(
  accesses: readonly Access[],
  policy: PermissionPolicy,
  host: Host,
  places: Pick<DecisionContext, "cwd" | "home">,
  signal?: AbortSignal,
): Promise<readonly Access[]> {
  const pace = createPace(signal);
  const known: Access[] = [];
  for (const access of accesses) {
    if (access.type !== "command") known.push(await lookedAt(access, host));
    else {
      const evidence = await evidenceOf(await policy.read(access.command, places), host);
      known.push(await lookedAt({ ...access, evidence }, host));
    }
    await pace.rest();
  }
  return known;
}

async function evidenceOf(reading: CommandReading, host: Host): Promise<Evidence> {
  return { reading, found: await lookUp(reading.lookups, host) };
}

/** The first path that changed since the decision (a link on its way, another program), and the current accesses. */
export async function changedSince(
  accesses: readonly Access[],
  host: Host,
): Promise<{ readonly path: string; readonly accesses: readonly Access[] } | undefined> {
  let changed: string | undefined;
  const now = await Promise.all(
    accesses.map(async (access) => {
      if (access.type !== "command") {
        const fresh = await lookedAt(access, host);
        if ("path" in fresh && "path" in access && !isSame(access.met, fresh.met)) changed ??= access.path;
        return fresh;
      }
      if (access.evidence === undefined) return access;
      const { reading, found: before, met } = access.evidence;
      const fresh = await lookedAt({ ...access, evidence: await evidenceOf(reading, host) }, host);
      const { evidence } = fresh;
      changed ??= reading.lookups.find((lookup) => {
        const key = lookupKey(lookup);
        return JSON.stringify(before.get(key)) !== JSON.stringify(evidence?.found.get(key));
      })?.path;
      if (!isSame(met, evidence?.met)) changed ??= "The repository around it";
      return fresh;
    }),
  );
  return changed === undefined ? undefined : { path: changed, accesses: now };
}

function isSame(a: Met | undefined, b: Met | undefined): boolean {
  const plain = (met: Met | undefined) => met && [[...met.ways], met.around];
  return JSON.stringify(plain(a)) === JSON.stringify(plain(b));
}

/** Whether the earlier permission, by level or approver, still covers the call. */
export function isNoWorse(before: Decision, now: Decision): boolean {
  if (now.verdict === "allow") return true;
  const isSameKind = now.rule === before.rule || !/^(protected-place|catastrophic)$/.test(now.rule);
  return before.verdict === "ask" && now.verdict === "ask" && isSameKind && rank(now.class) <= rank(before.class);
}

function rank(accessClass: AccessClass): number {
  return accessClasses.indexOf(accessClass);
}

async function lookUp(lookups: readonly Lookup[], host: Host): Promise<Found> {
  const found = new Map<string, readonly string[]>();
  await Promise.all(
    lookups.map(async (lookup) => {
      const answer = await host.lookUp(lookup).catch(() => undefined);
      if (answer !== undefined) found.set(lookupKey(lookup), answer);
    }),
  );
  return found;
}

/** The access with the current links on its paths and repositories around them. */
async function lookedAt<T extends Access>(access: T, host: Host): Promise<T> {
  if (access.type === "fetch" || access.type === "server") return access;
  if (access.type !== "command") {
    const written: readonly Lookup[] = access.written === undefined ? [] : [{ what: "path", path: access.written }];
    const met = await meet(written, [access.path], host);
    if (access.type !== "write" || access.deletes !== true) return { ...access, met };
    const pattern = access.path.replace(/[*?[\]\\+@!(]/g, "\\$&");
    const unsaved = await host.lookUp({ what: "unsaved", path: pattern }).catch(() => undefined);
    return { ...access, met, ...(unsaved === undefined ? {} : { unsaved }) };
  }
  const { evidence } = access;
  if (evidence === undefined) return access;
  const asked = evidence.reading.lookups.filter(({ what }) => !namesNoFile.has(what));
  const paths = asked.flatMap((lookup) => {
    const answer = evidence.found.get(lookupKey(lookup)) ?? [];
    // For very many files, check only their folders.
    return answer.length > mostPaths ? answer.map((path) => path.slice(0, path.lastIndexOf("/")) || "/") : answer;
  });
  const written = asked.filter(({ what }) => what === "path" || what === "matches");
  return { ...access, evidence: { ...evidence, met: await meet(written, paths, host) } };
}

const mostPaths = 100;
const namesNoFile: ReadonlySet<Lookup["what"]> = new Set([
  "git",
  "signatures",
  "installed",
  "shadowing-modules",
  "fetched-branches",
  "program",
  "search-path",
  "dashes",
  "tracked-names",
  "variable",
]);

async function meet(written: readonly Lookup[], paths: readonly string[], { guards }: Host): Promise<Met> {
  const unique = new Map(written.map((lookup) => [lookupKey(lookup), lookup]));
  const ways = await Promise.all(
    [...unique].map(async ([key, { what, path }]) => {
      return [key, await guards.way(what === "matches" ? beforePattern(path) : path)] as const;
    }),
  );
  return { ways: new Map(ways), around: await guards.repositories([...new Set(paths)]) };
}

/** The folder that a pattern starts in. */
function beforePattern(pattern: string): string {
  const plain = /^(?:\\.|[^\\*?[])*/s.exec(pattern)?.[0] ?? "";
  return plain.slice(0, plain.lastIndexOf("/") + 1).replace(/\\(.)/gs, "$1");
}

type Seen = Required<Pick<DecisionContext, "readable" | "reached" | "repositories">>;

/** Looked up again for every reply, since links and repositories can appear. `outputs`: folders that can be read. */
export async function seenPlaces(
  { policy, host }: { readonly policy: PermissionPolicy; readonly host: Host },
  { cwd, ...homes }: Pick<DecisionContext, "cwd" | "home" | "ownHome" | "ownConfig" | "loginHome">,
  outputs: readonly string[],
): Promise<Seen> {
  const [reached, repositories, readable] = await Promise.all([
    reachedPlaces(policy.namedPlaces(homes), host, cwd, homes.home),
    host.guards.repositories([cwd], { below: true }),
    Promise.all(outputs.map((path) => host.files.canonical(path, "/").catch(() => path))),
  ]);
  return { reached, repositories, readable };
}

/** The facts that a session's decisions depend on besides its settings. `isHere`: the tools work on this machine. */
export async function decisionPlaces(
  parts: Pick<EngineParts, "policy" | "host" | "places">,
  state: SessionState,
  isHere: boolean,
): Promise<Omit<EngineParts["places"], "outputs"> & Pick<DecisionContext, "made" | "readable"> & Partial<Seen>> {
  const { outputs, ...places } = parts.places;
  const own = [state.id, ...state.origins].map(outputs);
  const seen = isHere ? await seenPlaces(parts, { ...places, cwd: state.cwd }, own) : {};
  return { ...places, readable: [], made: state, ...seen };
}

async function reachedPlaces(
  named: ProtectedPaths,
  { guards }: Host,
  cwd: string,
  home: string,
): Promise<ProtectedPaths> {
  const environment = await guards.fromEnvironment(named, home);
  // A project can have its own programs on the PATH, and a folder around it must not become protected.
  const isProject = (path: string): boolean => isIn(path, cwd) && !isIn(home, cwd);
  const moved = {
    closed: environment.closed.filter((path) => !isIn(cwd, path)),
    kept: environment.kept.filter((path) => !isIn(cwd, path)),
    programs: environment.programs.filter((path) => !isProject(path)),
    links: [],
  };
  const reached = await guards.leadTo(joined(named, moved));
  return joined(moved, reached);
}

function isIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

function joined(a: ProtectedPaths, b: ProtectedPaths): ProtectedPaths {
  const both = (x: readonly string[], y: readonly string[]): readonly string[] => [...new Set([...x, ...y])];
  return {
    closed: both(a.closed, b.closed),
    kept: both(a.kept, b.kept),
    programs: both(a.programs, b.programs),
    links: both(a.links, b.links),
  };
}
