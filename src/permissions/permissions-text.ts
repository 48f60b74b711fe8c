import type { PermissionSituation } from "../engine/permission.ts";
import { type Autonomy, autonomyLevels, isAbove } from "../engine/settings.ts";

/** The calls of each class, by the lowest level that runs them unasked. */
const calls: Readonly<Record<Autonomy, string>> = {
  off: "reading, listing and searching in the workspace, and commands that only do that",
  low: "creating and editing files in the workspace, reading elsewhere",
  medium:
    "well-known builds, tests and installers, git add, commit and switch, downloads, writing elsewhere, deleting files that git has unchanged",
  high: "other programs and scripts, git push, other deletions",
};

const sandboxed: Readonly<Record<Autonomy, string>> = {
  ...calls,
  medium: `${calls.medium}, other programs and scripts`,
  high: "git push, other deletions, commands with riskLevel high",
};

const sandboxRules =
  'Commands run in a sandbox. They can write the workspace and $TMPDIR, not /tmp, and cannot see credentials. Installers, git and downloads have the network when they run as separate commands; other programs do not. riskLevel "high" asks to run a command outside the sandbox. Background commands end with the session.';

/** The calls that run unasked, those that need approval, and whether an approver is attached. */
export function permissionsText(situation: PermissionSituation): string {
  const { autonomy, mode, cwd, canAsk, contained, unsafe, onDenied } = situation;
  const classes = contained ? sandboxed : calls;
  const lines = [
    "Permissions",
    `Workspace: ${cwd}`,
    `Level: ${unsafe === true ? "everything runs unasked" : autonomy}`,
  ];
  if (unsafe === true) return lines.join("\n");
  if (mode === "spec") return [...lines, `Runs: ${calls.off}. Spec mode refuses everything else.`].join("\n");
  const isRun = (level: Autonomy): boolean => !isAbove(level, autonomy);
  const of = (levels: readonly Autonomy[]): string => levels.map((level) => classes[level]).join("; ");
  const others = autonomyLevels.filter((level) => !isRun(level));
  lines.push(`Runs unasked: ${of(autonomyLevels.filter(isRun))}.`);
  const needing = [
    ...(others.length === 0 ? [] : [of(others)]),
    "protected places (credentials, .git, start-up files of shells)",
  ];
  lines.push(`Needs permission: ${needing.join("; ")}.`);
  if (contained) lines.push(sandboxRules);
  if (canAsk) lines.push("The user is asked for it when you make such a call.");
  else if (onDenied === "continue")
    lines.push("No approver is connected: such a call is denied, and you continue without it.");
  else
    lines.push(
      "No approver is connected: such a call is denied and ends the run. Do what you can without it, and say what is missing.",
    );
  return lines.join("\n");
}
