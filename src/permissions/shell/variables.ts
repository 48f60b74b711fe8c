/**
 * The effect of a variable on programs that see it. `dangerous`: it changes the shell itself, or any program.
 * `unknown`: it may make some program run another one or write elsewhere. `project`: it lets programs load code of the
 * project, which builds and tests do anyway.
 */
export type VariableRisk = "harmless" | "dangerous" | "unknown" | "project";

/** Prefixes, up to the first underscore, of variables that make programs load code or run other programs. */
const families = new Set(
  (
    "LD DYLD GCONV GLIBC MALLOC BASH GIT SSH GPG GNUPG NPM YARN PNPM BUN DENO PIP UV POETRY CARGO RUST RUSTC RUSTUP GO CGO " +
    "JAVA JDK MAVEN GRADLE ANT SBT PERL PERL5 RUBY GEM BUNDLE LUA PHP COMPOSER PYTHON VIRTUAL CONDA NODE TS AWS AZURE ARM " +
    "GOOGLE GCLOUD CLOUDSDK KUBE HELM DOCKER COMPOSE BUILDKIT TERRAFORM TF VAULT ANSIBLE LESS MAN FZF BAT DELTA EZA EXA JQ " +
    "RIPGREP FD ACK AG TAR ZIP UNZIP GZIP XZ BZIP RSYNC CVS SVN HG CURL WGET OPENSSL SSL XDG DBUS SYSTEMD DEBUGINFOD MAKE " +
    "PS CMAKE CTEST VITE JEST ESLINT MOCHA PYTEST NODEJS SHELL SUDO TINMAN DROID FACTORY OPENAI ANTHROPIC GEMINI npm"
  ).split(" "),
);

/** Individual names, including the shell's own. */
const single = new Set(
  (
    "PATH IFS ENV SHELL SHELLOPTS BASHOPTS CDPATH GLOBIGNORE EXECIGNORE FIGNORE PS0 PS1 PS2 PS3 PS4 PROMPT_COMMAND HOME PWD " +
    "OLDPWD SHLVL TMPDIR TMP TEMP HISTFILE HISTCONTROL INPUTRC POSIXLY_CORRECT OPTIND OPTARG REPLY RANDOM UID EUID FUNCNAME " +
    "SRANDOM HISTCMD LINENO SECONDS DIRSTACK GROUPS TEXTDOMAIN TEXTDOMAINDIR MAGIC LANGUAGE " +
    "BASHPID NLSPATH LOCPATH PAGER EDITOR VISUAL BROWSER MANPAGER MANPATH MANOPT LESS LESSOPEN LESSCLOSE MORE MAIL MAILPATH " +
    "GREP_OPTIONS TAPE RSH GZIP ZIPOPT UNZIP CLASSPATH MAKEFLAGS MAKEFILES MFLAGS GNUMAKEFLAGS CC CXX CPP LD AR AS RANLIB " +
    "CFLAGS CXXFLAGS CPPFLAGS LDFLAGS RUSTFLAGS RUSTDOCFLAGS GOFLAGS GOPATH GOROOT GOBIN GOPROXY GONOSUMDB GOTOOLCHAIN " +
    "GOENV RUBYOPT RUBYLIB PERL5OPT PERL5LIB PERL5DB PERLLIB PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONINSPECT " +
    "PYTHONBREAKPOINT PYTHONWARNINGS PYTHONUSERBASE PYTHONPYCACHEPREFIX PYTHONEXECUTABLE PHPRC WGETRC NETRC KUBECONFIG " +
    "TERMINFO TERMCAP TERMINFO_DIRS HOSTALIASES LOCALDOMAIN RES_OPTIONS RESOLV_HOST_CONF TZDIR DISPLAY XAUTHORITY " +
    "_JAVA_OPTIONS HTTP_PROXY HTTPS_PROXY FTP_PROXY ALL_PROXY NO_PROXY SOCKS_PROXY RSYNC_PROXY histchars auto_resume"
  ).split(" "),
);

/** Neither a path nor a flag, nor anything a program could read as code. */
const plainValue = /^[\w.,:@%+=*-]*$/;
const wholeNumber = /^\d{0,9}$/;
/** On or off, in the spellings that programs accept. */
const switchValue = /^(\d{0,3}|true|false|yes|no|on|off|always|never|none|auto)$/i;
const number = (names: string) => names.split(" ").map((name) => [name, wholeNumber] as const);
const onOff = (names: string) => names.split(" ").map((name) => [name, switchValue] as const);
const plain = (names: string) => names.split(" ").map((name) => [name, plainValue] as const);

/**
 * Variables that can be set before any command, with their allowed values: the output's format, a project's mode, and
 * parts for a tool to skip. No value names a program or a file.
 */
const allowed: ReadonlyMap<string, RegExp> = new Map<string, RegExp>([
  ["TZ", /^[A-Za-z][\w+-]*(\/[A-Z][\w+-]*){0,2}$/],
  ...plain("LANG TERM COLORTERM CI DEBUG VERBOSE LOG_LEVEL LOGLEVEL NODE_ENV APP_ENV RAILS_ENV RACK_ENV MIX_ENV"),
  ...plain("FLASK_ENV ENVIRONMENT RUST_LOG RUST_BACKTRACE RUST_LOG_STYLE GOOS GOARCH GOARM GOMAXPROCS GO111MODULE"),
  ...plain("GREP_COLOR TIMEFORMAT HOST HOSTNAME SOURCE_DATE_EPOCH ASPNETCORE_ENVIRONMENT DOTNET_ENVIRONMENT"),
  ...onOff("NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE NODE_NO_WARNINGS PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE"),
  ...onOff(
    "PYTHONFAULTHANDLER PYTHONOPTIMIZE PYTHONUTF8 CGO_ENABLED CARGO_TERM_COLOR CARGO_INCREMENTAL HUSKY HEADLESS",
  ),
  ...onOff("FLASK_DEBUG DO_NOT_TRACK NEXT_TELEMETRY_DISABLED ASTRO_TELEMETRY_DISABLED TURBO_TELEMETRY_DISABLED"),
  ...onOff("DOTNET_CLI_TELEMETRY_OPTOUT DOTNET_NOLOGO PIP_NO_INPUT PIP_DISABLE_PIP_VERSION_CHECK PIP_NO_CACHE_DIR"),
  ...onOff("PUPPETEER_SKIP_DOWNLOAD PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD CYPRESS_INSTALL_BINARY SKIP_ENV_VALIDATION"),
  ...onOff("PYTEST_DISABLE_PLUGIN_AUTOLOAD"),
  ...number("PORT COLUMNS LINES UV_THREADPOOL_SIZE RUST_TEST_THREADS CARGO_BUILD_JOBS CTEST_PARALLEL_LEVEL"),
  ...number("CMAKE_BUILD_PARALLEL_LEVEL OMP_NUM_THREADS"),
  ["GREP_COLORS", /^[\w.:;=*+@%-]*$/],
  ["LS_COLORS", /^[\w.:;=*+@%-]*$/],
  // Of their many flags, only those for resource limits and warnings.
  ["NODE_OPTIONS", /^--(max-old-space-size|stack-trace-limit)=\d+$|^--no-(warnings|deprecation)$|^--trace-warnings$/],
  ["MAKEFLAGS", /^-?-?j ?\d*$/],
  ["CTEST_OUTPUT_ON_FAILURE", switchValue],
  // Compilers, found on the PATH.
  ["CC", /^(gcc|cc|clang)(-\d+)?$/],
  ["CXX", /^(g\+\+|c\+\+|clang\+\+)(-\d+)?$/],
  ["BROWSER", /^none$/],
  // These keep programs from waiting for input.
  ...["PAGER", "GIT_PAGER", "GH_PAGER", "MANPAGER"].map((name) => [name, /^cat$/] as const),
  ...["EDITOR", "VISUAL", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR"].map((name) => [name, /^(true|:)$/] as const),
  ...onOff("GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS"),
  ...["RUSTFLAGS", "RUSTDOCFLAGS"].map((name) => [name, /^-[DA] ?warnings$|^-C ?target-cpu=native$/] as const),
  ["GOFLAGS", /^-mod=(mod|vendor|readonly)$/],
  ["GOTOOLCHAIN", /^local$/],
  ["PYTHONHASHSEED", /^\d{1,10}$|^random$/],
  ["PYTHONWARNINGS", /^(ignore|default|error|always|once)$/],
]);

function isAllowed(name: string, value: string | undefined): boolean {
  const values = /^LC_[A-Z]+$/.test(name) ? plainValue : allowed.get(name);
  return values !== undefined && value !== undefined && values.test(value);
}

/** Variables that name folders with modules. */
const moduleFolders = new Set(["PYTHONPATH", "NODE_PATH", "RUBYLIB", "PERL5LIB"]);
const folderInProject = /^\.?$|^(?:\.\/)?\w[\w-]*(?:[./][\w-]+)*\/?$/;

export function isModuleFolders(name: string): boolean {
  return moduleFolders.has(name);
}

/** `value`: the new value, if known in advance. */
export function variableRisk(name: string, value: string | undefined): VariableRisk {
  if (isAllowed(name, value)) return "harmless";
  if (isModuleFolders(name) && value?.split(":").every((folder) => folderInProject.test(folder)) === true) {
    return "project";
  }
  const at = name.indexOf("_");
  const isOfFamily = at > 0 && families.has(name.slice(0, at));
  return isOfFamily || single.has(name) || /_proxy$/i.test(name) ? "dangerous" : "unknown";
}
