import { lstatSync } from "node:fs";
import { isAbsolute } from "node:path";
import type { Lookup } from "../engine/permission.ts";
import { liesBelow, whereItLeads } from "./files/where-it-leads.ts";

type Answer = readonly string[] | undefined;

/** Most lookups ask where a path leads, so everything else is loaded on first use. */
const answers: Readonly<Record<Lookup["what"], (path: string, from?: string) => Promise<Answer>>> = {
  path: whereItLeads,
  matches: async (path) => (await import("./search/matching-files.ts")).matchingFiles(path),
  "links-below": async (path) => (await import("./files/links-below.ts")).linksBelow(path, false),
  "names-below": async (path) => (await import("./files/links-below.ts")).linksBelow(path, true),
  async git(path) {
    const { shownPlaces } = await import("./git/repository-programs.ts");
    return shownPlaces(await onlyReading(path));
  },
  async signatures() {
    const { showsSignatures } = await import("./git/repository-programs.ts");
    return (await showsSignatures()) ? undefined : [];
  },
  async "fetched-branches"(path) {
    return (await import("./git/fetched-branches.ts")).fetchesOnlyRemoteBranches(await onlyReading(path));
  },
  credentials: async (path) => (await import("./git/git-credentials.ts")).credentialsBelow(await onlyReading(path)),
  async remotes(path) {
    const { repositoriesAround } = await import("./git/repository.ts");
    const { repositories, unclear } = await repositoriesAround(await onlyReading(path));
    if (unclear) return undefined;
    const { addressesHoldCredential, gitCredentials } = await import("./git/git-credentials.ts");
    const { userSettings } = await import("./git/git-user-settings.ts");
    const settings = await userSettings();
    if (settings === undefined || addressesHoldCredential(settings)) return undefined;
    const found = await Promise.all(repositories.map(({ root }) => gitCredentials(root)));
    return found.some((files) => files === undefined) ? undefined : found.flatMap((files) => files ?? []);
  },
  async "work-tree"(path) {
    const { repositoriesAround } = await import("./git/repository.ts");
    const { repositories, unclear } = await repositoriesAround(await onlyReading(path));
    return unclear ? undefined : repositories.map(({ root }) => root);
  },
  "output-links": async (path) => (await import("./files/links-below.ts")).outputLinks(await onlyReading(path)),
  "ignore-links": async (path) => (await import("./files/links-below.ts")).ignoreLinks(await onlyReading(path)),
  installed: async (path, tool = "") => (await import("./search/installed-tool.ts")).installedTool(path, tool),
  "shadowing-modules": async (path, module = "") =>
    (await import("./environment/python-modules.ts")).shadowingModules(await onlyReading(path), module),
  existing: async (path) => (isThere(path) ? whereItLeads(path) : []),
  unsaved: async (path, from) => (await import("./git/unsaved-files.ts")).unsavedFiles(path, from),
  "tracked-names": async (path) => (await import("./git/tracked-files.ts")).trackedNames(await onlyReading(path)),
  dashes: async (path) => (await import("./search/matching-files.ts")).noDashes(path),
  "repositories-below": async (path, selecting) =>
    (await import("./search/deleted-matches.ts")).repositoriesBelow(path, selecting),
  emptied: async (path, others) => (await import("./search/deleted-matches.ts")).emptiedFolders(path, others),
  "hooks-below": async (path) => (await import("./files/links-below.ts")).hooksBelow(path),
  "search-path": async (name, from) => {
    if (name === "PATH") return (await import("./processes/program-file.ts")).searchPath();
    return (await import("./environment/searched-places.ts")).searchedPlaces(name, from);
  },
  program: async (name) => (await import("./processes/program-file.ts")).programFile(name),
  variable: async (name) => (process.env[name] === undefined ? [] : undefined),
};

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

async function onlyReading(path: string): Promise<string> {
  const [canonical] = await whereItLeads(path);
  if (canonical === undefined || liesBelow(canonical, "/proc"))
    throw new Error("Each process has another such folder.");
  return canonical;
}

/** Answers questions about this machine. Never rejects; starts nothing and changes nothing. */
export async function lookUp({ what, path, from }: Lookup): Promise<Answer> {
  if (path.includes("\0") || (!/^(program|search-path|variable)$/.test(what) && !isAbsolute(path))) return undefined;
  try {
    return await answers[what](path, from);
  } catch {
    return undefined;
  }
}
