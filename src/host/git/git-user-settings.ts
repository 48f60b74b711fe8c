import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { parseSettings, type Setting } from "./git-settings.ts";
import { isThere, readSmall } from "./repository.ts";
import { runsFileOf } from "./repository-commands.ts";

/** Git's limit for nested includes. */
const deepest = 10;
const mostFiles = 100;

/** The system settings of common git installations. */
const systemFiles = ["/etc/gitconfig", "/usr/local/etc/gitconfig", "/opt/homebrew/etc/gitconfig"];

/**
 * Git's settings outside repositories: of the machine, the user and the environment, with all included files, whatever their
 * conditions. `undefined` if some cannot be read.
 */
export async function userSettings(): Promise<readonly Setting[] | undefined> {
  const { env } = process;
  const given = environmentSettings(env);
  if (given === undefined) return undefined;
  const seen = new Set<string>();
  const settings: Setting[] = [...given];
  let files = [...filesOf(env), ...includesOf(given, "/")];
  for (let depth = 0; depth <= deepest && files.length > 0; depth += 1) {
    const next: string[] = [];
    for (const file of files) {
      if (seen.has(file) || !isThere(file) || file === "/dev/null") continue;
      if (seen.add(file).size > mostFiles) return undefined;
      const text = await readSmall(file);
      const found = text === undefined ? undefined : parseSettings(text);
      if (found === undefined) return undefined;
      settings.push(...found);
      next.push(...includesOf(found, dirname(file)));
    }
    files = next;
  }
  return settings;
}

function filesOf(env: NodeJS.ProcessEnv): string[] {
  const home = env.HOME || homedir();
  const system = env.GIT_CONFIG_SYSTEM ? [env.GIT_CONFIG_SYSTEM] : systemFiles;
  const xdg = env.XDG_CONFIG_HOME || join(home, ".config");
  const user = env.GIT_CONFIG_GLOBAL ? [env.GIT_CONFIG_GLOBAL] : [join(xdg, "git", "config"), join(home, ".gitconfig")];
  return [...system, ...user].filter(isAbsolute);
}

export function expandHome(path: string): string {
  return path.startsWith("~/") ? join(process.env.HOME || homedir(), path.slice(2)) : path;
}

function includesOf(settings: readonly Setting[], folder: string): readonly string[] {
  return settings.flatMap(({ section, key, value }) => {
    if (!/^include(if)?(\.|$)/.test(section) || key !== "path" || !value) return [];
    const path = expandHome(value);
    return [isAbsolute(path) ? path : join(folder, path)];
  });
}

/** The settings in `GIT_CONFIG_COUNT` and `GIT_CONFIG_PARAMETERS`; `undefined` if malformed. */
function environmentSettings(env: NodeJS.ProcessEnv): readonly Setting[] | undefined {
  const counted = Object.entries(env).flatMap(([name, key]) => {
    const at = /^GIT_CONFIG_KEY_(\d+)$/.exec(name)?.[1];
    return at === undefined || key === undefined ? [] : [[key, env[`GIT_CONFIG_VALUE_${at}`]] as const];
  });
  const text = env.GIT_CONFIG_PARAMETERS ?? "";
  const pair = /\s*'([^'=]*)(?:'='|=)?([^']*)'/gy;
  const given: (readonly [string, string])[] = [];
  let end = 0;
  for (let match = pair.exec(text); match !== null; match = pair.exec(text)) {
    given.push([match[1] ?? "", match[2] ?? ""]);
    end = pair.lastIndex;
  }
  if (text.slice(end).trim() !== "") return undefined;
  return [...counted, ...given].map(([name, value]) => settingOf(name, value));
}

function settingOf(name: string, value: string | undefined): Setting {
  const [first, last] = [name.indexOf("."), name.lastIndexOf(".")];
  const sub = last > first ? { sub: name.slice(first + 1, last) } : {};
  const given = value === undefined ? {} : { value };
  return { section: name.slice(0, first).toLowerCase(), ...sub, key: name.slice(last + 1).toLowerCase(), ...given };
}

/** Settings whose value is a command. Not `alias`, which cannot replace known sub-commands. */
const commands =
  /^(core\.(fsmonitor|pager|editor|sshcommand|askpass|gitproxy|alternaterefscommand)|sequence\.editor|pager\..*|diff\.external|(diff|merge|filter|difftool|mergetool|trailer|hook|tar|remote|uploadpack|gpg|credential|interactive|submodule|browser|man|web|instaweb|sendemail)\..*)$/;
const commandKeys =
  /^(fsmonitor|pager|editor|sshcommand|askpass|gitproxy|alternaterefscommand|external|command|cmd|textconv|driver|clean|smudge|process|program|defaultkeycommand|packobjectshook|uploadpack|receivepack|helper|difffilter|update|path|vcs|smtpserver|tocmd|cccmd)$/;

/** Whether a user's setting makes git run code from the folders that it works in. */
export function startsRepositoryFile({ section, sub, key, value = "" }: Setting, folders: readonly string[]): boolean {
  const isBoolean = /^(true|false|yes|no|on|off|\d*)$/i.test(value);
  const name = `${section}.${sub === undefined ? "" : `${sub}.`}${key}`;
  if (isBoolean || !commands.test(name)) return false;
  return (section === "pager" || commandKeys.test(key)) && runsFileOf(folders, value);
}

/** Git's variables that name a program, or a folder of programs. */
const programVariables = [
  "GIT_SSH",
  "GIT_SSH_COMMAND",
  "GIT_ASKPASS",
  "SSH_ASKPASS",
  "GIT_PROXY_COMMAND",
  "GIT_EXEC_PATH",
];

export function environmentStartsRepositoryFile(folders: readonly string[]): boolean {
  return programVariables.some((name) => runsFileOf(folders, process.env[name] ?? ""));
}

/** The hook folders in a user's settings. */
export function hookFoldersOf(settings: readonly Setting[]): readonly string[] {
  const found = settings.filter(
    ({ section, sub, key }) => section === "core" && sub === undefined && key === "hookspath",
  );
  return [...new Set(found.flatMap(({ value }) => (value ? [expandHome(value)] : [])))];
}

/** Placeholders that make git check signatures with another program. */
const signatures = /%[-+ ]*G|%\(\*?signature/;

/** Whether a setting makes git check signatures when it shows commits. */
export function checksSignatures({ section, key, value }: Setting): boolean {
  if (section === "log" && key === "showsignature") return !/^(false|no|off|0+|)$/i.test(value ?? "true");
  return (section === "pretty" || (section === "format" && key === "pretty")) && signatures.test(value ?? "");
}

/** Whether a setting makes git check signatures to sort branches or tags. */
export function sortsBySignature({ section, key, value }: Setting): boolean {
  return (section === "branch" || section === "tag") && key === "sort" && /signature/.test(value ?? "");
}
