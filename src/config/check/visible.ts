import { textStart } from "../../text/text-cut.ts";

const mostShown = 80;

/** Others' text as a person may be shown it: in quotes, cut, and with nothing in it that a terminal would act on or hide. */
export function visible(text: string): string {
  return `"${printable(text.length > mostShown ? `${textStart(text, mostShown)}…` : text)}"`;
}

/** On one line, every character to be seen. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}]|(?! )\p{Z}|\p{Default_Ignorable_Code_Point}/gu, (char) => {
    return `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;
  });
}
