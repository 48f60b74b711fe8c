import type { DecisionContext, ProtectedPaths } from "../core/permission.ts";
import { plain } from "./path-names.ts";

export type Homes = Pick<DecisionContext, "home" | "ownHome" | "ownConfig" | "loginHome">;

/** Under the user's home: what holds keys, and the start-up files of shells, where many people keep some too. */
const closedUnderHome = [
  ".ssh",
  ".gnupg",
  ".aws",
  ".azure",
  ".kube",
  ".config/gcloud",
  ".config/gh",
  ".config/git/credentials",
  ".config/pip",
  ".pip",
  ".docker/config.json",
  ".git-credentials",
  ".netrc",
  ".npmrc",
  ".pypirc",
  ".cargo/credentials",
  ".cargo/credentials.toml",
  ".factory",
  ".bashrc",
  ".bash_profile",
  ".bash_login",
  ".bash_logout",
  ".profile",
  ".zshrc",
  ".zshenv",
  ".zprofile",
  ".zlogin",
  ".config/fish",
] as const;

/** What starts programs by itself, or says which ones are started. To read it does no harm. */
const keptUnderHome = [
  ".gitconfig",
  ".config/git",
  ".bash_aliases",
  ".zlogout",
  ".config/zsh",
  ".xprofile",
  ".xinitrc",
  ".xsession",
  ".xsessionrc",
  ".pam_environment",
  ".config/autostart",
  ".config/environment.d",
  ".config/systemd/user",
  "Library/LaunchAgents",
  ".inputrc",
  ".tmux.conf",
  ".config/tmux",
  ".vimrc",
  ".gvimrc",
  ".vim",
  ".config/nvim",
  ".emacs",
  ".emacs.d",
  ".config/emacs",
  ".cargo/config",
  ".cargo/config.toml",
] as const;

/** Folders that many people have in their `PATH`. */
const programsUnderHome = [".local/bin", ".cargo/bin", "bin"] as const;

const passwordFiles = ["/etc/shadow", "/etc/gshadow", "/etc/shadow-", "/etc/gshadow-"] as const;

/** The homes of a process do not change, and every path of every command is compared with these. */
let last: { readonly of: Homes; readonly places: ProtectedPaths } | undefined;

/** The protected places that are known by name. The same object for the same homes. */
export function namedPlaces({ home, ownHome, ownConfig, loginHome }: Homes): ProtectedPaths {
  const { of } = last ?? {};
  const isSame = of?.home === home && of.ownHome === ownHome && of.loginHome === loginHome;
  if (last !== undefined && isSame && of?.ownConfig === ownConfig) return last.places;
  const homes = loginHome === undefined || loginHome === home ? [home] : [home, loginHome];
  const under = (names: readonly string[]): readonly string[] =>
    homes.flatMap((folder) => names.map((name) => plain(`${folder}/${name}`)));
  const places = {
    closed: [
      plain(ownHome),
      ...(ownConfig === undefined ? [] : [plain(ownConfig)]),
      ...under(closedUnderHome),
      ...passwordFiles,
    ],
    kept: under(keptUnderHome),
    programs: under(programsUnderHome),
    links: [],
  };
  const elsewhere = {
    ...(loginHome === undefined ? {} : { loginHome }),
    ...(ownConfig === undefined ? {} : { ownConfig }),
  };
  last = { of: { home, ownHome, ...elsewhere }, places };
  return places;
}
