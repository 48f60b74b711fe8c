import { accessSync, constants, readdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, isAbsolute, join, normalize } from "node:path";
import type { ProtectedPaths } from "../../engine/permission.ts";
import { errorCode } from "../../text/system-errors.ts";
import { withoutTrailingSlashes } from "../../text/text-cut.ts";
import { liesBelow } from "../files/where-it-leads.ts";
import { isSecretName } from "./secret-names.ts";

/** Variables that move a folder out of the home, and that folder. */
const moved = `
  XDG_CONFIG_HOME=.config XDG_DATA_HOME=.local/share XDG_STATE_HOME=.local/state XDG_CACHE_HOME=.cache
  GNUPGHOME=.gnupg DOCKER_CONFIG=.docker AZURE_CONFIG_DIR=.azure CLOUDSDK_CONFIG=.config/gcloud
  GH_CONFIG_DIR=.config/gh GLAB_CONFIG_DIR=.config/glab-cli PASSWORD_STORE_DIR=.password-store PULUMI_HOME=.pulumi
  HELM_CONFIG_HOME=.config/helm HF_HOME=.cache/huggingface KAGGLE_CONFIG_DIR=.kaggle CLAUDE_CONFIG_DIR=.claude
  CODEX_HOME=.codex CARGO_HOME=.cargo RUSTUP_HOME=.rustup GRADLE_USER_HOME=.gradle COMPOSER_HOME=.config/composer
  BUNDLE_USER_HOME=.bundle IPYTHONDIR=.ipython JUPYTER_CONFIG_DIR=.jupyter GOPATH=go PYENV_ROOT=.pyenv
  RBENV_ROOT=.rbenv NODENV_ROOT=.nodenv ASDF_DATA_DIR=.asdf MISE_DATA_DIR=.local/share/mise
  MISE_CONFIG_DIR=.config/mise NVM_DIR=.nvm VOLTA_HOME=.volta BUN_INSTALL=.bun DENO_INSTALL=.deno
  PNPM_HOME=.local/share/pnpm SDKMAN_DIR=.sdkman ZSH=.oh-my-zsh ZIM_HOME=.zim ZPLUG_HOME=.zplug ADOTDIR=.antigen
  BASH_IT=.bash_it DOOMDIR=.doom.d ASDF_DIR=.asdf rvm_path=.rvm PYTHONUSERBASE=.local DBT_PROFILES_DIR=.dbt
  DOPPLER_CONFIG_DIR=.doppler BORG_CONFIG_DIR=.config/borg`
  .trim()
  .split(/\s+/)
  .map((pair) => pair.split("=") as [variable: string, folder: string]);

/** Variables that name files with credentials or a history. */
const closedFiles = `
  KUBECONFIG AWS_SHARED_CREDENTIALS_FILE AWS_CONFIG_FILE GOOGLE_APPLICATION_CREDENTIALS BOTO_CONFIG PGPASSFILE PGSERVICEFILE NETRC
  REGISTRY_AUTH_FILE HELM_REGISTRY_CONFIG KRB5_KTNAME KRB5CCNAME TF_CLI_CONFIG_FILE NPM_CONFIG_USERCONFIG npm_config_userconfig PIP_CONFIG_FILE
  BUNDLE_USER_CONFIG XAUTHORITY WGETRC VAULT_CONFIG_PATH SOPS_AGE_KEY_FILE HISTFILE PYTHON_HISTORY NODE_REPL_HISTORY
  PSQL_HISTORY MYSQL_HISTFILE SQLITE_HISTORY REDISCLI_HISTFILE LESSHISTFILE SSLKEYLOGFILE`;

/** Variables that name a file which a program runs, or reads commands from. */
const keptFiles = `
  GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM PYTHONSTARTUP INPUTRC SCREENRC PSQLRC MAILCAPS ANSIBLE_CONFIG CONDARC HGRCPATH
  RIPGREP_CONFIG_PATH ACKRC MYVIMRC MYGVIMRC STARSHIP_CONFIG MISE_CONFIG_FILE ASDF_CONFIG_FILE R_PROFILE_USER R_ENVIRON_USER
  IRBRC PRYRC GOENV NPM_CONFIG_GLOBALCONFIG BASH_ENV ENV LD_PRELOAD EDITOR VISUAL GIT_EDITOR GIT_SSH GIT_ASKPASS SSH_ASKPASS
  SUDO_ASKPASS`;

const systemFolders = /^\/(bin|sbin|lib\w*|usr|opt|etc|var|nix|snap|System|Library|Applications)(\/|$)/;

/** A plausible absolute path: not a device, and not a folder around the home. */
function meant(path: string | undefined): string | undefined {
  if (path === undefined || !isAbsolute(path) || path.includes("\0")) return undefined;
  const plain = withoutTrailingSlashes(normalize(path)) || "/";
  return liesBelow(plain, "/dev") || liesBelow(plain, "/proc") || liesBelow(homedir(), plain) ? undefined : plain;
}

function named(env: NodeJS.ProcessEnv, variables: string): readonly string[] {
  return variables
    .trim()
    .split(/\s+/)
    .flatMap((name) => env[name]?.replace(/^[A-Z]+:(?=\/)/, "").split(delimiter) ?? [])
    .flatMap((path) => meant(path) ?? []);
}

/** Includes a folder that does not exist yet. */
function isWritableFolder(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return statSync(path).isDirectory();
  } catch (error) {
    return errorCode(error) === "ENOENT";
  }
}

/** Folders of the `PATH` that the user can write to. Root can write everywhere, so the system's folders are left out. */
function programFolders(env: NodeJS.ProcessEnv): readonly string[] {
  const isRoot = process.getuid?.() === 0;
  const folders = (env.PATH ?? "").split(delimiter).flatMap((path) => meant(path) ?? []);
  return folders.filter((path) => !(isRoot && systemFolders.test(path)) && isWritableFolder(path));
}

/** Files named by variables that look like credentials: `DB_PASSWORD_FILE=/srv/password`. */
function filesOfSecrets(env: NodeJS.ProcessEnv): readonly string[] {
  return Object.entries(env).flatMap(([name, value = ""]) => {
    const path = value.startsWith("/") && isSecretName(name, "x") ? meant(value) : undefined;
    // The file may not exist yet.
    return path !== undefined && statSync(path, { throwIfNoEntry: false })?.isFile() !== false ? [path] : [];
  });
}

/** Kerberos's default file for a user's tickets. */
function tickets(): readonly string[] {
  const uid = process.getuid?.();
  return uid === undefined ? [] : [`/tmp/krb5cc_${uid}`, `/run/user/${uid}/krb5cc`];
}

/** Caches that a shell sources at start-up. Their names end in a user, a host or a version. */
const sourcedCache = /^(\.?zcompdump|p10k-)/i;

function sourcedCaches(env: NodeJS.ProcessEnv, home: string): readonly string[] {
  const folders = new Set([join(home, ".cache"), meant(env.XDG_CACHE_HOME) ?? join(home, ".cache")]);
  return [...folders].flatMap((folder) =>
    safely(() => readdirSync(folder).filter((name) => sourcedCache.test(name))).map((name) => join(folder, name)),
  );
}

/** The home's places that variables move, the files that they name, and the folders of the `PATH`. */
export function environmentPlaces(env: NodeJS.ProcessEnv, places: ProtectedPaths, home: string): ProtectedPaths {
  const moves = moved.flatMap(([variable, folder]) => {
    const to = meant(env[variable]);
    return to === undefined || to === join(home, folder) ? [] : [{ from: join(home, folder), to }];
  });
  const zsh = meant(env.ZDOTDIR);
  const curl = meant(env.CURL_HOME);
  const elsewhere = (paths: readonly string[]): readonly string[] => [
    ...moves.flatMap(({ from, to }) =>
      paths.filter((path) => liesBelow(path, from)).map((path) => `${to}${path.slice(from.length)}`),
    ),
    ...(zsh === undefined ? [] : inHome(paths, `${home}/.z`, home, zsh)),
    ...(curl === undefined ? [] : inHome(paths, `${home}/.curlrc`, home, curl)),
  ];
  const closed = [
    ...elsewhere(places.closed),
    ...named(env, closedFiles),
    ...tickets(),
    ...safely(() => filesOfSecrets(env)),
  ];
  return {
    closed: [...new Set(closed)],
    kept: [...elsewhere(places.kept), ...named(env, keptFiles), ...sourcedCaches(env, home)],
    // Start-up files can source anything beside them.
    programs: [
      ...elsewhere(places.programs),
      ...(zsh === undefined || zsh === home ? [] : [zsh]),
      ...programFolders(env),
    ],
    links: [],
  };
}

function inHome(paths: readonly string[], start: string, home: string, to: string): readonly string[] {
  return paths.filter((path) => path.startsWith(start)).map((path) => `${to}${path.slice(home.length)}`);
}

function safely(find: () => readonly string[]): readonly string[] {
  try {
    return find();
  } catch {
    return [];
  }
}
