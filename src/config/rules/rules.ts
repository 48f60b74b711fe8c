import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { open, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, sep } from "node:path";
import type { CommandRules } from "../../engine/permission.ts";
import { errorCode } from "../../text/system-errors.ts";
import { readBoundedFrom } from "../bounded-file.ts";
import type { UserConfig } from "../check/checked-config.ts";
import { invalid, reason } from "../check/config-fault.ts";
import { printable, visible } from "../check/visible.ts";
import { foldersBetween, repositoryRoot } from "./repository-folders.ts";
import { ruleWords } from "./rule-words.ts";

const maxConfigBytes = 4 * 1024 * 1024;
const mostKeysNamed = 8;
type Words = readonly (readonly string[])[];

interface AdminFile {
  readonly path: string;
  /** It was named explicitly, so it must exist. */
  readonly isNamed: boolean;
}

export interface FolderRules {
  readonly rules: CommandRules;
  /** Notices for the user about the repository's files, one line each. */
  readonly notices: readonly string[];
}

/** The administrator's files. A variable can add one, but not remove the fixed one. */
export function adminFiles(env: NodeJS.ProcessEnv): readonly AdminFile[] {
  const fixed = { path: "/etc/tinman/config.yaml", isNamed: false };
  const named = env.TINMAN_ADMIN_CONFIG;
  return named === undefined || named === "" ? [fixed] : [fixed, { path: named, isNamed: true }];
}

/**
 * Reads the administrator's files, and returns a function that reads the repository's files for a canonical folder, again for
 * each call. Both reject with `config_invalid` if a file is unreadable or malformed, so that no rule is lost silently.
 */
export async function loadRules(options: {
  readonly user: UserConfig;
  readonly adminFiles: readonly AdminFile[];
  /** Canonical. Its configuration is the user's, even inside a repository. */
  readonly ownHome: string;
}): Promise<(cwd: string) => Promise<FolderRules>> {
  const { allow = [], deny = [] } = options.user.permissions ?? {};
  const own = { allow: wordsOf(allow, "allow"), deny: wordsOf(deny, "deny") };
  const alwaysDeny = (await Promise.all(options.adminFiles.map(readAdminFile))).flat();
  const plain: FolderRules = { rules: { ...own, alwaysDeny }, notices: [] };
  return async (cwd) => {
    const root = await repositoryRoot(cwd);
    const folders = foldersBetween(root, cwd).filter((folder) => join(folder, ".tinman") !== options.ownHome);
    const read = await Promise.all(folders.map((folder) => readRepositoryFile(folder, root)));
    const found = read.filter((file) => file !== undefined);
    if (found.length === 0) return plain;
    return {
      rules: { ...plain.rules, deny: [...own.deny, ...found.flatMap((file) => file.deny)] },
      notices: found.flatMap((file) => file.notices),
    };
  };
}

function wordsOf(rules: readonly string[], use: "allow" | "deny"): Words {
  return rules.flatMap((rule) => {
    const read = ruleWords(rule, use);
    // The schema has rejected malformed rules.
    return "words" in read ? [read.words] : [];
  });
}

async function readAdminFile({ path, isNamed }: AdminFile): Promise<Words> {
  // A relative path would be in the workspace, which can contain any file.
  if (!isAbsolute(path)) throw invalid("TINMAN_ADMIN_CONFIG", `${visible(path)} is not an absolute path`);
  const opened = await openFile(path);
  if (opened === "missing") {
    if (isNamed) throw invalid(path, "the file named by TINMAN_ADMIN_CONFIG does not exist");
    return [];
  }
  const text = await textOf(opened === "link" ? await openLink(path) : opened, path);
  const { readAdminConfig } = await import("../check/checked-config.ts");
  return wordsOf(readAdminConfig(text, path).permissions?.deny ?? [], "deny");
}

interface RepositoryFile {
  readonly deny: Words;
  readonly notices: readonly string[];
}

async function readRepositoryFile(folder: string, root: string): Promise<RepositoryFile | undefined> {
  const path = join(folder, ".tinman", "config.yaml");
  const opened = await openFile(path, "ENOTDIR");
  if (opened === "missing") return undefined;
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined || !isBelow(real, root)) {
    if (opened !== "link") await opened.close();
    const why = "is a link that is broken or leaves the repository, so it is ignored.";
    return { deny: [], notices: [printable(`${path} ${why}`)] };
  }
  const text = await textOf(opened === "link" ? await openLink(real) : opened, path);
  const { readRepositoryConfig } = await import("../check/checked-config.ts");
  const config = readRepositoryConfig(text, path);
  return { deny: wordsOf(config.permissions?.deny ?? [], "deny"), notices: unusedKeys(config, path) };
}

/** A repository can only narrow permissions. Names its other keys, so that the user knows they have no effect. */
function unusedKeys(value: object, path: string): readonly string[] {
  const entries: (readonly [string, unknown])[] = Object.entries(value);
  const keys = entries.flatMap(([key, inner]) => {
    if (key !== "permissions") return [key];
    const innerKeys = Object.keys(inner ?? {}).filter((name) => name !== "deny");
    return innerKeys.map((name) => `permissions.${name}`);
  });
  if (keys.length === 0) return [];
  const named = keys.slice(0, mostKeysNamed).map((key) => (/^[\w.-]{1,60}$/.test(key) ? key : visible(key)));
  const more = keys.length - named.length;
  const list = [...named, ...(more > 0 ? [`${more} more`] : [])].join(", ");
  const verb = keys.length === 1 ? "is" : "are";
  return [`${printable(path)}: ${list} ${verb} ignored: a repository's configuration can only deny commands.`];
}

/**
 * A single failed `open` if the file is missing, because this runs at every start. Does not follow a final link or wait for a
 * pipe's writer.
 */
async function openFile(path: string, alsoMissing?: string): Promise<FileHandle | "missing" | "link"> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" || (code !== undefined && code === alsoMissing)) return "missing";
    if (code === "ELOOP" || code === "EMLINK") return "link";
    throw invalid(path, reason(error));
  }
}

/** A link must have a target. */
async function openLink(path: string): Promise<FileHandle> {
  const real = await realpath(path).catch((error: unknown) => {
    throw invalid(path, reason(error));
  });
  const opened = await openFile(real);
  if (opened === "missing" || opened === "link") throw invalid(path, `leads to ${real}, which changed in the meantime`);
  return opened;
}

async function textOf(file: FileHandle, path: string): Promise<string> {
  try {
    if (!(await file.stat()).isFile()) throw new Error("is not a plain file");
    const bytes = await readBoundedFrom(file, maxConfigBytes);
    if (bytes.length > maxConfigBytes) throw new Error("is larger than 4 MiB");
    // Malformed bytes would become a rule that never matches.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw invalid(path, reason(error));
  } finally {
    await file.close();
  }
}

function isBelow(path: string, root: string): boolean {
  return path.startsWith(dirname(root) === root ? root : `${root}${sep}`);
}
