import { withoutRelativeLibraries } from "./loaded-code.ts";
import { isSecretName } from "./secret-names.ts";
import { isUserAndPassword, type SecretKind, secretKindOf } from "./secret-values.ts";

/** Keeps commands from waiting for input or a pager, and pip from asking its registry for news. */
const unattended = {
  GIT_TERMINAL_PROMPT: "0",
  GIT_PAGER: "cat",
  PAGER: "cat",
  DEBIAN_FRONTEND: "noninteractive",
  TERM: "dumb",
  PIP_DISABLE_PIP_VERSION_CHECK: "1",
} as const;

/**
 * Variables that change what a command's text means: start-up files (with `SSH_CLIENT`, bash may run `~/.bashrc`),
 * functions that replace programs (`BASH_FUNC_…`), syntax, patterns, `cd`, and extra flags or programs.
 */
const changesMeaning: ReadonlySet<string> = new Set(
  (
    "BASH_ENV ENV SSH_CLIENT SSH2_CLIENT SHELLOPTS BASHOPTS BASH_COMPAT POSIXLY_CORRECT CDPATH GLOBIGNORE EXECIGNORE " +
    "TAR_OPTIONS GREP_OPTIONS GIT_EXTERNAL_DIFF RIPGREP_CONFIG_PATH LESSOPEN LESSCLOSE"
  ).split(" "),
);

function isMisleading(name: string): boolean {
  return changesMeaning.has(name) || name.startsWith("BASH_FUNC_");
}

/** Why a variable is withheld from commands. */
type WithheldBecause =
  /** Its name marks a credential. */
  | "name"
  /** Its value is or contains a credential. */
  | "value"
  /** The configuration's `models` send it to a provider. */
  | "model"
  /** Ours: `TINMAN_*`. */
  | "tinman"
  /** It would change the meaning of commands. */
  | "meaning";

export interface WithheldVariable {
  readonly name: string;
  readonly why: WithheldBecause;
  /** With `value`: the kind that was recognised. */
  readonly kind?: SecretKind | "copy of a withheld value" | "git setting beside a withheld one";
}

interface SortedEnvironment {
  readonly passed: Readonly<Record<string, string>>;
  readonly withheld: readonly WithheldVariable[];
}

/** Whether a value is distinctive enough to recognise copies of it. Copies inside longer values need more characters. */
const isTelling = (value: string, least = 10): boolean =>
  value.length >= least && /^(?!\/)(?=.*\d)(?=.*[a-z])\S+$/i.test(value);
const leastForCopy = 7;

/** Git fails if one of these is missing. */
const gitSettings = /^GIT_CONFIG_(COUNT|KEY_\d+|VALUE_\d+)$/;

function verdictOn(
  name: string,
  value: string,
  hidden: ReadonlySet<string>,
): Omit<WithheldVariable, "name"> | undefined {
  if (/^TINMAN_/i.test(name)) return { why: "tinman" };
  if (hidden.has(name)) return { why: "model" };
  if (isSecretName(name, value)) return { why: "name" };
  const kind = secretKindOf(value) ?? (isUserAndPassword(name, value) ? "user and password" : undefined);
  return kind === undefined ? undefined : { why: "value", kind };
}

/** Decides which variables commands get. `pass` overrides everything except `meaning`. */
export function sortEnvironment(
  user: NodeJS.ProcessEnv,
  pass: readonly string[],
  hide: readonly string[] = [],
): SortedEnvironment {
  const [allowed, hidden] = [new Set(pass), new Set(hide)];
  const passed = new Map<string, string>();
  const withheld = new Map<string, Omit<WithheldVariable, "name">>();
  const secrets: string[] = [];
  for (const [name, value] of Object.entries(user)) {
    if (value === undefined) continue;
    const verdict = isMisleading(name)
      ? ({ why: "meaning" } as const)
      : allowed.has(name)
        ? undefined
        : verdictOn(name, value, hidden);
    if (verdict === undefined) passed.set(name, value);
    else {
      withheld.set(name, verdict);
      if (verdict.why !== "meaning" && verdict.why !== "tinman" && isTelling(value, leastForCopy)) secrets.push(value);
    }
  }
  const withhold = (name: string, kind: WithheldVariable["kind"] & string): void => {
    if (!allowed.has(name) && passed.delete(name)) withheld.set(name, { why: "value", kind });
  };
  for (const [name, value] of [...passed]) {
    const isCopy = (secret: string): boolean => value === secret || (isTelling(secret) && value.includes(secret));
    if (secrets.some(isCopy)) withhold(name, "copy of a withheld value");
  }
  if ([...withheld.keys()].some((name) => gitSettings.test(name))) {
    for (const name of [...passed.keys()].filter((other) => gitSettings.test(other)))
      withhold(name, "git setting beside a withheld one");
  }
  return {
    passed: Object.fromEntries(passed),
    withheld: Array.from(withheld, ([name, verdict]) => ({ name, ...verdict })),
  };
}

/** The environment of programs that we start: without secrets, and set so that nothing waits for input. */
export function commandEnvironment(
  user: NodeJS.ProcessEnv,
  pass: readonly string[],
  hide: readonly string[] = [],
): Record<string, string> {
  return { ...withoutRelativeLibraries(sortEnvironment(user, pass, hide).passed), ...unattended };
}
