/** Control characters except tab and newline, direction marks, joiners, variation selectors, tags and blanks. */
const invisible = /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u{2800}\u{1d159}\u{16fe4}]/u;
/** They look like spaces, but do not separate words. */
const falseSpace = /(?! )\p{Zs}/u;
/** Quotes and here-documents, where such a space is text. */
const quotedText = /'[^']*'|"[^"]*"|<<[\s\S]*/g;
/** Emoji with variation selectors, skin tones and joiners. */
const pictures =
  /\p{Extended_Pictographic}(?:\u{fe0f}|[\u{1f3fb}-\u{1f3ff}])*(?:\u{200d}\p{Extended_Pictographic}(?:\u{fe0f}|[\u{1f3fb}-\u{1f3ff}])*)*/gu;

/**
 * Completes "it …": why a text must never run, such as characters that hide what it does, or that a shell and a reader
 * see differently. `undefined` if there is no such reason.
 */
export function refusedText(command: string): string | undefined {
  if (!command.isWellFormed()) return "contains half a character (a lone surrogate), so it would not run as shown";
  if (!invisible.test(command) && !falseSpace.test(command)) return undefined;
  const space = falseSpace.exec(command.replace(quotedText, ""))?.[0];
  const left = invisible.exec(command.replace(pictures, ""))?.[0] ?? space;
  if (left === undefined) return undefined;
  const code = (left.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return `contains the character U+${code}, which is invisible or ambiguous`;
}

/**
 * Why a text cannot be read as bash reads it: where bash reads a text twice, a line continuation differs between the
 * two. An inner text also gets the check that the outer one has passed.
 */
export function unclearText(command: string, isInner: boolean): string | undefined {
  const isReadTwice = command.includes("\\\n") && /`|<<|\(\(/.test(command.replaceAll("\\\n", ""));
  // Inside a word it can join two characters to a different operator.
  if (/(?<![\s\\])\\\n/.test(command)) return "has a line continuation inside a word";
  if (isReadTwice) return "has a line continuation where bash reads a text twice";
  return isInner ? refusedText(command) : undefined;
}
