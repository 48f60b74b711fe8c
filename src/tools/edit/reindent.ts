import { withoutTrailing } from "../../text/text-cut.ts";

interface Reindenting {
  /** The model's lines, and the same lines in the file. */
  readonly wanted: string;
  readonly found: string;
  readonly newText: string;
  /** `found` starts with the indentation of its first line, which stays in the file. */
  readonly startsLine: boolean;
  readonly lineEnd: string;
}

const indentOf = (line: string): string => /^[ \t]*/.exec(line)?.[0] ?? "";

/**
 * Replaces the model's indentation in the new text by the file's. `undefined` if one indentation of the model's matches
 * different ones in the file.
 */
export function reindented({ wanted, found, newText, startsLine, lineEnd }: Reindenting): string | undefined {
  const [wantedLines, foundLines] = [wanted.split(/\r?\n/), found.split(/\r?\n/)];
  const indents = new Map<string, string>();
  for (const [index, line] of wantedLines.entries()) {
    if (index === 0 || line.trim() === "") continue;
    const [given, own] = [indentOf(line), indentOf(foundLines[index] ?? "")];
    if ((indents.get(given) ?? own) !== own) return undefined;
    indents.set(given, own);
  }
  const [firstWanted = ""] = wantedLines;
  const firstIndent = indentOf(firstWanted);
  if (startsLine && !indents.has(firstIndent)) indents.set(firstIndent, indentOf(foundLines[0] ?? ""));
  const known = [...indents].sort(([a], [b]) => b.length - a.length);
  const isFirstBare = startsLine || firstIndent !== "";
  const lines = newText.split(/\r?\n/).map((line, index) => {
    const indent = indentOf(line);
    const rest = line.slice(indent.length);
    if (index === 0) return isFirstBare ? rest : line;
    return rest === "" ? line : (indents.get(indent) ?? ownIndent(indent, known)) + rest;
  });
  const text = lines.join(lineEnd);
  return /[ \t]$/.test(wanted) ? withoutTrailing(text, " \t") : text;
}

/** For an indentation that is not among the known ones, longest first. */
function ownIndent(given: string, known: readonly (readonly [string, string])[]): string {
  const outer = known.find(([one]) => given.startsWith(one));
  const unit = known.find(([one, own]) => one !== "" && own !== "") ?? ["", ""];
  if (outer !== undefined) return outer[1] + inUnitsOf(given.slice(outer[0].length), unit);
  const inner = known.findLast(([one]) => one.startsWith(given));
  if (inner === undefined) return given;
  const [one, own] = inner;
  const less = inUnitsOf(one.slice(given.length), unit).length;
  return own.slice(0, Math.max(0, own.length - less));
}

/** Converts between spaces and tabs, if the model's indentation maps to the file's that way. */
function inUnitsOf(indent: string, [given, own]: readonly [string, string]): string {
  const [isSpaces, ownIsTabs] = [/^ +$/.test(indent), /^\t+$/.test(own)];
  if (isSpaces && /^ +$/.test(given) && ownIsTabs)
    return "\t".repeat(Math.max(1, Math.round((indent.length * own.length) / given.length)));
  if (/^\t+$/.test(indent) && /^\t+$/.test(given) && /^ +$/.test(own))
    return " ".repeat(Math.round((indent.length * own.length) / given.length));
  return indent;
}
