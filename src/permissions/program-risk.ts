import type { AccessClass, Touch } from "../core/permission.ts";
import { type Arg, escaped, knownStart, textOf } from "./arg.ts";
import { type Fit, fitted } from "./argv.ts";
import { worse } from "./autonomy.ts";
import type { CommandRow } from "./command-row.ts";
import { ignoresVariables, isKnownProgram, rowsOf } from "./commands.ts";
import { judgeGit } from "./git-options.ts";
import { high, type Judgement, judged, type Surroundings } from "./judgement.ts";
import { harmfulText, shown, whyNot } from "./misfit.ts";
import { printedBy } from "./printed-paths.ts";
import { builtins } from "./shell-builtins.ts";
import { suspects } from "./suspects.ts";
import { asking, belowTouches, filledFolder, folderTouches, touchesOf } from "./touches.ts";
import { wrappers } from "./wrappers.ts";

/** Where systems keep their programs: `/usr/bin/ls` is `ls`. */
const systemProgram = /^(?:\/usr(?:\/local)?)?\/s?bin\/([^/]+)$/;

/** What one simple command can do, by its program and words. */
export function judgeProgram(args: readonly Arg[], around: Surroundings): Judgement {
  const [first, ...rest] = args;
  const written = textOf(first);
  if (written === undefined) return high("unknown-program", "runs a program whose name is not known before it runs");
  const name = systemProgram.exec(written)?.[1] ?? written;
  const builtin = builtins.get(name);
  const run: Touch = { use: "run", class: "read", lookup: { what: "program", path: name }, recursive: false };
  if (builtin !== undefined && name === written) {
    const judgement = showingNames(builtin(asWritten(first, rest), around), rest, around);
    return around.isExternal === true ? { ...judgement, touches: [...judgement.touches, run] } : judgement;
  }
  const judgement = underVariables(name, judgeExternal(name, rest, around), around);
  if (judgement.class === "high") {
    return { ...judgement, touches: [...judgement.touches, ...suspects(rest, around), ...changed(name, rest, around)] };
  }
  // One that is written with its path is that file, whatever the PATH says.
  if (written.includes("/")) return judgement;
  return { ...judgement, touches: [...judgement.touches, run] };
}

/** Programs that change the files they name: all of them, or the last one. */
const changers: ReadonlyMap<string, "all" | "last"> = new Map([
  ..."rm rmdir unlink shred truncate dd mv chmod chown chgrp chattr setfacl wipefs mkfs tee rename"
    .split(" ")
    .map((name) => [name, "all"] as const),
  ..."cp ln install rsync scp".split(" ").map((name) => [name, "last"] as const),
]);

/** In whatever way such a program is called, it may delete, move or overwrite what it names, with all that is in it. */
function changed(program: string, args: readonly Arg[], around: Surroundings): readonly Touch[] {
  const which = changers.get(program);
  if (which === undefined) return [];
  const isTarget = (arg: Arg) => /^(-t|--target-directory=|of=)/.test(knownStart(arg));
  const words = args.filter((arg, at) => {
    if (arg.kind === "input") return false;
    if (program === "dd") return knownStart(arg).startsWith("of=");
    return which === "all" || at === args.length - 1 || isTarget(arg) || textOf(args[at - 1]) === "-t";
  });
  return suspects(words, around, "write").map((touch) => ({ ...touch, recursive: true, moves: true }));
}

/** A variable may make a program run another one, or write elsewhere, unless the program reads none. */
function underVariables(name: string, judgement: Judgement, { variables = [] }: Surroundings): Judgement {
  const [first] = variables;
  const isSeen = !(wrappers.has(name) || builtins.has(name) || ignoresVariables(name));
  if (first === undefined || !isSeen || judgement.class === "high") return judgement;
  const why = `gives ${shown(name)} the variable ${first}, whose effect is not known`;
  return { ...judgement, class: "high", rule: "unknown-variable", why };
}

/** A pattern shows names, whatever the command does with them. */
function showingNames(judgement: Judgement, args: readonly Arg[], around: Surroundings): Judgement {
  const names = args.filter((arg) => arg.kind === "pattern").map((arg) => touchesOf(arg, "read", "read", around));
  if (names.length === 0 || judgement.class === "high") return judgement;
  if (names.some((touches) => touches === undefined))
    return high("unknown-path", "shows names in a folder that is not known");
  return { ...judgement, touches: [...judgement.touches, ...names.flatMap((touches) => touches ?? [])] };
}

/** A shell does not take values for one word where it does not see by the name that they are assigned. */
function asWritten(program: Arg | undefined, args: readonly Arg[]): readonly Arg[] {
  if (program?.kind !== "text" || program.disguised !== true) return args;
  return args.map((arg) => (arg.kind === "unknown" ? { ...arg, single: false } : arg));
}

function judgeExternal(name: string, args: readonly Arg[], around: Surroundings): Judgement {
  const wrapper = wrappers.get(name) ?? builtins.get(name);
  if (wrapper !== undefined) return wrapper(args, around);
  if (name === "git") return judgeGit(args, around, (words, where) => judgeByRows(name, words, where));
  return judgeByRows(name, args, around);
}

function judgeByRows(name: string, args: readonly Arg[], around: Surroundings): Judgement {
  const rows = rowsOf(name, textOf(args[0]));
  if (!isKnownProgram(name))
    return high("unknown-program", `runs ${shown(name)}, which is not a program that is known`);
  for (const row of rows) {
    const sub = row.class === "high" ? matchingSub(row, args) : undefined;
    if (sub !== undefined) return high(`row ${[name, ...sub].join(" ")}`, row.why);
    const judgement = judgeByRow(name, row, args, around);
    if (judgement !== undefined) return judgement;
  }
  const why = whyNot(rows, args, (row) => matchingSub(row, args)?.length ?? -1);
  return high("unknown-use", `uses ${shown(name)} ${why}`);
}

/** `undefined` when the call is not of this row. */
function judgeByRow(name: string, row: CommandRow, args: readonly Arg[], around: Surroundings): Judgement | undefined {
  const sub = matchingSub(row, args);
  if (sub === undefined) return undefined;
  const found = fitted(row, args.slice(sub.length));
  if (found === undefined || harmfulText(row, found) !== undefined) return undefined;
  if (row.needs !== undefined && !isGiven(found, row.needs)) return undefined;
  if (row.knownWords === true && args.some((arg) => arg.kind === "unknown" || arg.kind === "input")) return undefined;
  const rule = `row ${[name, ...sub].join(" ")}`;
  const recursive = row.recursive === true || isGiven(found, row.recursive);
  if (row.git === true && around.folders === undefined) {
    return high("unknown-path", "uses git in a folder that is not known before it runs");
  }
  const touches = touchesFor(row, found, around, recursive);
  if (touches === undefined) return high("unknown-path", `${row.why}, at a path that is not known before it runs`);
  const below = belowTouches(touches, {
    git: row.sparesGit !== true,
    links: row.followsLinks === true || isGiven(found, row.followsLinks),
  });
  const prints = printedBy(name, sub, found, around);
  const git = [
    ...(row.git === true && row.class === "read" ? touching("git", "git", around) : []),
    ...(row.showsRemotes === true ? touching("read", "remotes", around) : []),
  ];
  const free = found.operands.filter(({ kind }) => kind === "text").map(({ arg }) => arg);
  const others = row.class === "medium" ? [...suspects(free, around)] : [];
  const written = row.writesValues === true ? found.values.filter(({ kind }) => kind === "text") : [];
  others.push(
    ...suspects(
      written.map(({ arg }) => arg),
      around,
      "write",
      row.class,
    ),
  );
  const makesLinks = row.makesLinks === true || isGiven(found, row.makesLinks);
  return judged(row.class, rule, row.why, { touches: [...touches, ...below, ...git, ...others], prints, makesLinks });
}

const subCommands = new WeakMap<CommandRow, readonly (readonly string[])[]>();

function matchingSub(row: CommandRow, args: readonly Arg[]): readonly string[] | undefined {
  if (row.sub === undefined) return [];
  let alternatives = subCommands.get(row);
  if (alternatives === undefined) {
    alternatives = row.sub.split("|").map((words) => words.trim().split(" "));
    subCommands.set(row, alternatives);
  }
  return alternatives.find((words) => words.every((word, index) => textOf(args[index]) === word));
}

function isGiven({ given }: Fit, flags: string | true | undefined): boolean {
  return typeof flags === "string" && flags.split(" ").some((flag) => given.has(flag));
}

function touchesFor(
  row: CommandRow,
  { operands, values, dashes }: Fit,
  around: Surroundings,
  recursive: boolean,
): readonly Touch[] | undefined {
  const writes: AccessClass = worse("low", row.class);
  const isFile = ({ kind }: { readonly kind: string }): boolean => kind === "read" || kind === "write";
  const files = [...operands.filter(isFile), ...values.filter(isFile)];
  // A device as an operand is moved, linked or changed itself, and not just written to.
  const devices = row.program === "tee" ? [] : operands.map(({ arg }) => arg);
  if (row.deletes === true) return deleted(operands, row.class, around);
  const touches = files.map(({ kind, arg }) =>
    kind === "write"
      ? touchesOf(arg, "write", writes, around, recursive, !devices.includes(arg))
      : touchesOf(arg, "read", "read", around, recursive),
  );
  const usesFolder = row.class !== "read" || !operands.some(({ kind }) => kind === "read");
  if (row.folder === true && usesFolder) touches.push(folderTouches(around, row.class, recursive));
  if (row.fillsFolder === true) touches.push(filledFolder(splitTarget(operands, values), writes, around, recursive));
  if (row.program === "chmod" && recursive) {
    for (const { arg } of files)
      touches.push(touchesOf(arg, "write", writes, around)?.map(asking("repositories-below")));
  }
  if (row.picksNames !== undefined) touches.push(...pickedNames(row, values, writes, around));
  const [text] = operands.filter(({ kind }) => kind === "text");
  if (row.namedBy !== undefined && text !== undefined && !operands.some(({ kind }) => kind === "write")) {
    const name = row.namedBy(textOf(text.arg) ?? "");
    touches.push(name === undefined ? undefined : touchesOf({ kind: "text", value: name }, "write", writes, around));
  }
  if (row.textMayBeFile === true) {
    const texts = operands.filter(({ kind }) => kind === "text");
    for (const { arg } of texts) touches.push(touchesOf(arg, "write", row.class, around)?.map(asking("existing")));
  }
  if (row.writesTree === true) touches.push(folderTouches(around, row.class, true)?.map(asking("work-tree")));
  if (row.movesFolders === true) {
    const { sources } = splitTarget(operands, values);
    for (const arg of sources) {
      const moved = touchesOf(arg, "write", writes, around, true, false);
      touches.push(moved?.map((touch) => ({ ...touch, moves: true })));
    }
  }
  for (const { arg } of [...operands, ...values])
    if (arg.kind === "input") touches.push(touchesOf(arg, "read", "read", around));
  for (const suffix of row.suffixes?.split(" ") ?? []) {
    for (const { kind, arg } of operands) {
      if (kind !== "read" || arg.kind === "unknown" || arg.kind === "input") continue;
      touches.push(touchesOf({ ...arg, value: arg.value + suffix }, "read", "read", around));
    }
  }
  const dashed = dashes.map((arg) => touchesOf(arg, "read", "read", around)?.map(asking("dashes")));
  touches.push(...dashed);
  return touches.some((found) => found === undefined) ? undefined : touches.flatMap((found) => found ?? []);
}

/** What is deleted goes with all that is in it, so it must be something that can be brought back. */
function deleted(
  operands: Fit["operands"],
  accessClass: AccessClass,
  around: Surroundings,
): readonly Touch[] | undefined {
  const touches = operands.map(({ arg }) => {
    if (arg.kind !== "text" && arg.kind !== "pattern") return undefined;
    const named = touchesOf(arg, "write", accessClass, around, true, false);
    return named?.flatMap((touch): readonly Touch[] => {
      const { what, path } = touch.lookup;
      const pattern = what === "matches" ? path : escaped(path);
      const repositories = what === "path" ? [{ ...asking("repositories-below")(touch), use: "delete" as const }] : [];
      const lost: Touch = { ...touch, use: "delete", lookup: { what: "unsaved", path: pattern } };
      return [{ ...touch, moves: true }, lost, ...repositories];
    });
  });
  return touches.some((found) => found === undefined) ? undefined : touches.flatMap((found) => found ?? []);
}

/** Any name in the folder that is filled, with what is in it; and where links in it lead, when they are written through. */
function pickedNames(
  { picksNames }: CommandRow,
  values: Fit["values"],
  writes: AccessClass,
  around: Surroundings,
): readonly (readonly Touch[] | undefined)[] {
  const named = values.filter(({ kind }) => kind === "write").map(({ arg }) => arg);
  const folders =
    named.length === 0
      ? [folderTouches(around, writes, true)]
      : named.map((arg) => touchesOf(arg, "write", writes, around, true));
  // An archive can hold a whole repository, with hooks; one file that is fetched cannot.
  const repositories = folders.map((touches) =>
    touches?.map((touch): Touch => ({ ...touch, lookup: { what: "existing", path: `${touch.lookup.path}/.git` } })),
  );
  if (picksNames === "archive") return [...folders, ...repositories];
  const entries = folders.map((touches) =>
    touches?.map((touch): Touch => {
      const path = `${touch.lookup.what === "path" ? escaped(touch.lookup.path) : touch.lookup.path}/*`;
      return { ...touch, recursive: false, lookup: { what: "matches", path } };
    }),
  );
  return [...folders, ...entries];
}

/** What is put into a folder, and the folder: the value of a flag, or the last word. */
function splitTarget(
  operands: Fit["operands"],
  values: Fit["values"],
): { sources: readonly Arg[]; target: Arg | undefined } {
  const named = values.find(({ kind }) => kind === "write")?.arg;
  const words = operands.map(({ arg }) => arg);
  return named === undefined
    ? { sources: words.slice(0, -1), target: words.at(-1) }
    : { sources: words, target: named };
}

function touching(use: Touch["use"], what: Touch["lookup"]["what"], { folders }: Surroundings): readonly Touch[] {
  return (folders ?? []).map((path) => ({ use, class: "read", lookup: { what, path }, recursive: false }));
}
