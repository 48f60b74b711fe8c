import { textStart } from "../../text/text-cut.ts";

const mostShown = 80;

/** Untrusted text for people: quoted, cut, and without characters that a terminal would interpret or hide. */
export function visible(text: string): string {
  return `"${printable(text.length > mostShown ? `${textStart(text, mostShown)}…` : text)}"`;
}

/** One line of visible characters. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}]|(?! )\p{Z}|\p{Default_Ignorable_Code_Point}/gu, (char) => {
    return `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;
  });
}
