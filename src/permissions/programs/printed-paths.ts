import type { CommandPart } from "../../engine/permission.ts";
import type { Surroundings } from "../judgement.ts";
import { type Arg, type Printed, textOf } from "./arg.ts";
import type { Fit } from "./argv.ts";
import { touchesOf } from "./touches.ts";

/**
 * Calls that print paths below their operands, one per line and nothing else. With any other flag their lines may
 * contain more than a path.
 */
const printers: Readonly<
  Record<string, { readonly flags: RegExp; readonly needs?: RegExp; readonly operands: boolean }>
> = {
  ls: { flags: /^-[1A]$/, operands: false },
  "git ls-files": { flags: /^(-[cmo]|--(cached|modified|others|exclude-standard))$/, operands: false },
  rg: {
    flags: /^(-[lFiwStg]|--(files|files-with-matches|glob|type|ignore-case|fixed-strings))$/,
    needs: /^(-l|--files(-with-matches)?)$/,
    operands: true,
  },
  grep: {
    flags: /^(-[rlEFiwIs]|--(recursive|files-with-matches|include|exclude|exclude-dir))$/,
    needs: /^(-l|--files-with-matches)$/,
    operands: true,
  },
};

/** Calls that print a selection of their input's lines unchanged. */
const filters: Readonly<Record<string, RegExp>> = {
  grep: /^(-[vEFiwx]|--(invert-match|ignore-case|fixed-strings|extended-regexp))$/,
  egrep: /^-[viwx]$/,
  head: /^(-n|--lines)$/,
  tail: /^(-n|--lines)$/,
  sort: /^(-[urnfV]|--(unique|reverse))$/,
  uniq: /^$/,
  cat: /^$/,
};

/** The paths that a known call prints; `undefined` if it may print anything else. */
export function printedBy(
  program: string,
  sub: readonly string[],
  found: Fit,
  around: Surroundings,
): Printed | undefined {
  const { given, operands } = found;
  const files = operands.filter(({ kind }) => kind === "read");
  const filter = filters[program];
  if (around.input !== undefined && filter !== undefined && files.length === 0) {
    return [...given].every((flag) => filter.test(flag)) ? around.input : undefined;
  }
  const printer = printers[[program, ...sub].join(" ")];
  if (printer === undefined || ![...given].every((flag) => printer.flags.test(flag))) return undefined;
  if (printer.needs !== undefined && ![...given].some((flag) => printer.needs?.test(flag))) return undefined;
  // git prints only matching names, but an operand must not lead out of the folder.
  const isTracked = program === "git";
  const named = isTracked ? [] : operands.filter(({ kind }) => kind !== "text");
  const words = operands.map(({ arg }) => textOf(arg) ?? "..");
  if (isTracked ? words.some((word) => /^[/:]|\.\./.test(word)) : !printer.operands && operands.length > 0)
    return undefined;
  const from = around.folders;
  if (from === undefined) return undefined;
  if (named.length === 0) {
    const ended = operands.length > 0 && operands.every(({ arg }) => hasEnding(arg));
    const tracked = isTracked ? { isTracked, ...(ended ? { sparesGit: true as const } : {}) } : {};
    return { folders: from, zeros: false, from, ...tracked };
  }
  const included = found.values.filter(({ flag }) => flag === "--include").map(({ arg }) => arg);
  const spares = included.length > 0 && included.every(hasEnding) ? { sparesGit: true as const } : {};
  const folders = named.map(({ arg }) => (isPlainPath(arg) ? touchesOf(arg, "read", "read", around) : undefined));
  if (folders.some((touches) => touches === undefined)) return undefined;
  return {
    folders: folders.flatMap((touches) => touches?.map(({ lookup }) => lookup.path) ?? []),
    zeros: false,
    from,
    ...spares,
  };
}

/** A path that starts every printed line must be a single word. */
export function isPlainPath(arg: Arg): boolean {
  return /^[\w./@+,:=][\w./@+,:=-]*$/.test(textOf(arg) ?? " ");
}

const revision = /^[A-Za-z0-9][\w./~^@-]*$/;

/**
 * A placeholder for the commit id that a command prints: one word and not a flag. Git prints unknown names unchanged,
 * so the name counts as a possible path. Branch names are excluded, because the repository chooses them.
 */
export function printedRevision([only, ...more]: readonly CommandPart[]): string | undefined {
  const [git, sub, ...words] = only?.words ?? [];
  if (git !== "git" || more.length > 0 || only?.parts.length !== 0) return undefined;
  const names = words.filter((word) => sub !== "rev-parse" || !/^--(short|verify)$/.test(word ?? ""));
  if (!names.every((word) => word !== undefined && revision.test(word) && !word.includes(".."))) return undefined;
  if (sub === "merge-base" && names.length === 2) return "HEAD";
  return sub === "rev-parse" && names.length === 1 ? names[0] : undefined;
}

/** Extensions of sources and texts, without those of settings. */
const endings =
  /^\*\.(ts|tsx|js|jsx|mjs|cjs|py|rb|go|rs|java|kt|c|h|cc|cpp|hpp|cs|php|swift|scala|sh|md|txt|html|css|scss|vue|svelte|sql|ex|hs|lua|pl|dart)$/;

export function hasEnding(arg: Arg | undefined): boolean {
  return endings.test(arg?.kind === "text" || arg?.kind === "pattern" ? arg.value : "");
}
