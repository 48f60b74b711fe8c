import type { PermissionSituation } from "../engine/ports.ts";
import { type Autonomy, autonomyLevels, isAbove } from "../engine/settings.ts";

/** What calls of each class are, by the lowest level that runs them unasked. */
const calls: Readonly<Record<Autonomy, string>> = {
  off: "reading, listing and searching in the workspace, and commands that only do that",
  low: "creating and editing files in the workspace, reading elsewhere",
  medium:
    "well-known builds, tests and installers, git add, commit and switch, downloads, writing elsewhere, deleting what git has unchanged",
  high: "other programs and scripts, git push, other deletions",
};

/** Which calls run, which need somebody's yes, and whether anybody can give it. */
export function permissionsText({ autonomy, mode, cwd, canAsk, unsafe, onDenied }: PermissionSituation): string {
  const lines = [
    "Permissions",
    `Workspace: ${cwd}`,
    `Level: ${unsafe === true ? "everything runs unasked" : autonomy}`,
  ];
  if (unsafe === true) return lines.join("\n");
  if (mode === "spec") return [...lines, `Runs: ${calls.off}. Spec mode refuses everything else.`].join("\n");
  const isRun = (level: Autonomy): boolean => !isAbove(level, autonomy);
  const of = (levels: readonly Autonomy[]): string => levels.map((level) => calls[level]).join("; ");
  const others = autonomyLevels.filter((level) => !isRun(level));
  lines.push(`Runs unasked: ${of(autonomyLevels.filter(isRun))}.`);
  const needing = [
    ...(others.length === 0 ? [] : [of(others)]),
    "protected places (credentials, .git, start-up files of shells)",
  ];
  lines.push(`Needs permission: ${needing.join("; ")}.`);
  if (canAsk) lines.push("The user is asked for it when you make such a call.");
  else if (onDenied === "continue")
    lines.push("Nobody can give it here: such a call is denied, and you go on without it.");
  else
    lines.push(
      "Nobody can give it here: such a call is denied and ends the run. Do what you can without it, and say what is missing.",
    );
  return lines.join("\n");
}
