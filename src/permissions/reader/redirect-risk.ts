import type { CommandPart, Touch } from "../../engine/permission.ts";
import type { Surroundings } from "../judgement.ts";
import { classed } from "../parts.ts";
import { type Arg, textOf } from "../programs/arg.ts";
import { suspects } from "../programs/suspects.ts";
import { touchesOf } from "../programs/touches.ts";

/** Any name in a folder that is only known as a pattern. */
function written({ folders, entered = [] }: Surroundings): readonly Touch[] {
  if (folders !== undefined) return [];
  return entered.map((path) => ({ use: "write", class: "low", lookup: { what: "matches", path }, recursive: true }));
}

/** The effect of a redirection to a file or another stream. */
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
  around: Surroundings,
): CommandPart {
  const [only] = targets;
  const isRead = operator === "<";
  const unknown = (why: string): CommandPart => {
    const use = operator.startsWith("<") && operator !== "<>" ? "read" : "write";
    const touches = suspects(targets, around, use);
    return {
      ...classed(part, "high", "unknown-path", why),
      touches: [...touches, ...(use === "write" ? written(around) : [])],
    };
  };
  // Names from a pattern or from a command's output can be read, one at a time.
  const value = textOf(only) ?? (isRead && only !== undefined && only.kind !== "unknown" ? "" : undefined);
  if (targets.length !== 1 || value === undefined || only === undefined) {
    return unknown("redirects to something that is not known in advance");
  }
  if (/^\/dev\/(tcp|udp)\//.test(value)) return unknown("redirects to the network");
  const stream = descriptor?.value ?? (operator.startsWith("<") ? 0 : 1);
  // Reopened by its name (`/dev/fd/3`), such a stream can be written to even if it was opened for reading.
  const canBeReopened =
    stream > 2 ||
    operator === "<&" ||
    (operator === "<" && stream !== 0) ||
    (operator === ">&" && /^(0|[3-9]|\d\d+)-?$/.test(value));
  if (canBeReopened) return unknown("opens or copies a stream that could be reopened for writing");
  if (/^[<>]&$/.test(operator) && /^(\d+-?|-)$/.test(value)) return { ...part, why: "joins two streams" };
  // Bash expands this word a second time.
  if (operator === ">&" && !/^[\w./+,:@%=-]+$/.test(value))
    return unknown("redirects to a name that is expanded twice");
  if (operator === "<&") return unknown("reads from an unknown stream");
  const touches = touchesOf(only, isRead ? "read" : "write", isRead ? "read" : "low", around);
  if (touches === undefined) return unknown("redirects in a folder that is not known in advance");
  if (touches.length === 0) return { ...part, why: "redirects to a stream that stores nothing" };
  if (isRead) return { ...part, touches };
  return { ...classed(part, "low", "write-redirection", `writes ${value}`), touches };
}

const plainEnd = /^(?:\\?[\w.@%+-]+|(['"])[\w.@%+-]+(?: [\w.@%+-]+)*\1)$/;

/**
 * Why a here-document's end is uncertain, so that the parser may take commands after it for its text; `undefined` if it
 * is certain. `joinsInSubstitution`: set inside a substitution; true if that has several commands.
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
  // `$(cat <<E … find . ; echo -delete)` deletes: bash 5.2 loses the separator after such a document.
  if (joinsInSubstitution === true) return "has a here-document in a substitution, which bash may join to a command";
  if (delimiter === undefined || !plainEnd.test(delimiter.text)) return "has a here-document with an unusual delimiter";
  // Plain sh reads on where bash ends the substitution at the following bracket.
  const isAlone = joinsInSubstitution === undefined || source[closing?.end ?? source.length] === "\n";
  if (!isAlone) return "has a here-document whose delimiter shares its line";
  const lines = body.text.split("\n").map((line) => (operator === "<<-" ? line.replace(/^\t+/, "") : line));
  return lines.includes(delimiter.value) ? "has a here-document that may end earlier" : undefined;
}
