/** A guess at what a command line may do. It is advice only: the engine judges for itself. */

export type Risk = "low" | "medium" | "high";

const looking =
  /^(?:ls|pwd|cat|head|tail|wc|echo|date|whoami|uname|hostname|which|grep|rg|tree|stat|file|du|df|id|printf|seq|true)\b/;
const lookingGit =
  /^git\s+(?:status|log|diff|show|branch(?:\s+(?:--show-current|-a|-v|--list))*$|remote -v|rev-parse|blame|ls-files)\b/;
const dangerous =
  /\bsudo\b|\brm\b|\bgit\s+push\b|\bmkfs|\bdd\b|\bshutdown\b|\breboot\b|\bkill|\bchmod\b|\bchown\b|\bcurl\b|\bwget\b|\bssh\b|\bscp\b|\bdeploy\b|\bpublish\b/;
const shellSyntax = /[;&|<>$`(){}\n\\]/;

export function onlyLooks(command: string): boolean {
  const text = command.trim();
  return !shellSyntax.test(text) && (looking.test(text) || lookingGit.test(text));
}

export function riskOf(command: string): { readonly riskLevel: Risk; readonly riskLevelReason: string } {
  if (onlyLooks(command)) return { riskLevel: "low", riskLevelReason: "It only reads." };
  if (dangerous.test(command))
    return { riskLevel: "high", riskLevelReason: "It may remove, send or change things for good." };
  return { riskLevel: "medium", riskLevelReason: "It may change files of this project." };
}

/** One word for a shell. */
export function shellWord(text: string): string {
  return /^[\w./@~+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
