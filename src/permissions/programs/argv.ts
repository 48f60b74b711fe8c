import { type Arg, knownStart, mayBeFlag, text, textOf } from "./arg.ts";
import type { CommandRow } from "./command-row.ts";

type Takes = "nothing" | "text" | "texts" | "read" | "write" | "attached";

export interface Fit {
  readonly operands: readonly { readonly kind: "text" | "read" | "write"; readonly arg: Arg }[];
  readonly values: readonly {
    readonly flag: string;
    readonly kind: "text" | "read" | "write" | "attached";
    readonly arg: Arg;
  }[];
  readonly given: ReadonlySet<string>;
  /** Patterns that may match a name starting with a dash, and so become flags. */
  readonly dashes: readonly Arg[];
}

const suffixes: Readonly<Record<string, Takes>> = { ":": "text", "<": "read", ">": "write", "?": "attached" };

/** A row with its lists parsed. */
export interface ParsedRow {
  readonly row: CommandRow;
  /** The words of each sub-command; `undefined` for a row without. */
  readonly subs: readonly (readonly string[])[] | undefined;
  readonly flags: ReadonlyMap<string, Takes>;
  readonly operands: readonly string[];
  readonly scriptFlags: readonly string[];
}

export function parsedRow(row: CommandRow): ParsedRow {
  return {
    row,
    subs: row.sub?.split("|").map((words) => words.split(" ")),
    flags: flagsOf(row),
    operands: row.operands?.split(" ") ?? [],
    scriptFlags: row.scriptFlags?.split(" ") ?? [],
  };
}

/** The sub-command's words at the start of a call, none for a row without; `undefined` if the call has another one. */
export function matchingSub({ subs }: ParsedRow, args: readonly Arg[]): readonly string[] | undefined {
  if (subs === undefined) return [];
  return subs.find((words) => words.every((word, index) => textOf(args[index]) === word));
}

function flagsOf(row: CommandRow): ReadonlyMap<string, Takes> {
  const flags = new Map<string, Takes>();
  for (const token of row.flags?.match(/\S+/g) ?? []) {
    const takes = token.endsWith("::") ? "texts" : suffixes[token.at(-1) ?? ""];
    const name = takes === undefined ? token : token.replace(/::?$|.$/, "");
    const group = /^-\[(.+)\]$/.exec(name)?.[1];
    for (const flag of group === undefined ? [name] : [...group].map((letter) => `-${letter}`)) {
      flags.set(flag, takes ?? "nothing");
    }
  }
  return flags;
}

/** How a call's words fit a row: every flag known, every operand in its place. `undefined` if they do not fit. */
export function fitted({ row, flags, operands: kinds, scriptFlags }: ParsedRow, args: readonly Arg[]): Fit | undefined {
  const values: Fit["values"][number][] = [];
  const given = new Set<string>();
  const operands: Arg[] = [];
  const dashes: Arg[] = [];
  // An unknown word that is really a flag could name any file.
  const takesTexts = kinds.every((kind) => kind.startsWith("text"));
  let next = 0;
  const take = (flag: string, takes: Takes, attached: Arg | undefined): boolean => {
    given.add(flag);
    if (takes === "nothing") return attached === undefined;
    if (takes === "attached") {
      if (attached !== undefined) values.push({ flag, kind: "attached", arg: attached });
      return true;
    }
    if (takes === "texts") {
      next += 2;
      return attached === undefined && args.slice(next - 2, next).filter((arg) => !isSeveral(arg)).length === 2;
    }
    const arg = attached ?? args[next++];
    if (arg === undefined) return false;
    // Some versions would read it as another flag.
    if (attached === undefined && takes !== "text" && mayBeFlag(arg) && arg.kind !== "unknown") return false;
    // Matches of a pattern in the same word start with the same flag. A separate pattern might expand to files.
    if (isSeveral(arg) && !(takes === "text" && attached?.kind === "pattern")) return false;
    values.push({ flag, kind: takes, arg });
    return true;
  };
  const bundle = (letters: string): boolean => {
    for (let at = 0; at < letters.length; at += 1) {
      const flag = `-${letters[at]}`;
      const takes = flags.get(flag);
      if (takes === undefined) return false;
      if (takes === "nothing") {
        given.add(flag);
        continue;
      }
      const attached = letters.slice(at + 1);
      return take(flag, takes, attached === "" ? undefined : text(attached));
    }
    return true;
  };
  const named = (word: Arg): boolean => {
    const start = knownStart(word);
    const at = start.indexOf("=");
    const flag = at === -1 ? start : start.slice(0, at);
    if (at === -1 && word.kind !== "text") return false;
    const takes = flags.get(flag);
    if (takes === undefined) return false;
    return take(flag, takes, at === -1 ? undefined : behind(word, at + 1));
  };

  while (next < args.length) {
    const word = args[next++] as Arg;
    if (!mayBeFlag(word)) operands.push(word);
    else if (word.kind === "text" && word.value === "--") {
      operands.push(...args.slice(next));
      break;
    } else if (knownStart(word).startsWith("--") || (row.longDash === true && knownStart(word).startsWith("-"))) {
      if (!named(word)) return undefined;
    } else if (word.kind === "text") {
      const isNumber = /^-\d+$/.test(word.value) && flags.has("-#");
      if (!isNumber && !bundle(word.value.slice(1))) return undefined;
    } else if (word.kind === "pattern" && knownStart(word) === "") {
      // A lookup checks whether it matches a name starting with a dash.
      if (row.anyFlag !== true) dashes.push(word);
      operands.push(word);
    } else if (row.anyFlag === true && word.kind === "unknown" && takesTexts) operands.push(word);
    else return undefined;
  }
  // Several folders to fill add up or replace each other, depending on the program.
  if (row.picksNames !== undefined && values.filter(({ kind }) => kind === "write").length > 1) return undefined;
  const hasScript = scriptFlags.some((flag) => given.has(flag));
  const wanted = hasScript && kinds[0] === "text" ? kinds.slice(1) : kinds;
  const placed = place(operands, wanted);
  return placed === undefined ? undefined : { operands: placed, values, given, dashes };
}

/** Assigns operands to their places. At most one place takes any number. */
function place(operands: readonly Arg[], kinds: readonly string[]): Fit["operands"] | undefined {
  const star = kinds.findIndex((kind) => kind.endsWith("*"));
  const needed = kinds.filter((kind) => !/[*?]$/.test(kind)).length;
  if (operands.length < needed || (star === -1 && operands.length > kinds.length)) return undefined;
  let optional = operands.length - needed;
  const expanded = kinds.flatMap((kind, index) => {
    if (kind.endsWith("?")) return optional-- > 0 ? [kind] : [];
    if (index !== star) return [kind];
    const behind = kinds.slice(index + 1).filter((other) => !/[*?]$/.test(other)).length;
    const before = kinds.slice(0, index).length;
    return Array.from({ length: Math.max(0, operands.length - before - behind) }, () => kind);
  });
  if (expanded.length !== operands.length) return undefined;
  // A pattern may expand to any number of words, which must not shift the other operands.
  const isClear = kinds.every((kind) => !kind.endsWith("?"));
  if (operands.some((arg, index) => isSeveral(arg) && !(isClear && expanded[index]?.endsWith("*")))) return undefined;
  return operands.map((arg, index) => ({ kind: plain(expanded[index] ?? "text"), arg }));
}

function plain(kind: string): "text" | "read" | "write" {
  const name = kind.replace(/[*?]$/, "");
  return name === "read" || name === "write" ? name : "text";
}

function isSeveral(arg: Arg): boolean {
  return arg.kind === "input" || (arg.kind !== "text" && arg.single !== true);
}

/** The rest of a word from a position in its known start. */
function behind(word: Arg, from: number): Arg {
  if (word.kind === "unknown") return { ...word, prefix: word.prefix.slice(from) };
  if (word.kind === "input") return word;
  return { ...word, value: word.value.slice(from) };
}
