import { high, type Judgement, type Surroundings } from "../judgement.ts";
import { enter } from "../shell/folders.ts";
import { type Arg, textOf } from "./arg.ts";

/** Options before the sub-command that do not affect its risk. */
const harmless = new Set(["--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "--no-replace-objects"]);

/** `git` with the options before its sub-command, which can change its folder or make it run programs. */
export function judgeGit(
  args: readonly Arg[],
  around: Surroundings,
  judgeRest: (args: readonly Arg[], around: Surroundings) => Judgement,
): Judgement {
  let { folders } = around;
  let at = 0;
  for (; ; at += 1) {
    const word = textOf(args[at]);
    if (word !== undefined && harmless.has(word)) continue;
    if (word !== "-C") break;
    at += 1;
    folders = enter(folders, args[at]);
  }
  const first = textOf(args[at]);
  if (first?.startsWith("-") === true && first !== "--version") {
    return high("git-options", `gives git the option ${JSON.stringify(first)}, which can make it run programs`);
  }
  const judgement = judgeRest(args.slice(at), { ...around, folders });
  // Printed paths are relative to another folder, given with -C.
  return folders === around.folders ? judgement : { ...judgement, prints: undefined };
}
