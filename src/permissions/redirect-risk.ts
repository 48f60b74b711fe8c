import type { CommandPart } from "../core/permission.ts";
import { type Arg, textOf } from "./arg.ts";
import type { Folders } from "./folders.ts";
import { classed } from "./parts.ts";
import { touchesOf } from "./touches.ts";

/** What a redirection to a file or another stream does. */
export function judgeRedirect(
  part: CommandPart,
  {
    operator,
    descriptor,
  }: {
    readonly operator: string;
    readonly descriptor?: { readonly type: string; readonly value?: number } | undefined;
  },
  targets: readonly Arg[],
  folders: Folders,
): CommandPart {
  const unknown = (why: string): CommandPart => classed(part, "high", "unknown-path", why);
  const [only] = targets;
  const isRead = operator === "<";
  // Of names that are found by a pattern, or printed by a command, one at a time can be read.
  const value = textOf(only) ?? (isRead && only !== undefined && only.kind !== "unknown" ? "" : undefined);
  if (targets.length !== 1 || value === undefined || only === undefined) {
    return unknown("redirects to something that is not known before it runs");
  }
  if (/^\/dev\/(tcp|udp)\//.test(value)) return unknown("redirects to a network");
  const stream = descriptor?.value ?? (operator.startsWith("<") ? 0 : 1);
  // Opened by its name again, such a stream is written to wherever it was only read from.
  const turnsRound =
    stream > 2 ||
    operator === "<&" ||
    (operator === "<" && stream !== 0) ||
    (operator === ">&" && /^(0|[3-9]|\d\d+)-?$/.test(value));
  if (turnsRound) return unknown("gives a stream for writing a file for reading");
  if (/^[<>]&$/.test(operator) && /^(\d+-?|-)$/.test(value)) return { ...part, why: "joins two streams" };
  // Bash expands such a word a second time.
  if (operator === ">&" && !/^[\w./+,:@%=-]+$/.test(value))
    return unknown("redirects to a name that is expanded twice");
  if (operator === "<&") return unknown("reads from a stream that is not known");
  const touches = touchesOf(only, isRead ? "read" : "write", isRead ? "read" : "low", { folders });
  if (touches === undefined) return unknown("redirects in a folder that is not known before it runs");
  if (touches.length === 0) return { ...part, why: "redirects to a stream that keeps nothing" };
  if (isRead) return { ...part, touches };
  return { ...classed(part, "low", "write-redirection", `writes ${value}`), touches };
}

const plainEnd = /^(?:\\?[\w.@%+-]+|(['"])[\w.@%+-]+(?: [\w.@%+-]+)*\1)$/;

/**
 * Why it is not certain where a document in the command ends: what bash takes for commands behind it, the parser may take
 * for its text. `undefined` when it is. An end that is written in an unusual way is not looked at more closely.
 * `joinsInSubstitution`: it is in a substitution, and whether that has more than one command.
 */
export function unclearDocument(
  {
    operator,
    delimiter,
    body,
    closing,
  }: {
    readonly operator: string;
    readonly delimiter: { readonly text: string; readonly value: string } | undefined;
    readonly body: { readonly text: string };
    readonly closing: { readonly end: number } | undefined;
  },
  source: string,
  joinsInSubstitution: boolean | undefined,
): string | undefined {
  // `$(cat <<E … find . ; echo -delete)` deletes: bash 5.2 loses the separator behind such a document.
  if (joinsInSubstitution === true) return "has a document inside a substitution, which bash may join to a command";
  if (delimiter === undefined || !plainEnd.test(delimiter.text)) return "has a document whose end is written unusually";
  // A plain sh reads on where bash takes the bracket behind it for the end of a substitution.
  const isAlone = joinsInSubstitution === undefined || source[closing?.end ?? source.length] === "\n";
  if (!isAlone) return "has a document whose end shares its line";
  const lines = body.text.split("\n").map((line) => (operator === "<<-" ? line.replace(/^\t+/, "") : line));
  return lines.includes(delimiter.value) ? "has a document that may end earlier" : undefined;
}
