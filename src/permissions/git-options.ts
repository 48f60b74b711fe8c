import { type Arg, textOf } from "./arg.ts";
import { enter } from "./folders.ts";
import { high, type Judgement, type Surroundings } from "./judgement.ts";

/** Options in front of the sub-command that change nothing about it. */
const harmless = new Set(["--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "--no-replace-objects"]);

/** `git` with the options in front of its sub-command, which may move it elsewhere or make it run something. */
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
    return high("git-options", `gives git the option ${JSON.stringify(first)}, which can make it run something`);
  }
  const judgement = judgeRest(args.slice(at), { ...around, folders });
  // What it prints is meant for the folder that it was sent to.
  return folders === around.folders ? judgement : { ...judgement, prints: undefined };
}
