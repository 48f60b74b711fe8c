import { realpath, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { parseSettings, type Setting } from "./git-settings.ts";
import { looksLikeGit, type Repository, readSmall, repositoriesAround } from "./repository.ts";

/** A repository's name. */
export interface RepositoryName {
  /** The owner at its remote, with all groups. Absent without a remote. */
  readonly owner?: string;
  readonly repoName: string;
}

/** Longer than any server's names. */
const longestName = 512;

/**
 * The name of the repository around a folder: from its remote `origin`, else its first remote, else its root folder.
 * `undefined` outside repositories, or if git's choice is unclear. Starts nothing and never rejects.
 */
export async function repositoryName(cwd: string): Promise<RepositoryName | undefined> {
  try {
    const folder = await realpath(cwd);
    if (!(await stat(folder)).isDirectory()) return undefined;
    const { repositories, unclear } = await repositoriesAround(folder);
    const repository = repositories.find((found) => looksLikeGit(found.folder));
    if (unclear || repository === undefined) return undefined;
    return (await nameAtRemote(repository)) ?? nameOfFolder(repository);
  } catch {
    return undefined;
  }
}

async function nameAtRemote({ common }: Repository): Promise<RepositoryName | undefined> {
  const config = await readSmall(join(common, "config"));
  const addresses = config === undefined ? undefined : remoteAddresses(config);
  const address = addresses?.get("origin") ?? addresses?.values().next().value;
  return address === undefined ? undefined : nameInAddress(address);
}

function nameOfFolder({ root, folder }: Repository): RepositoryName | undefined {
  const isInside = basename(root) === ".git";
  const name = basename(isInside ? dirname(root) : root);
  // A bare repository's folder ends in `.git`.
  const repoName = root === folder ? name.replace(/\.git$/, "") : name;
  return repoName === "" ? undefined : { repoName };
}

/** Owner and name in a server's address. `undefined` for a local folder, and if the path may contain a credential. */
function nameInAddress(address: string): RepositoryName | undefined {
  const path = pathInUrl(address) ?? pathBehindHost(address);
  // The path could start with the end of a password that contains a slash.
  if (path === undefined || path.length > longestName || /[\p{C}\p{Zl}\p{Zp}@:\\]/u.test(path)) return undefined;
  const parts = path.split("/").filter((part) => part !== "");
  if (parts.length > 1 && parts.at(-1) === ".git") parts.pop();
  const repoName = parts.pop()?.replace(/\.git$/, "") ?? "";
  if (repoName === "" || [repoName, ...parts].some((part) => part === "." || part === "..")) return undefined;
  return parts.length === 0 ? { repoName } : { owner: parts.join("/"), repoName };
}

function pathInUrl(address: string): string | undefined {
  const [, path] = /^(?:https?|ssh|git|git\+ssh|ssh\+git|ftps?):\/\/[^/?#]+\/([^?#]*)/i.exec(address) ?? [];
  return path === undefined ? undefined : decoded(path);
}

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

/** The path in `user@host:path`. A local path has a slash before the colon. */
function pathBehindHost(address: string): string | undefined {
  if (/^[a-z]:[/\\]/i.test(address) || /^[a-z][a-z0-9+.-]*:(?:\/\/|:)/i.test(address)) return undefined;
  return /^(?:[^/:@[\]]*@)?(?:\[[^\]/]*\]|[^/:@[\]]+):(.*)$/s.exec(address)?.[1];
}

/**
 * The first address of each remote in a repository's settings, in order, read as git does but without included files.
 * `undefined` if git could not read them, or if they are implausible.
 */
function remoteAddresses(config: string): ReadonlyMap<string, string> | undefined {
  const settings = /[^\P{Cc}\r\n\t]|\r(?!\n)|\uFFFD/u.test(config) ? undefined : parseSettings(config);
  if (settings === undefined) return undefined;
  const addresses = new Map<string, string>();
  for (const setting of settings) {
    const remote = setting.key === "url" ? remoteOf(setting) : undefined;
    if (remote === undefined || !setting.value || addresses.has(remote)) continue;
    addresses.set(remote, setting.value);
  }
  return addresses;
}

/** The remote of a setting, if any. */
function remoteOf({ section, sub }: Setting): string | undefined {
  if (sub !== undefined) return section === "remote" ? sub : undefined;
  return /^remote\.(.+)$/.exec(section)?.[1];
}
