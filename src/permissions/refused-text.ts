/** Controls but tab and newline, marks of direction, joiners, variants, tags, fillers, and lines that are none. */
const invisible = /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
/** Pictures with their variants and colours, joined to others. */
const pictures =
  /\p{Extended_Pictographic}(?:\u{fe0f}|[\u{1f3fb}-\u{1f3ff}])*(?:\u{200d}\p{Extended_Pictographic}(?:\u{fe0f}|[\u{1f3fb}-\u{1f3ff}])*)*/gu;

/**
 * Why a text must not run, whoever allows it, to complete "it …": it may look like another one, or a shell and a reader
 * may take it in different ways. `undefined` when there is no such reason.
 */
export function refusedText(command: string): string | undefined {
  if (!command.isWellFormed()) return "holds half of a character, so what runs would not be what was shown";
  if (!invisible.test(command)) return undefined;
  const left = invisible.exec(command.replace(pictures, ""))?.[0];
  if (left === undefined) return undefined;
  const code = (left.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return `holds the character U+${code}, which cannot be seen or is read in different ways`;
}

/**
 * Why a text cannot be read as bash reads it. A line that goes on in the next one is read once with it and once without
 * where bash reads a text twice; and what is inside another text was not looked at before.
 */
export function unclearText(command: string, isInner: boolean): string | undefined {
  const isReadTwice = command.includes("\\\n") && /`|<<|\(\(/.test(command.replaceAll("\\\n", ""));
  // Elsewhere than between words it joins two signs to another one.
  if (/(?<![\s\\])\\\n/.test(command)) return "goes on in the next line in the middle of a word";
  if (isReadTwice) return "goes on in the next line where bash reads a text twice";
  return isInner ? refusedText(command) : undefined;
}
