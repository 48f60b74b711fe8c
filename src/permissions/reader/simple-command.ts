import type { Assignment, Command, Redirection } from "unbash";
import type { CommandPart } from "../../engine/permission.ts";
import { withoutTrailingSlashes } from "../../text/text-cut.ts";
import { type Inner, type Surroundings, setting } from "../judgement.ts";
import { classed, group, unreadable } from "../parts.ts";
import { mayDelete } from "../places/suspect-text.ts";
import { type Arg, escaped, textOf } from "../programs/arg.ts";
import { listedBy } from "../programs/listings.ts";
import { judgeProgram } from "../programs/program-risk.ts";
import { mayBeNoWord, suspects } from "../programs/suspects.ts";
import { enter } from "../shell/folders.ts";
import { evaluate } from "../shell/shell-words.ts";
import { variableRisk } from "../shell/variables.ts";
import { type Flow, same, type Walked } from "./flow.ts";
import { sourceOf } from "./nodes.ts";
import { noteNames, notePatterns } from "./noted-names.ts";
import { judgeRedirect, unclearDocument } from "./redirect-risk.ts";
import { around, note, type Place, type Reader } from "./state.ts";
import { argument, inside } from "./words.ts";

const deepest = 8;
/** Builtins that run a command in the shell itself, so that its `cd` changes the shell's folder. */
const runInShell = new Set(["eval", "command", "builtin"]);

interface Assigned {
  readonly part: CommandPart;
  readonly gives: readonly string[];
}

export function simple(reader: Reader, node: Command, place: Place): Walked {
  const source = sourceOf(node, place);
  const assigned = node.prefix
    .filter((entry) => entry.type === "Assignment")
    .map((entry) => assignment(reader, entry, place, node.name?.value));
  const parts = [
    ...assigned.map(({ part }) => part),
    ...[node.name, ...node.args].flatMap((word) => (word === undefined ? [] : inside(reader, word, place))),
    ...redirections(reader, node.redirects, place),
  ];
  if (node.name === undefined) return { part: group("command", source, parts), flow: same(place.folders) };
  const args = [node.name, ...node.args].flatMap((word) => argument(reader, word, place));
  args.forEach(reader.count);
  const isUsed = place.isUsed === true || !node.redirects.every((entry) => /^[2<]/.test(sourceOf(entry, place)));
  const takesNames = isUsed ? /^(echo|printf|ls|set)$/ : /^set$/;
  if (takesNames.test(textOf(args[0]) ?? "")) notePatterns(reader, args.slice(1), place.folders);
  const given = assigned.flatMap(({ gives }) => gives);
  const where = around(reader, given.length === 0 ? place : { ...place, variables: [...place.variables, ...given] });
  const { part, flow, prints } = walkWords(args, source, where, place.depth, reader);
  // Error messages must not count as paths.
  const isQuiet = node.redirects.every((entry) => /^2>\s*\/dev\/null$/.test(sourceOf(entry, place)));
  const lists = listedBy(args, where);
  // It may itself start what deletes them, or write them to a file for that.
  const isReadLater = (file: string): boolean => place.source.split(file).length > 2;
  const isWritten = node.redirects.some(
    (entry) => entry.type === "Redirect" && entry.target !== undefined && isReadLater(entry.target.text),
  );
  if (lists.length > 0 && (isWritten || mayDelete(source))) noteNames(reader, lists);
  return { part: { ...part, parts: [...parts, ...part.parts] }, flow, prints: isQuiet ? prints : undefined, lists };
}

/** `gives`: the variable set for the following command, unless it is known to be harmless. */
function assignment(reader: Reader, node: Assignment, place: Place, program: string | undefined): Assigned {
  const { name, index, append, value } = node;
  const part = classed(
    group("assignment", node.text, inside(reader, node, place)),
    "read",
    "assignment",
    `sets ${name}`,
  );
  const isPlain = index === undefined && append !== true && value.type === "Word";
  const isKnown = isPlain && !value.text.includes("{");
  const values = isKnown ? evaluate(value, reader.bindings.in(place.folders)) : [];
  if (program === undefined) {
    const bound = place.isTop === true && values.length === 1 ? values[0] : undefined;
    reader.hasValues ||= bound !== undefined;
    reader.bindings.bind(name, bound);
  }
  // Here IFS only affects how `read` splits a line.
  const isForRead = name === "IFS" && program === "read";
  const set = textOf(values[0]);
  const words = value.type === "Word" ? [value] : value.elements;
  const listed = words.flatMap((word) => evaluate(word, reader.bindings.in(place.folders)));
  notePatterns(reader, listed, place.folders);
  const risk = index !== undefined ? "dangerous" : isForRead ? "harmless" : variableRisk(name, set);
  const why = `sets ${name}, which can make programs run other programs`;
  if (risk === "dangerous") return { part: classed(part, "high", "dangerous-variable", why), gives: [] };
  if (risk === "harmless") return { part, gives: [] };
  if (program === undefined) return { part: { ...part, touches: [setting(name)] }, gives: [] };
  return { part: { ...part, touches: suspects(values, around(reader, place)) }, gives: [name] };
}

export function redirections(reader: Reader, list: readonly Redirection[], place: Place): readonly CommandPart[] {
  return list.map((node) => {
    const words = node.type === "HereDoc" ? (node.body.parts ?? []) : node.target === undefined ? [] : [node.target];
    const parts = words.flatMap((word) => inside(reader, word, place));
    const part = classed(
      group("redirection", sourceOf(node, place), parts),
      "read",
      "redirection",
      "redirects its input",
    );
    if (node.descriptor?.type === "FileDescriptorVariable") {
      return classed(part, "high", "sets-variable", "sets a variable with a redirection");
    }
    if (node.type === "HereDoc") {
      const why = unclearDocument(node, place.source, place.joinsDocuments);
      return why === undefined ? part : classed(part, "high", "unreadable", why);
    }
    if (node.type !== "Redirect") return part;
    const targets = node.target === undefined ? [] : evaluate(node.target, reader.bindings.in(place.folders));
    return reader.moved.guard(judgeRedirect(part, node, targets, around(reader, place)));
  });
}

/** Judges a simple command and the commands it runs in turn. */
function walkWords(args: readonly Arg[], source: string, where: Surroundings, depth: number, reader: Reader): Walked {
  const judgement = judgeProgram(args, where);
  const { class: accessClass, rule, why, touches, runs, prints, makesLinks = false, keepsNames = false } = judgement;
  for (const name of judgement.exports ?? []) reader.exported.add(name);
  const name = nameOf(args);
  // A shell with a script is shown as the script's programs.
  const isShell = runs.some(({ kind }) => kind === "shell") && /^(ba|da)?sh$/.test(name ?? "");
  if (name !== undefined && !isShell) reader.onProgram(name);
  const inner = runs.map((run) => unwrapped(run, source, depth + 1, reader));
  const { cwd } = reader.places;
  return {
    part: reader.moved.guard(
      {
        kind: "command",
        source,
        class: accessClass,
        rule,
        why,
        touches,
        words: args.map(textOf),
        ...(args.some(mayHideFlag) ? { hasUnclearFlag: true as const } : {}),
        inWorkspaceRoot: where.folders?.length === 1 && where.folders[0] === cwd,
        parts: inner.map(({ part }) => group("unwrapped", part.source, [part])),
      },
      { makesLinks, keepsNames },
    ),
    flow: runInShell.has(textOf(args[0]) ?? "")
      ? (inner[0]?.flow ?? same(where.folders))
      : movesTo(args, where, reader),
    prints,
  };
}

/** A word that may expand to a flag, as one of several words or behind a dash. */
function mayHideFlag(arg: Arg): boolean {
  return arg.kind === "unknown" && (arg.prefix === "" ? !arg.single : arg.prefix.startsWith("-"));
}

function unwrapped(inner: Inner, source: string, depth: number, reader: Reader): Walked {
  if (depth > deepest) return { part: unreadable(source, "is nested too deeply"), flow: same(undefined) };
  if (inner.kind === "shell") return reader.text(inner.text, inner.in, depth);
  return walkWords(inner.args, inner.args.map((arg) => textOf(arg) ?? "…").join(" "), inner.in, depth, reader);
}

/** `cd` and `pushd` move the shell to their argument, `popd` to an unknown folder. */
function movesTo(args: readonly Arg[], { folders }: Surroundings, { places, near, fallback }: Reader): Flow {
  const name = textOf(args[0]);
  if (name === "popd") return same(undefined);
  if (name !== "cd" && name !== "pushd") return same(folders);
  const named = args.slice(1).filter((arg) => !/^-[LP]$|^--$/.test(textOf(arg) ?? ""));
  const home: Arg = { kind: "text", value: places.home };
  const target = name === "cd" ? (named[0] ?? home) : named[0];
  if (target !== undefined && (target.kind !== "text" || folders === undefined)) {
    note(near, foldersNear(target, folders?.map(escaped) ?? [...near, ...fallback]));
    // Without a word, `cd` goes home.
    if (mayBeNoWord(target)) note(fallback, [escaped(places.home)]);
  }
  const isNumbered = name === "pushd" && /^[-+]/.test(textOf(target) ?? "");
  return { ok: named.length > 1 || isNumbered ? undefined : enter(folders, target), failed: folders };
}

/** Programs whose first argument names the action. */
const withSubCommand = new Set(["git", "npm"]);
/** These names say nothing about what runs. */
const leftOut = new Set(["cd", "sudo"]);

/** The program that a command runs, as people call it. */
function nameOf(args: readonly Arg[]): string | undefined {
  const name = textOf(args[0])?.split("/").at(-1);
  if (name === undefined || name === "" || leftOut.has(name)) return undefined;
  const sub = textOf(args[1]);
  return withSubCommand.has(name) && sub !== undefined && /^[a-z][a-z-]*$/.test(sub) ? `${name} ${sub}` : name;
}

/** Patterns for the folders that a target may mean, from each of these. */
function foldersNear(target: Arg, from: readonly string[]): readonly string[] {
  if (target.kind === "input") return [];
  const named =
    target.kind === "unknown" ? (target.mayBe ?? []) : [target.kind === "text" ? escaped(target.value) : target.value];
  return named.flatMap((name) => {
    const plain = withoutTrailingSlashes(name);
    return name.startsWith("/") ? [plain] : from.map((folder) => `${folder === "/" ? "" : folder}/${plain}`);
  });
}
