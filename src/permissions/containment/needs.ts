/** The needs of proven calls beyond the workspace. Paths are below the user's home, separated by spaces. */
interface Need {
  /** Matches the words of a call, without the path of its program. */
  readonly calls: RegExp;
  readonly network?: true;
  /** It downloads, so anything not understood next to it may be code from the network. */
  readonly downloads?: true;
  /** It runs scripts of the project or its packages, which get the same rights. */
  readonly runsScripts?: true;
  /** Files of the project cannot make it run anything, although it works on the project. */
  readonly runsNothing?: true;
  /** Credentials that the call can read. */
  readonly logins?: string;
  /** Folders that the call can write. */
  readonly caches?: string;
  /** Processes and local ports: the session's, if it has servers, and otherwise the machine's. */
  readonly processes?: true;
  /** The machine's services and records, which containment would hide. */
  readonly machine?: true;
}

/**
 * The first match counts. Runs of a project's code, such as tests and builds, are missing, because they need only the
 * workspace.
 */
const needs: readonly Need[] = [
  {
    calls: /^npm (?:view|info|show|search|ping)\b/,
    network: true,
    runsNothing: true,
    logins: ".npmrc",
    caches: ".npm/_cacache .npm/_logs",
  },
  {
    calls:
      /^npm (?:ci|clean-install|install|i|add|update|up|upgrade|uninstall|remove|rm|un|prune|dedupe|rebuild|install-test|install-ci-test|outdated|audit)\b/,
    network: true,
    runsScripts: true,
    logins: ".npmrc",
    caches: ".npm/_cacache .npm/_logs",
  },
  {
    calls:
      /^pnpm (?:install|i|add|update|up|upgrade|remove|rm|uninstall|un|dedupe|prune|rebuild|fetch|outdated|audit)\b/,
    network: true,
    runsScripts: true,
    logins: ".npmrc .config/pnpm/rc",
    caches: ".local/share/pnpm/store .cache/pnpm .local/state/pnpm",
  },
  {
    calls: /^yarn(?:$| --| (?:install|add|remove|upgrade|up|dedupe|rebuild|info|outdated|audit|npm audit)\b)/,
    network: true,
    runsScripts: true,
    logins: ".npmrc .yarnrc .yarnrc.yml",
    caches: ".cache/yarn .yarn/berry",
  },
  {
    calls: /^bun (?:install|i|add|remove|rm|update|outdated)\b/,
    network: true,
    runsScripts: true,
    logins: ".npmrc .bunfig.toml",
    caches: ".bun/install/cache",
  },
  {
    calls: /^(?:python[\d.]* -m )?pip3? (?:install|download|wheel|index|list)\b/,
    network: true,
    runsScripts: true,
    logins: ".config/pip .pip .netrc",
    caches: ".cache/pip",
  },
  {
    calls: /^uv (?:sync|lock|tree|venv|export|add|remove|pip)\b/,
    network: true,
    runsScripts: true,
    logins: ".config/uv .netrc",
    caches: ".cache/uv",
  },
  {
    calls: /^(?:poetry|pipenv|pdm) (?:install|lock|update|add|remove|sync|show|check)\b/,
    network: true,
    runsScripts: true,
    logins: ".config/pypoetry .netrc",
    caches: ".cache/pypoetry .cache/pip .cache/pipenv .cache/pdm",
  },
  { calls: /^(?:conda|mamba) search\b/, network: true, runsNothing: true, caches: ".cache/conda" },
  {
    calls: /^gem (?:install|update|search|info|outdated)\b/,
    network: true,
    runsScripts: true,
    caches: ".gem .local/share/gem",
  },
  {
    calls: /^(?:bundle|bundler) (?:install|outdated|update|lock|add)\b/,
    network: true,
    runsScripts: true,
    logins: ".bundle/config",
    caches: ".bundle/cache .gem .local/share/gem",
  },
  {
    calls: /^composer (?:install|update|require|remove|outdated|audit)\b/,
    network: true,
    runsScripts: true,
    logins: ".composer/auth.json .config/composer/auth.json",
    caches: ".cache/composer .composer/cache",
  },
  {
    calls: /^cargo (?:fetch|update|generate-lockfile|search|info|outdated|audit|add|tree|metadata)\b/,
    network: true,
    logins: ".cargo/credentials .cargo/credentials.toml",
    caches: ".cargo/registry .cargo/git",
  },
  {
    calls: /^go (?:mod (?:tidy|download|verify|graph|why|vendor)|get|work sync)\b/,
    network: true,
    runsNothing: true,
    logins: ".netrc .gitconfig .config/git/config",
    caches: "go/pkg/mod go/pkg/sumdb .cache/go-build",
  },
  {
    calls: /^(?:mvn|\.\/mvnw) (?:-\S+ )*dependency:/,
    network: true,
    logins: ".m2/settings.xml .m2/settings-security.xml",
    caches: ".m2/repository",
  },
  // Gradle refuses to start without its folder.
  { calls: /^(?:gradle|\.\/gradlew)\b/, runsScripts: true, caches: ".gradle" },
  {
    calls: /^dotnet (?:restore|add|list)\b/,
    network: true,
    runsScripts: true,
    logins: ".nuget/NuGet",
    caches: ".nuget/packages .local/share/NuGet",
  },
  {
    calls: /^mix (?:deps|deps\.get|hex\.outdated)\b/,
    network: true,
    runsScripts: true,
    caches: ".hex .mix .cache/rebar3",
  },
  { calls: /^(?:dart|flutter) pub (?:get|outdated)\b/, network: true, caches: ".pub-cache" },
  {
    calls: /^git (?:fetch|pull|clone|ls-remote|remote (?:show|update)|submodule update)\b/,
    network: true,
    logins: ".ssh .git-credentials .netrc .gitconfig .config/git",
  },
  { calls: /^git\b/, logins: ".gitconfig .config/git/config" },
  { calls: /^(?:curl|wget)\b/, network: true, downloads: true },
  { calls: /^(?:ping6?|dig|nslookup|host|traceroute6?|tracepath|whois)\b/, network: true },
  { calls: /^(?:ps|pgrep|pidof|pstree|ss|lsof|netstat|kill|pkill|killall)\b/, processes: true },
  {
    calls:
      /^(?:docker|podman|kubectl|gh|brew|systemctl|journalctl|ip|ifconfig|who|w|users|uptime|lsblk|df|mount|findmnt|crontab|sysctl)\b/,
    machine: true,
  },
];

/** Sub-commands of installers that only look something up. */
const lookingUp = /^\S+ (?:-m pip )?(?:outdated|view|info|show|search|audit|ping|index|list|export|check)\b/;

/** What a call needs beyond the workspace; `undefined` if nothing. */
export function needOf(words: readonly (string | undefined)[]): Need | undefined {
  const program = words[0]?.replace(/^.*\/(?!gradlew$|mvnw$)/, "") ?? "";
  const call = [program, ...words.slice(1, 5).map((word) => word ?? "…")].join(" ");
  const need = needs.find(({ calls }) => calls.test(call));
  if (need?.runsScripts !== true || !lookingUp.test(call)) return need;
  const { runsScripts: _, ...others } = need;
  return others;
}

const local = /^(?:https?:\/\/)?(?:localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1?\])(?::\d+)?(?:[/?#]|$)/i;

/** Whether every address in a call is this machine's. */
export function isLocalRequest(words: readonly (string | undefined)[]): boolean {
  const addresses = words
    .slice(1)
    .filter((word) => word === undefined || /^\w+:\/\/|^localhost\b|^127\.|^\[/.test(word));
  return addresses.length > 0 && addresses.every((word) => word !== undefined && local.test(word));
}
