import { type Arg, textOf } from "./arg.ts";
import { type Fit, fitted, matchingSub, type ParsedRow } from "./argv.ts";
import type { CommandRow } from "./command-row.ts";

/** The first text of a call that its row does not accept as harmless, and why. */
export function harmfulText(row: CommandRow, found: Fit): { readonly text: string; readonly why: string } | undefined {
  const { operands, values } = found;
  const flags = `${row.scriptFlags ?? ""} ${row.checkedFlags ?? ""}`.split(" ");
  const scripts = [
    ...operands.filter(({ kind }) => kind === "text"),
    ...values.filter(({ flag, kind }) => kind === "text" && (row.checkedFlags === "*" || flags.includes(flag))),
  ];
  const files = [...operands, ...values].filter(({ kind }) => kind === "read" || kind === "write");
  const attached = row.attached === undefined ? [] : values.filter(({ kind }) => kind === "attached");
  return firstFault(row.script, scripts) ?? firstFault(row.path, files, true) ?? firstFault(row.attached, attached);
}

function firstFault(
  check: CommandRow["script"],
  words: readonly { readonly arg: Arg }[],
  takesPatterns = false,
): { readonly text: string; readonly why: string } | undefined {
  if (check === undefined) return undefined;
  for (const { arg } of words) {
    const isPattern = arg.kind === "pattern" && takesPatterns;
    if (arg.kind !== "text" && !isPattern) {
      if (takesPatterns) continue;
      return { text: "", why: "is not known in advance" };
    }
    const why = check(arg.value);
    if (why !== undefined) return { text: arg.value, why };
  }
  return undefined;
}

/** Completes "uses … ": why a call fits none of its program's rows. */
export function whyNot(rows: readonly ParsedRow[], args: readonly Arg[]): string {
  if (args.some(({ kind }) => kind === "unknown")) return "with words that are not known in advance";
  const known: ParsedRow["flags"][] = [];
  for (const row of rows) {
    const sub = matchingSub(row, args);
    if (sub === undefined) continue;
    known.push(row.flags);
    const found = fitted(row, args.slice(sub.length));
    const fault = found && harmfulText(row.row, found);
    if (fault !== undefined) return `with ${shown(fault.text)}, which ${fault.why}`;
  }
  const flag = args.map(textOf).find((word) => word !== undefined && isUnknownFlag(word, known));
  return flag === undefined ? "in an unknown way" : `with ${shown(flag)}, which is not known to be harmless`;
}

function isUnknownFlag(word: string, known: readonly ReadonlyMap<string, unknown>[]): boolean {
  if (!/^-./.test(word) || word === "--" || /^-\d+$/.test(word)) return false;
  const names = word.startsWith("--") ? [word.split("=")[0] ?? word] : [word, word.slice(0, 2)];
  return !known.some((flags) => names.some((name) => flags.has(name)));
}

/** A word of the command, quoted for a sentence. */
export function shown(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60).toWellFormed()}…` : text);
}
