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

function isPrivate(name: string): boolean {
  const upper = name.toUpperCase();
  return upper.startsWith("TINMAN_") || credentialNames.some((pattern) => pattern.test(upper));
}

/**
 * The user's environment as programs that we start see it: without variables whose names say that they hold a credential
 * and without our own (`TINMAN_*`), except the names in `pass`, and set so that nothing waits for a person.
 */
export function commandEnvironment(user: NodeJS.ProcessEnv, pass: readonly string[]): Record<string, string> {
  const allowed = new Set(pass);
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(user)) {
    if (value !== undefined && (allowed.has(name) || !isPrivate(name))) result[name] = value;
  }
  return { ...result, ...unattended };
}
