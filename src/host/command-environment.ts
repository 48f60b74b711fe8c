/** Words in a variable's name that say its value is a credential. Matched against the upper-cased name. */
const credentialNames = [
  /API_?KEY/,
  /ACCESS_?KEY/,
  /PRIVATE_?KEY/,
  /_KEY$/,
  /TOKEN$/,
  /SECRET/,
  /PASSWORD/,
  /PASSWD/,
  /PASSPHRASE/,
  /(^|_)PASS$/,
  /_PWD$/,
  /CREDENTIAL/,
  /(^|_)PAT$/,
  /(^|_)JWT$/,
  /(^|_)AUTH$/,
  /AUTH_CONFIG$/,
  /BEARER/,
];

/** Nobody is there to answer a prompt or to page through text. */
const unattended = {
  GIT_TERMINAL_PROMPT: "0",
  GIT_PAGER: "cat",
  PAGER: "cat",
  DEBIAN_FRONTEND: "noninteractive",
  TERM: "dumb",
} as const;

/**
 * With one of these, a command text does something else than it says, and what it says is what was decided on: files that
 * the shell runs first and functions that take the place of programs (`BASH_ENV`, `ENV`, `BASH_FUNC_…`), another reading of
 * the text, its patterns and its `cd` (`SHELLOPTS`, `BASHOPTS`, `BASH_COMPAT`, `POSIXLY_CORRECT`, `GLOBIGNORE`,
 * `EXECIGNORE`, `CDPATH`), and flags or programs that are added to those of the text.
 */
const changesMeaning: ReadonlySet<string> = new Set([
  "BASH_ENV",
  "ENV",
  "SHELLOPTS",
  "BASHOPTS",
  "BASH_COMPAT",
  "POSIXLY_CORRECT",
  "CDPATH",
  "GLOBIGNORE",
  "EXECIGNORE",
  "TAR_OPTIONS",
  "GREP_OPTIONS",
  "GIT_EXTERNAL_DIFF",
  "RIPGREP_CONFIG_PATH",
  "LESSOPEN",
  "LESSCLOSE",
]);

function isMisleading(name: string): boolean {
  return changesMeaning.has(name) || name.startsWith("BASH_FUNC_");
}

function isPrivate(name: string): boolean {
  const upper = name.toUpperCase();
  return upper.startsWith("TINMAN_") || credentialNames.some((pattern) => pattern.test(upper));
}

/**
 * The user's environment as programs that we start see it: without variables whose names say that they hold a credential,
 * those in `hide` and our own (`TINMAN_*`), except the names in `pass`; without any that change what a command text means;
 * and set so that nothing waits for a person.
 */
export function commandEnvironment(
  user: NodeJS.ProcessEnv,
  pass: readonly string[],
  hide: readonly string[] = [],
): Record<string, string> {
  const allowed = new Set(pass);
  const hidden = new Set(hide);
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(user)) {
    if (value === undefined || isMisleading(name)) continue;
    if (allowed.has(name) || !(hidden.has(name) || isPrivate(name))) result[name] = value;
  }
  return { ...result, ...unattended };
}
