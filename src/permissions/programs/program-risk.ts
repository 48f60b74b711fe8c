import type { AccessClass, Touch } from "../../engine/permission.ts";
import { high, type Judgement, judged, type Surroundings } from "../judgement.ts";
import { builtins } from "../shell/shell-builtins.ts";
import { isModuleFolders } from "../shell/variables.ts";
import { type Arg, escaped, knownStart, text, textOf } from "./arg.ts";
import { type Fit, fitted, matchingSub, type ParsedRow } from "./argv.ts";
import type { CommandRow } from "./command-row.ts";
import { ignoresVariables, rowsOf } from "./commands.ts";
import { judgeFind, selectedRepositories } from "./find.ts";
import { judgeGit } from "./git-options.ts";
import { launchedBy } from "./launched.ts";
import { harmfulText, shown, whyNot } from "./misfit.ts";
import { printedBy } from "./printed-paths.ts";
import { touchesFor } from "./row-touches.ts";
import { suspects, suspectsOf } from "./suspects.ts";
import { asking, belowTouches, lossesOf, touchesOf } from "./touches.ts";
import { wrappers } from "./wrappers.ts";

/** The system's program folders: `/usr/bin/ls` is `ls`. */
const systemProgram = /^(?:\/usr(?:\/local)?)?\/s?bin\/([^/]+)$/;

/** `runsProject`: it runs the project's code on purpose, as builds and tests do. */
type RowJudgement = Judgement & { readonly runsProject?: true };

/** The effect of a simple command, judged by its program and words. */
export function judgeProgram(args: readonly Arg[], around: Surroundings): Judgement {
  const [first, ...rest] = args;
  const written = textOf(first);
  if (written === undefined) return high("unknown-program", "runs a program whose name is not known in advance");
  const name = systemProgram.exec(written)?.[1] ?? written;
  const builtin = builtins.get(name);
  const run = running("program", name);
  if (builtin !== undefined && name === written) {
    const own = showingNames(builtin(asWritten(first, rest), around), rest, around);
    const judgement = own.class === "high" ? { ...own, touches: [...own.touches, ...suspects(rest, around)] } : own;
    return around.isExternal === true
      ? { ...judgement, touches: [...judgement.touches, run, ...searchingFor([name], around)] }
      : judgement;
  }
  const judgement = underVariables(name, judgeExternal(name, rest, around), around);
  if (judgement.class === "high") {
    const isWanted = (program: string) => program === "find" || changers.has(program);
    const launched = launchedBy({ program: name, args: rest, rule: judgement.rule }, isWanted).flatMap(
      ({ program, args }) => (program === "find" ? judgeFind(args, around).touches : changed(program, args, around)),
    );
    return {
      ...judgement,
      touches: [...judgement.touches, ...suspectsOf(name, rest, around), ...changed(name, rest, around), ...launched],
    };
  }
  // A program written with its path does not depend on the PATH.
  const file = written.includes("/") ? [] : [run];
  return { ...judgement, touches: [...judgement.touches, ...file, ...searching(name, written, judgement, around)] };
}

function running(what: "program", path: string): Touch {
  return { use: "run", class: "read", lookup: { what, path }, recursive: false };
}

/** Programs that run the project's code anyway may find their helpers in the project. */
function searching(name: string, written: string, judgement: RowJudgement, around: Surroundings): readonly Touch[] {
  if (judgement.runsProject === true) return [];
  const sub = name === "git" ? /^row git ([a-z-]+)/.exec(judgement.rule)?.[1] : undefined;
  const asked = sub === undefined ? [written] : [written, `git-${sub}`];
  return searchingFor(asked, around);
}

function searchingFor(programs: readonly string[], { folders = [] }: Surroundings): readonly Touch[] {
  const from = folders.length === 1 ? folders[0] : undefined;
  return programs.map((path) => ({
    use: "run",
    class: "read",
    lookup: { what: "search-path", path, ...(from === undefined ? {} : { from }) },
    recursive: false,
  }));
}

/** Programs that change the files in their arguments: all of them, or the last one. */
const changers: ReadonlyMap<string, "all" | "last"> = new Map([
  ..."rm rmdir unlink shred truncate dd mv chmod chown chgrp chattr setfacl wipefs mkfs tee rename rimraf del trash"
    .split(" ")
    .map((name) => [name, "all"] as const),
  ..."cp ln install rsync scp".split(" ").map((name) => [name, "last"] as const),
]);

/** Whether another program deletes the files it is given, or starts one that does. */
function removesFiles(program: string, args: readonly Arg[]): boolean {
  const words = args.map((arg) => textOf(arg) ?? "");
  const moves = (word: string): boolean => word === "--move" || (/^-\w+$/.test(word) && word.includes("m"));
  const isFlag = program === "zip" ? moves : (word: string): boolean => word === "--remove-files";
  return words.some(isFlag) || /^(?:rimraf|del-cli|trash)$/.test(words.find(isWord) ?? "");
}

function isWord(word: string): boolean {
  return !word.startsWith("-") && !/^(?:exec|dlx|x|run)$/.test(word);
}

/** Changers that destroy content. With `-R` some others make it inaccessible. */
const destroyers = new Set("rm rmdir unlink shred truncate wipefs rimraf del trash".split(" "));

/** However it is called, such a program may delete, move or overwrite its arguments and everything in them. */
function changed(program: string, args: readonly Arg[], around: Surroundings): readonly Touch[] {
  const isRemoving = removesFiles(program, args);
  const which = changers.get(program) ?? (isRemoving ? "all" : undefined);
  if (which === undefined) return [];
  const isRecursive = /^ch|^setfacl$/.test(program) && args.some((arg) => /^-\w*R|^--recursive/.test(knownStart(arg)));
  const destroys = isRemoving || destroyers.has(program) || isRecursive;
  const selected = args.flatMap((arg) => (destroys && arg.kind === "input" ? selectedRepositories(arg.printed) : []));
  // Another command's output may list everything in a folder, unless its names are filtered.
  const printed = args.flatMap((arg) =>
    arg.kind === "input" && arg.printed.chosen === undefined && arg.printed.isTracked !== true
      ? arg.printed.folders
      : [],
  );
  const isTarget = (arg: Arg) => /^(-t|--target-directory=|of=)/.test(knownStart(arg));
  const named = args.filter((arg, at) => {
    if (arg.kind === "input") return false;
    if (program === "dd") return knownStart(arg).startsWith("of=");
    return which === "all" || at === args.length - 1 || isTarget(arg) || textOf(args[at - 1]) === "-t";
  });
  const touches = suspects([...named, ...printed.map(text)], around, "write");
  return touches
    .flatMap((touch): readonly Touch[] => [
      { ...touch, recursive: true, moves: true },
      ...(destroys ? lossesOf(touch) : []),
    ])
    .concat(selected);
}

/** A variable may make a program run another one or write elsewhere, unless the program reads no variables. */
function underVariables(name: string, judgement: RowJudgement, { variables = [] }: Surroundings): RowJudgement {
  const [first] = variables.filter((variable) => judgement.runsProject !== true || !isModuleFolders(variable));
  const isSeen = !(wrappers.has(name) || builtins.has(name) || ignoresVariables(name));
  if (first === undefined || !isSeen) return judgement;
  const why = `gives ${shown(name)} the variable ${first}, whose effect is unknown`;
  return { ...judgement, class: "high", rule: "unknown-variable", why };
}

/** A pattern reveals file names, whatever the command does with them. */
function showingNames(judgement: Judgement, args: readonly Arg[], around: Surroundings): Judgement {
  const names = args.filter((arg) => arg.kind === "pattern").map((arg) => touchesOf(arg, "read", "read", around));
  if (names.length === 0 || judgement.class === "high") return judgement;
  if (names.some((touches) => touches === undefined)) return high("unknown-path", "shows names in an unknown folder");
  return { ...judgement, touches: [...judgement.touches, ...names.flatMap((touches) => touches ?? [])] };
}

/** With a disguised program name, a shell may not recognise assignments, and then splits their values into words. */
function asWritten(program: Arg | undefined, args: readonly Arg[]): readonly Arg[] {
  if (program?.kind !== "text" || program.disguised !== true) return args;
  return args.map((arg) => (arg.kind === "unknown" ? { ...arg, single: false } : arg));
}

function judgeExternal(name: string, args: readonly Arg[], around: Surroundings): RowJudgement {
  const wrapper = wrappers.get(name) ?? builtins.get(name);
  if (wrapper !== undefined) return wrapper(args, around);
  if (name === "git") return judgeGit(args, around, (words, where) => judgeByRows(name, words, where));
  return judgeByRows(name, args, around);
}

function judgeByRows(name: string, args: readonly Arg[], around: Surroundings): RowJudgement {
  const rows = rowsOf(name, textOf(args[0]));
  if (rows === undefined) return high("unknown-program", `runs ${shown(name)}, which is an unknown program`);
  for (const row of rows) {
    const judgement = judgeByRow(name, row, args, around);
    if (judgement !== undefined) return judgement;
  }
  return high("unknown-use", `uses ${shown(name)} ${whyNot(rows, args)}`);
}

/** `undefined` if the call does not fit this row. */
function judgeByRow(
  name: string,
  parsed: ParsedRow,
  args: readonly Arg[],
  around: Surroundings,
): RowJudgement | undefined {
  const { row } = parsed;
  const sub = matchingSub(parsed, args);
  if (sub === undefined) return undefined;
  const rule = `row ${[name, ...sub].join(" ")}`;
  if (row.class === "high") {
    const touches = suspects((row.writes ?? "").split(" ").map(text), around, "write");
    return high(rule, row.why, { touches });
  }
  const found = fitted(parsed, args.slice(sub.length));
  if (found === undefined || harmfulText(row, found) !== undefined) return undefined;
  if (row.needs !== undefined && !isGiven(found, row.needs)) return undefined;
  if (row.knownWords === true && args.some((arg) => arg.kind === "unknown" || arg.kind === "input")) return undefined;
  const recursive = row.recursive === true || isGiven(found, row.recursive);
  if (row.git === true && around.folders === undefined) {
    return high("unknown-path", "uses git in a folder that is not known in advance");
  }
  const touches = touchesFor(row, found, around, recursive);
  if (touches === undefined) return high("unknown-path", `${row.why}, at a path that is not known in advance`);
  const below = belowTouches(touches, {
    git: row.sparesGit !== true,
    links: row.followsLinks === true || isGiven(found, row.followsLinks),
  });
  const prints = printedBy(name, sub, found, around);
  const git = [
    ...(row.git === true
      ? [...touching("git", "git", around, row.class), ...touching("read", "work-tree", around, row.class)]
      : []),
    ...(row.showsCommits === true ? touching("git", "signatures", around) : []),
    ...shadowingModules(name, sub, around),
    ...(row.installed === true ? installedTool(sub, around, row.class) : []),
    ...(row.fetches === true ? touching("git", "fetched-branches", around, row.class) : []),
    ...(row.showsRemotes === true ? touching("read", "remotes", around) : []),
  ];
  const free = found.operands.filter(({ kind }) => kind === "text").map(({ arg }) => arg);
  const others = row.class === "medium" ? [...suspects(free, around)] : [];
  const written =
    row.writesValues === true ? found.values.filter(({ kind }) => kind === "text" || kind === "attached") : [];
  // Some programs empty their output folder before they fill it.
  for (const touch of suspects(
    written.map(({ arg }) => arg),
    around,
    "write",
    row.class,
  ))
    others.push({ ...touch, recursive: true });
  const keeps = row.keepsNames === true ? { keepsNames: true } : {};
  const makesLinks = row.makesLinks === true || isGiven(found, row.makesLinks);
  const more = { touches: [...touches, ...below, ...git, ...others], prints, makesLinks, ...keeps };
  const judgement = judged(row.class, rule, row.why, more);
  if (row.writesValues !== true || row.class === "read") return judgement;
  const project = projectTouches(row, found, around);
  return { ...judgement, touches: [...judgement.touches, ...project], runsProject: true };
}

/** They run the project's code on purpose. */
const runsProjectModules = /^(?:pytest|py|unittest|coverage|tox|nox)$/;

/** `python -m` prefers modules in the working directory to the installed one and those that it imports. */
function shadowingModules(name: string, sub: readonly string[], around: Surroundings): readonly Touch[] {
  const at = sub.indexOf("-m");
  const isPython = /^python[\d.]*$/.test((sub[at - 1] ?? name).split("/").at(-1) ?? "");
  const module = sub[at + 1]?.split(".")[0];
  if (at < 0 || !isPython || module === undefined || runsProjectModules.test(module)) return [];
  return touching("run", "shadowing-modules", around).map((touch) => {
    return { ...touch, lookup: { ...touch.lookup, from: module } };
  });
}

function installedTool(sub: readonly string[], around: Surroundings, accessClass: AccessClass): readonly Touch[] {
  const tool = sub.find((word) => !/^(-.*|exec|x)$/.test(word)) ?? "";
  return touching("project", "installed", around, accessClass).map((touch) => {
    return { ...touch, lookup: { ...touch.lookup, from: tool } };
  });
}

/** The files that a build or test obeys, and its output folders, which may have been replaced by links. */
function projectTouches(row: CommandRow, { operands, values }: Fit, around: Surroundings): readonly Touch[] {
  const { class: accessClass } = row;
  const leaves = (arg: Arg): boolean => /^[/~]|(?:^|[/,])\.\.(?:[/,]|$)/.test(textOf(arg) ?? "");
  const obeyed = [
    ...operands.filter(({ kind, arg }) => kind !== "text" || leaves(arg)),
    ...values.filter(
      ({ kind, flag, arg }) =>
        kind === "read" || /^(?:-C|-S|-B|--directory)$/.test(flag) || (kind === "text" && leaves(arg)),
    ),
  ];
  const emptied = values.filter(({ flag }) => row.empties?.split(" ").includes(flag) === true);
  const lost = emptied
    .flatMap(({ arg }) => touchesOf(arg, "write", accessClass, around) ?? [])
    .map((touch): Touch => {
      return { ...touch, use: "delete", lookup: { what: "unsaved", path: escaped(touch.lookup.path) } };
    });
  const named = obeyed.flatMap(({ arg }) => touchesOf(arg, "read", accessClass, around) ?? []);
  // Any other text may still name a file, which may be a link to one elsewhere.
  const texts = [...operands, ...values].filter(
    ({ kind, arg }) => kind === "text" && /^[\w.@-]+(?:\/|$)/.test(textOf(arg) ?? ""),
  );
  const files = texts.flatMap(({ arg }) => touchesOf(arg, "read", accessClass, around) ?? []).map(asking("existing"));
  const outputs = touching("write", "output-links", around, accessClass);
  return [
    ...touching("project", "path", around, accessClass),
    ...[...named, ...files].map((touch): Touch => ({ ...touch, use: "project" })),
    ...outputs.map((touch): Touch => ({ ...touch, recursive: true, moves: true })),
    ...lost,
  ];
}

function isGiven({ given }: Fit, flags: string | true | undefined): boolean {
  return typeof flags === "string" && flags.split(" ").some((flag) => given.has(flag));
}

function touching(
  use: Touch["use"],
  what: Touch["lookup"]["what"],
  { folders }: Surroundings,
  accessClass: AccessClass = "read",
): readonly Touch[] {
  return (folders ?? []).map((path) => ({ use, class: accessClass, lookup: { what, path }, recursive: false }));
}
