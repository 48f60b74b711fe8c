import type { Touch } from "../../engine/permission.ts";
import { high, type Inner, type Judgement, judged, type Surroundings } from "../judgement.ts";
import { type Arg, knownStart, mayBeFlag, type Printed, text, textOf, unknownWords } from "./arg.ts";
import { hasEnding, isPlainPath } from "./printed-paths.ts";
import { mayBeNoWord, suspects } from "./suspects.ts";
import { belowTouches, lossesOf, touchesOf } from "./touches.ts";

/** Tests and actions of `find` that change nothing, with their number of arguments. */
const harmless = new Map<string, number>([
  ..."-print -print0 -ls -prune -quit -true -false -empty -executable -readable -writable -nouser -nogroup -depth -d -mount -xdev -daystart -noleaf -ignore_readdir_race -noignore_readdir_race -warn -nowarn -not -a -and -o -or ( ) ! ,"
    .split(" ")
    .map((name) => [name, 0] as const),
  ..."-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -lname -ilname -type -xtype -size -links -inum -perm -user -group -uid -gid -fstype -mindepth -maxdepth -amin -atime -cmin -ctime -mmin -mtime -used -newermt -newerat -newerct -printf -context"
    .split(" ")
    .map((name) => [name, 1] as const),
]);
/** These compare with a file's metadata. */
const comparesWith = /^-(newer|anewer|cnewer|samefile|newer[aBcm][aBcm])$/;

export function judgeFind(args: readonly Arg[], around: Surroundings): Judgement {
  let at = 0;
  let follows = false;
  for (; /^-[HLP]$/.test(textOf(args[at]) ?? ""); at += 1) follows ||= textOf(args[at]) !== "-P";
  const starts: Arg[] = [];
  for (; at < args.length && !startsExpression(args[at] as Arg); at += 1) starts.push(args[at] as Arg);
  // Without a folder it starts in the working directory.
  const places = starts.every(mayBeNoWord) ? [...starts, text(".")] : starts;
  const isFlag = places.some((arg) => mayBeFlag(arg));
  const touches = places.map((arg) => touchesOf(arg, "read", "read", around, true));
  if (isFlag || touches.some((found) => found === undefined)) {
    const unknown = isFlag
      ? unknownUse()
      : high("unknown-path", "finds files below a folder that is not known in advance");
    return { ...unknown, touches: deletes(args) ? guessedDeletion(places, args.slice(at), around) : [] };
  }
  const found = touches.flatMap((list) => list ?? []);
  const isPlain = places.every(isPlainPath);
  const folders = found.map(({ lookup }) => lookup.path);
  const spares = hasEndings(args.slice(at)) ? { sparesGit: true as const } : {};
  const words = args.slice(at);
  const tests = testsIn(words, places);
  const chosen = tests === undefined ? {} : { chosen: tests };
  const printed = isPlain ? { folders, zeros: true, from: around.folders ?? [], ...spares, ...chosen } : undefined;
  const lost = deletes(words) ? found.flatMap((touch) => deleting(touch, tests)) : [];
  if (words.some((arg) => textOf(arg) === "-delete")) {
    return high("delete", "deletes the files it finds, which cannot be undone", { touches: [...found, ...lost] });
  }
  const expression = readExpression(words, printed, around);
  if (expression === undefined) return unknownUse();
  const links = belowTouches(found, { git: false, links: follows || expression.follows });
  return judged("read", "row find", "finds files", {
    touches: [...found, ...links, ...lost, ...expression.touches],
    runs: expression.runs,
    prints: printed && expression.prints && { ...printed, zeros: expression.prints === "zeros" },
  });
}

/** Whether find deletes the files it finds, itself or with a program. */
function deletes(words: readonly Arg[]): boolean {
  return words.some((arg, at) => {
    const before = textOf(words[at - 1]) ?? "";
    return (
      textOf(arg) === "-delete" || (/^-(exec|ok)/.test(before) && /(^|\/)(rm|unlink|shred)$/.test(textOf(arg) ?? ""))
    );
  });
}

/** Without a test everything in the folder is deleted, even `.git`. Protected places may pass any test. */
function deleting(touch: Touch, tests: readonly string[] | undefined): readonly Touch[] {
  const deleted: Touch = { ...touch, use: "write", recursive: true };
  if (tests === undefined) return [{ ...deleted, moves: true }, ...lossesOf(touch)];
  return [deleted, ...selecting([touch], tests)];
}

/** What it deletes if unknown words are empty, or what they probably are. */
function guessedDeletion(places: readonly Arg[], words: readonly Arg[], around: Surroundings): readonly Touch[] {
  const tests = testsIn(words, places);
  return suspects(places, around).flatMap((touch) => deleting(touch, tests));
}

function selecting(touches: readonly Touch[], tests: readonly string[]): readonly Touch[] {
  return touches.flatMap(lossesOf).flatMap((touch) => {
    return tests.map((from): Touch => ({ ...touch, lookup: { ...touch.lookup, from } }));
  });
}

/** The repositories from which a list that find prints names something. */
export function selectedRepositories({ folders, chosen = [] }: Printed): readonly Touch[] {
  const touches = folders.map((path): Touch => {
    return { use: "write", class: "read", lookup: { what: "path", path }, recursive: true };
  });
  return selecting(touches, chosen);
}

/**
 * The tests for names and paths that select files; `undefined` if everything is selected. They are empty if nothing in
 * `.git` is.
 */
function testsIn(words: readonly Arg[], places: readonly Arg[]): readonly string[] | undefined {
  const texts = words.map((arg) => textOf(arg));
  const isNegated = (at: number): boolean => /^(!|-not)$/.test(texts[at - 1] ?? "");
  const at = texts.flatMap((word, index) => (/^-i?(name|path|wholename|regex|lname)$/.test(word ?? "") ? [index] : []));
  const named = at.filter((index) => !isNegated(index) && /[\w-]/.test(texts[index + 1] ?? ""));
  if (named.length === 0) return undefined;
  if (skipsGit(texts)) return [];
  const test = (index: number, start: string): string | undefined => {
    const name = texts[index] ?? "";
    const value = texts[index + 1] ?? "*";
    if (name === "-name" || name === "-iname") return value;
    // Of an expression only the end is known.
    if (/regex$/.test(name)) return `*${literalEnd(value)}`;
    if (value.startsWith("*") || name === "-lname") return value.includes("/") ? value : `*/${value}`;
    return value.startsWith(start) ? value.slice(start.length).replace(/^\/*/, "/") : undefined;
  };
  const isEither = texts.some((word) => /^(-o|-or|,)$/.test(word ?? ""));
  const all = (isEither ? named.map((index) => [index]) : [named]).flatMap((indexes) =>
    places.flatMap((place) => {
      const tests = indexes.map((index) => test(index, textOf(place) ?? ""));
      return tests.includes(undefined) ? [] : [tests.join("\n")];
    }),
  );
  return [...new Set(all)];
}

/** The text at the end of an expression, after everything that may match something else. */
function literalEnd(expression: string): string {
  const end =
    expression
      .replaceAll("\\.", "\0")
      .split(/[^\w\0-]/)
      .at(-1) ?? "";
  return end.replaceAll("\0", ".");
}

/** Whether a find leaves out `.git`, written in one of the two usual ways. */
function skipsGit(words: readonly (string | undefined)[]): boolean {
  const either = words.filter((word) => /^(-o|-or|,)$/.test(word ?? "")).length;
  const isGit = (word: string | undefined): boolean => /^(\*|\.)?\/?\.git(\/\*)?$/.test(word ?? "");
  const isPath = (word: string | undefined): boolean => /^-(path|wholename|name)$/.test(word ?? "");
  if (either === 1)
    return isPath(words[0]) && isGit(words[1]) && words[2] === "-prune" && /^-or?$/.test(words[3] ?? "");
  return (
    either === 0 &&
    words.some(
      (word, at) =>
        /^(!|-not)$/.test(word ?? "") &&
        words[at + 1] !== "-name" &&
        isPath(words[at + 1]) &&
        isGit(words[at + 2]) &&
        /\*$/.test(words[at + 2] ?? ""),
    )
  );
}

function unknownUse(): Judgement {
  return high("unknown-use", 'uses "find" in an unknown way');
}

function startsExpression(arg: Arg): boolean {
  return arg.kind === "text" && (/^[-(),!]$/.test(arg.value) || arg.value.startsWith("-"));
}

interface Expression {
  readonly runs: readonly Inner[];
  readonly touches: readonly Touch[];
  readonly follows: boolean;
  /** How it prints paths, if it prints nothing else. */
  readonly prints: "lines" | "zeros" | undefined;
}

function readExpression(
  words: readonly Arg[],
  printed: Printed | undefined,
  around: Surroundings,
): Expression | undefined {
  const runs: Inner[] = [];
  const touches: Touch[] = [];
  let follows = false;
  let prints: Expression["prints"] = "lines";
  for (let at = 0; at < words.length; at += 1) {
    const word = textOf(words[at]);
    if (word === undefined) return undefined;
    const takes = harmless.get(word);
    if (takes !== undefined) {
      const values = words.slice(at + 1, at + 1 + takes);
      if (values.length < takes || values.some((value) => !isOneValue(value))) return undefined;
      if (word === "-printf" || word === "-ls") prints = undefined;
      if (word === "-print0") prints &&= "zeros";
      at += takes;
    } else if (word === "-follow") follows = true;
    else if (comparesWith.test(word)) {
      at += 1;
      const value = words[at];
      const touched = value && touchesOf(value, "read", "read", around);
      if (touched === undefined) return undefined;
      touches.push(...touched);
    } else if (word === "-exec" || word === "-ok") {
      // A plus ends it only after the braces.
      const end = words.findIndex((arg, index) => {
        const word = textOf(arg);
        return index > at && (word === ";" || (word === "+" && textOf(words[index - 1]) === "{}"));
      });
      if (end === -1) return undefined;
      runs.push({
        kind: "words",
        args: withPaths(words.slice(at + 1, end), printed),
        in: { ...around, input: undefined, isExternal: true },
      });
      prints = undefined;
      at = end;
    } else return undefined;
  }
  return { runs, touches, follows, prints };
}

/** A pattern may expand to several words. With an extension like `.ts` none of them is an action. */
function isOneValue(arg: Arg): boolean {
  if (arg.kind === "text") return true;
  if (arg.kind === "unknown") return arg.single;
  return arg.kind === "pattern" && /\.[A-Za-z0-9]+$/.test(arg.value) && !knownStart(arg).startsWith("-");
}

function withPaths(command: readonly Arg[], printed: Printed | undefined): readonly Arg[] {
  const paths: Arg = printed === undefined ? unknownWords : { kind: "input", printed, asWords: false };
  return command.map((arg) => {
    const word = textOf(arg);
    const at = word?.indexOf("{}") ?? -1;
    if (word === undefined || at === -1) return arg;
    return word === "{}" ? paths : { kind: "unknown", prefix: word.slice(0, at), single: true };
  });
}

/** Whether everything found has an extension like `.ts`. Recognises only the usual ways to write that. */
function hasEndings(words: readonly Arg[]): boolean {
  const end = words.findIndex((arg) => /^-(exec|ok|print0?)$/.test(textOf(arg) ?? ""));
  // One action, and nothing after it that could find more.
  const action = end === -1 ? [] : words.slice(end).map(textOf);
  const stops = action.findIndex((word, at) => word === ";" || (word === "+" && action[at - 1] === "{}"));
  const isLast = action[0]?.startsWith("-print") === true ? action.length === 1 : stops === action.length - 1;
  if (end !== -1 && !isLast) return false;
  const shape = (end === -1 ? words : words.slice(0, end)).map((arg, index, all) => {
    const word = textOf(arg) ?? "?";
    if (/^-i?name$/.test(word)) return hasEnding(all[index + 1]) ? "N" : "?";
    if (/^-i?name$/.test(textOf(all[index - 1]) ?? "")) return "";
    return word === "-type" || textOf(all[index - 1]) === "-type" ? "" : word === "-or" ? "-o" : word;
  });
  return /^\(?N(-oN)*\)?$/.test(shape.join(""));
}
