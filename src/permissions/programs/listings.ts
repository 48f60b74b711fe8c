import type { Touch } from "../../engine/permission.ts";
import type { Surroundings } from "../judgement.ts";
import { type Arg, knownStart, text, textOf } from "./arg.ts";
import { mayBeNoWord, suspects } from "./suspects.ts";
import { lossesOf } from "./touches.ts";

/** Tests of `find` that choose by name. With one of them, it does not list everything. */
const choosing = /^-i?(?:name|path|wholename|regex|lname)$/;
/** Flags with which these list everything in the working directory. */
const listsAll = /^(?:--(?:files|hidden|all|unrestricted|no-ignore|null|print0)|-[auHI0f.]+|\.)$/;

/**
 * What is lost if something deletes all the names that a call prints. Unknown words count as missing, which makes the
 * call list the working directory.
 */
export function listedBy(args: readonly Arg[], around: Surroundings): readonly Touch[] {
  const folders = foldersListed(textOf(args[0])?.split("/").at(-1) ?? "", args.slice(1));
  return suspects(folders, around, "write").flatMap((touch) => [
    { ...touch, recursive: true, moves: true },
    ...lossesOf(touch),
  ]);
}

function foldersListed(program: string, args: readonly Arg[]): readonly Arg[] {
  if (program === "find") {
    const end = args.findIndex((arg) => arg.kind === "text" && /^[-(!]/.test(arg.value));
    const isChosen = args.some((arg, at) => {
      const before = textOf(args[at - 1]);
      return choosing.test(textOf(arg) ?? "") && before !== "!" && before !== "-not";
    });
    return isChosen ? [] : named(end === -1 ? args : args.slice(0, end));
  }
  if (program === "ls" || program === "dir") {
    const isItself = args.some((arg) => /^-\w*d|^--directory$/.test(textOf(arg) ?? ""));
    return isItself ? [] : named(args.filter((arg) => !knownStart(arg).startsWith("-")));
  }
  const isAll = /^(?:fd|fdfind|rg|du|tree)$/.test(program) && args.every((arg) => listsAll.test(textOf(arg) ?? ""));
  return isAll ? [text(".")] : [];
}

/** The folders that words name, or the working directory if no word is certain to remain. */
function named(words: readonly Arg[]): readonly Arg[] {
  return words.every(mayBeNoWord) ? [...words, text(".")] : words;
}

/** Programs whose output has no names, or a selection by their text. */
const selects = /^(?:wc|cksum|md5sum|sha\d+sum|head|tail|grep|egrep|fgrep|rg|fzf|jq)$/;

/** Whether a call may print all the names in its input. */
export function passesNames(words: readonly (string | undefined)[]): boolean {
  const program = words[0]?.split("/").at(-1) ?? "";
  if (!selects.test(program)) return true;
  return /grep$|^rg$/.test(program) && words.some((word) => word === undefined || /^-\w*v|^--invert/.test(word));
}
