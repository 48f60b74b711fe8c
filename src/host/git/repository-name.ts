import { realpath, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { remoteAddresses } from "./git-remotes.ts";
import { looksLikeGit, type Repository, readSmall, repositoriesAround } from "./repository.ts";

/** What a repository is called. */
export interface RepositoryName {
  /** Whoever it belongs to at its remote, with all groups; absent when no remote tells. */
  readonly owner?: string;
  readonly repoName: string;
}

/** No server has longer names. */
const longestName = 512;

/**
 * The name of the repository around a folder: from the address of its remote `origin`, or else of its first remote, or else
 * of its root folder. Nothing of an address is told but the path at its server. `undefined` outside of repositories, and
 * where it is not clear which one git would use. Starts nothing and never rejects.
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
  // Of a folder that is the repository itself, the ending says just that.
  const repoName = root === folder ? name.replace(/\.git$/, "") : name;
  return repoName === "" ? undefined : { repoName };
}

/** Owner and name in an address of a server; `undefined` for a folder of this machine, and for what may hold a credential. */
function nameInAddress(address: string): RepositoryName | undefined {
  const path = pathInUrl(address) ?? pathBehindHost(address);
  // A password with a slash in it, or an address without its scheme or its @, would have its end in the path.
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

/** The path in `user@host:path`, which is no path of this machine: there a slash comes before the colon. */
function pathBehindHost(address: string): string | undefined {
  if (/^[a-z]:[/\\]/i.test(address) || /^[a-z][a-z0-9+.-]*:(?:\/\/|:)/i.test(address)) return undefined;
  return /^(?:[^/:@[\]]*@)?(?:\[[^\]/]*\]|[^/:@[\]]+):(.*)$/s.exec(address)?.[1];
}
