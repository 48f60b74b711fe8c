import { withoutRelativeLibraries } from "./loaded-code.ts";
import { isSecretName } from "./secret-names.ts";
import { type SecretKind, secretKindOf } from "./secret-values.ts";

/** So that no command waits for input or for a pager. */
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

/** Why a command does not get a variable. */
export type WithheldBecause =
  /** The name says that it holds a credential. */
  | "name"
  /** The value is a credential, or holds one. */
  | "value"
  /** An entry of `models` in the configuration sends it to a provider. */
  | "model"
  /** Ours: `TINMAN_*`. */
  | "tinman"
  /** It would change what the text of a command means. */
  | "meaning";

export interface WithheldVariable {
  readonly name: string;
  readonly why: WithheldBecause;
  /** With `value`: what it was recognised as. */
  readonly kind?: SecretKind | "copy of a withheld value" | "git setting beside a withheld one";
}

export interface SortedEnvironment {
  readonly passed: Readonly<Record<string, string>>;
  readonly withheld: readonly WithheldVariable[];
}

/** Shorter values, and values of letters alone, may be part of others by chance; a short one that is the same hardly is. */
const isTelling = (value: string, least = 10): boolean =>
  value.length >= least && /^(?!\/)(?=.*\d)(?=.*[a-z])\S+$/i.test(value);
const leastForCopy = 7;

/** Git refuses to run when one of these is missing. */
const gitSettings = /^GIT_CONFIG_(COUNT|KEY_\d+|VALUE_\d+)$/;

function verdictOn(
  name: string,
  value: string,
  hidden: ReadonlySet<string>,
): Omit<WithheldVariable, "name"> | undefined {
  if (/^TINMAN_/i.test(name)) return { why: "tinman" };
  if (hidden.has(name)) return { why: "model" };
  if (isSecretName(name, value)) return { why: "name" };
  const kind = secretKindOf(value);
  return kind === undefined ? undefined : { why: "value", kind };
}

/** Which variables of the user's environment commands get, and which they do not. `pass` wins over everything but `meaning`. */
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

/** The user's environment as programs that we start get it: without secrets, and set so that nothing waits for input. */
export function commandEnvironment(
  user: NodeJS.ProcessEnv,
  pass: readonly string[],
  hide: readonly string[] = [],
): Record<string, string> {
  return { ...withoutRelativeLibraries(sortEnvironment(user, pass, hide).passed), ...unattended };
}
